"""Times: relative or absolute, missing, negative, backwards."""

from pathlib import Path
from typing import Any

import pytest

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
    store = open_trace(path, cache=False)
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


EXTREMES = (0, -1, 2**53, 2**53 + 1, 2**61, 2**62, 2**63 - 1, -(2**63), UTC, None)


def loose(export: ExportWriter, table: str, columns: str) -> None:
    export.create(table, " ".join(f"{name}:int" for name in columns.split()))


def extreme_export(path: Path, base: int = 0) -> None:
    """Ordinary rows, then every pair of extreme times, in every table with times."""
    with ExportWriter(path) as export:
        loose(
            export,
            KERNEL,
            "start end deviceId contextId streamId shortName globalPid correlationId",
        )
        loose(export, "CUPTI_ACTIVITY_KIND_MEMCPY", "start end deviceId bytes copyKind globalPid")
        loose(export, "CUPTI_ACTIVITY_KIND_MEMSET", "start end deviceId bytes globalPid")
        loose(
            export,
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            "start end deviceId correlationId graphId globalPid",
        )
        loose(
            export, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start end deviceId syncType globalPid"
        )
        loose(export, RUNTIME, "start end globalTid nameId correlationId")
        loose(export, "NVTX_EVENTS", "start end eventType globalTid textId")
        loose(export, "OSRT_API", "start end globalTid nameId")
        loose(export, "CUPTI_ACTIVITY_KIND_OVERHEAD", "start end globalTid nameId")
        loose(export, "MPI_P2P_EVENTS", "start end globalTid textId")
        loose(export, "COMPOSITE_EVENTS", "id start globalTid cpu cpuCycles")
        loose(export, "SCHED_EVENTS", "start cpu isSchedIn globalTid")
        loose(export, "GPU_METRICS", "timestamp metricId typeId value")
        loose(
            export,
            "CUDA_GPU_MEMORY_USAGE_EVENTS",
            "start bytes memoryOperationType deviceId globalPid",
        )
        pairs = [(base + 1000 * i, base + 1000 * i + 500) for i in range(100)]
        extremes = [(start, end) for start in EXTREMES for end in (*EXTREMES, base + 700)]
        for i, (start, end) in enumerate([*pairs, *extremes]):
            span: dict[str, Any] = {"start": start, "end": end}
            gpu: dict[str, Any] = {**span, "deviceId": 0, "globalPid": global_pid(1)}
            host: dict[str, Any] = {**span, "globalTid": global_tid(1, 1)}
            export.add(KERNEL, **gpu, contextId=1, streamId=7, shortName=0, correlationId=i)
            copied = {"bytes": start, **gpu}
            export.add("CUPTI_ACTIVITY_KIND_MEMCPY", **copied, copyKind=1)
            export.add("CUPTI_ACTIVITY_KIND_MEMSET", **copied)
            export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **gpu, correlationId=i, graphId=1)
            export.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", **gpu, syncType=1)
            export.add(RUNTIME, **host, nameId=0, correlationId=i)
            for event_type in (59, 60, 34):
                export.add("NVTX_EVENTS", **host, eventType=event_type, textId=0)
            export.add("OSRT_API", **host, nameId=0)
            export.add("CUPTI_ACTIVITY_KIND_OVERHEAD", **host, nameId=0)
            export.add("MPI_P2P_EVENTS", **host, textId=0)
            thread = global_tid(1, 1)
            export.add("COMPOSITE_EVENTS", id=i, start=start, globalTid=thread, cpuCycles=end)
            export.add("SCHED_EVENTS", start=start, cpu=0, isSchedIn=i % 2, globalTid=thread)
            export.add("GPU_METRICS", timestamp=start, metricId=1, typeId=1, value=end)
            export.add(
                "CUDA_GPU_MEMORY_USAGE_EVENTS",
                start=start,
                bytes=end,
                memoryOperationType=i % 2,
                deviceId=0,
                globalPid=global_pid(1),
            )


@pytest.mark.parametrize("base", [0, UTC], ids=["relative", "utc"])
def test_no_time_is_too_extreme_for_any_table(tmp_path: Path, base: int) -> None:
    path = tmp_path / "t.sqlite"
    extreme_export(path, base)
    facts, gpu, host, tree, sums, ordinary, sizes = ask(
        path,
        FACTS,
        "SELECT min(start_ns), max(start_ns + dur_ns), min(dur_ns) FROM gpu_op",
        "SELECT min(start_ns), max(start_ns + dur_ns), min(dur_ns), min(self_ns) FROM host_event",
        "SELECT sum(gpu_ns) FROM path_metric",
        "SELECT sum(dur_ns) FROM gpu_op WHERE node IS NOT NULL",
        "SELECT count(*) FROM gpu_op WHERE start_ns % 1000 = 0 AND dur_ns = 500",
        "SELECT min(bytes), max(bytes), min(n), max(n) FROM gpu_op, "
        "(SELECT sum(bytes) n FROM path_metric GROUP BY node)",
    )
    known = dict(facts)
    for key, value in known.items():
        if key.startswith("rows."):
            table = key.removeprefix("rows.")
            unused = sum(int(n) for k, n in known.items() if k.startswith(f"unused.{table}."))
            assert int(value) == int(known[f"used.{table}"]) + unused
            if table not in ("StringIds",):
                assert int(known[f"bad_time.{table}"]) > 0, table
    for lowest, highest, *shortest in (*gpu, *host):
        assert lowest == 0
        assert highest <= 2**53
        assert all(value >= 0 for value in shortest)
    assert tree == sums
    assert all(0 <= size < 2**60 for size in sizes[0])
    assert ordinary[0][0] >= 500
    assert 0 < int(known["span_ns"]) <= 2**53


def test_one_impossible_end_does_not_stretch_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, 100, 150)
        kernel(export, 120, 2**63 - 1)
        kernel(export, 2**62, 2**62 + 5)
    kernels, facts = ask(path, KERNELS, FACTS)
    assert kernels == [(0, 0), (100, 50), (120, 0)]
    assert dict(facts)["span_ns"] == "150"
    assert dict(facts)[f"bad_time.{KERNEL}"] == "2"


def test_durations_whose_sum_is_no_64_bit_number(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    rows = 3000  # of 2**52 each: beyond 2**63
    with ExportWriter(path) as export:
        for index in range(rows):
            kernel(export, index, 2**52)
            call(export, index, 2**52)
        kernel(export, 10, 20)
    kernels, tree, facts = ask(
        path,
        "SELECT sum(dur_ns), count(*) FROM gpu_op",
        "SELECT sum(gpu_ns), min(gpu_ns) FROM path_metric",
        FACTS,
    )
    assert kernels[0][1] == rows + 1
    assert tree == [(10, 10)] == [(kernels[0][0], kernels[0][0])]
    assert dict(facts)[f"bad_time.{KERNEL}"] == str(rows)
