"""Times: relative or absolute, missing, negative, backwards."""

from pathlib import Path
from typing import Any

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
SESSION = "TARGET_INFO_SESSION_START_TIME"
FACTS = "SELECT key, value FROM trace"
KERNELS = "SELECT start_ns, dur_ns FROM gpu_op ORDER BY id"
CALLS = "SELECT start_ns, dur_ns, open FROM host_event ORDER BY id"
UTC = 1_700_000_000_000_000_000


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def kernel(export: ExportWriter, start: int | None, end: int | None) -> None:
    export.add(
        KERNEL,
        start=start,
        end=end,
        deviceId=0,
        contextId=1,
        streamId=7,
        shortName="gemm",
        globalPid=global_pid(1),
    )


def call(export: ExportWriter, start: int | None, end: int | None) -> None:
    export.add(RUNTIME, start=start, end=end, globalTid=global_tid(1, 1), nameId="cudaMalloc_v3020")


def nullable(export: ExportWriter) -> None:
    """Tables as above whose times may be NULL."""
    export.create(
        KERNEL,
        "start:int end:int deviceId:int contextId:int streamId:int shortName:str globalPid:int",
    )
    export.create(RUNTIME, "start:int end:int globalTid:int nameId:str correlationId:int")


def test_times_count_from_the_start_of_the_session(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(SESSION, utcEpochNs=UTC)
        kernel(export, 100, 150)
    kernels, facts = ask(path, KERNELS, FACTS)
    assert kernels == [(100, 50)]
    assert dict(facts)["start_utc_ns"] == str(UTC)
    assert dict(facts)["span_ns"] == "150"


def test_a_normalised_export_gives_the_same_times(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(SESSION, utcEpochNs=UTC)
        kernel(export, UTC + 100, UTC + 150)
        call(export, UTC + 10, UTC + 20)
    kernels, calls, facts = ask(path, KERNELS, CALLS, FACTS)
    assert kernels == [(100, 50)]
    assert calls == [(10, 10, False)]
    assert dict(facts)["start_utc_ns"] == str(UTC)
    assert dict(facts)["span_ns"] == "150"


def test_a_normalised_export_without_a_session_starts_with_its_first_event(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, UTC + 100, UTC + 150)
        call(export, UTC + 10, UTC + 20)
    kernels, calls, facts = ask(path, KERNELS, CALLS, FACTS)
    assert kernels == [(90, 50)]
    assert calls == [(0, 10, False)]
    assert dict(facts)["start_utc_ns"] == str(UTC + 10)


def test_an_unknown_session_start_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, 100, 150)
    (facts,) = ask(path, FACTS)
    assert "start_utc_ns" not in dict(facts)


def test_backward_and_negative_times_are_clamped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, -50, -20)
        kernel(export, 100, 90)
        kernel(export, 200, 250)
        call(export, -5, 10)
    kernels, calls, facts, notes = ask(path, KERNELS, CALLS, FACTS, "SELECT text FROM note")
    assert kernels == [(0, 0), (100, 0), (200, 50)]
    assert calls == [(0, 10, False)]
    known = dict(facts)
    assert known[f"bad_time.{KERNEL}"] == "2"
    assert known[f"bad_time.{RUNTIME}"] == "1"
    assert known[f"used.{KERNEL}"] == "3"
    assert any("2 rows end before they start" in text for (text,) in notes)


def test_rows_without_a_start_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nullable(export)
        kernel(export, None, 150)
        kernel(export, 200, 250)
        call(export, None, None)
    kernels, calls, facts = ask(path, KERNELS, CALLS, FACTS)
    assert kernels == [(200, 50)]
    assert calls == []
    assert dict(facts)[f"unused.{KERNEL}.no_time"] == "1"
    assert dict(facts)[f"unused.{RUNTIME}.no_time"] == "1"


def test_a_call_that_never_returned_is_open_and_a_kernel_without_end_has_no_time(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nullable(export)
        kernel(export, 200, None)
        kernel(export, 300, 350)
        call(export, 100, None)
        call(export, 120, 130)
    kernels, calls, facts = ask(path, KERNELS, CALLS, FACTS)
    assert kernels == [(200, 0), (300, 50)]
    assert calls == [(100, 250, True), (120, 10, False)]
    assert dict(facts)[f"bad_time.{KERNEL}"] == "1"


def test_rows_in_any_order_are_stored_by_start(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for start in (500, 100, 300):
            kernel(export, start, start + start)
            call(export, start, start + 10)
    kernels, calls = ask(path, KERNELS, CALLS)
    assert kernels == [(100, 100), (300, 300), (500, 500)]
    assert [start for start, _, _ in calls] == [100, 300, 500]
