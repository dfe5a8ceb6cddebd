"""NVTX: which rows are ranges, marks or definitions, and what they are called."""

from pathlib import Path
from typing import Any

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.ingest.registry import open_trace

NVTX = "NVTX_EVENTS"
TID = global_tid(1, 1)
EVENTS = """SELECT k.name, s.text, h.start_ns, h.dur_ns, h.open, h.parent, d.text
            FROM host_event h JOIN string s ON s.id = h.name
            JOIN host_kind_name k ON k.code = h.kind
            LEFT JOIN string d ON d.id = h.domain ORDER BY h.id"""
FACTS = "SELECT key, value FROM trace"


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def nvtx(export: ExportWriter, start: int, end: int | None, event_type: int, **values: Any) -> None:
    row: dict[str, Any] = {"globalTid": TID, "domainId": 0}
    export.add(NVTX, start=start, end=end, eventType=event_type, **{**row, **values})


def test_inline_and_registered_texts_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, 10, 59, text="inline")
        nvtx(export, 20, 30, 59, textId="registered")
        nvtx(export, 40, 50, 59)
    (events,) = ask(path, EVENTS)
    assert [event[1] for event in events] == ["inline", "registered", "[no text]"]


def test_ranges_nest_and_self_time_is_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, 100, 59, text="outer")
        nvtx(export, 10, 60, 70, text="from a file")
        nvtx(export, 70, 80, 59, text="second")
    (events,) = ask(path, "SELECT id, parent, depth, self_ns FROM host_event ORDER BY id")
    assert events == [(0, None, 0, 40), (1, 0, 1, 50), (2, 0, 1, 10)]


def test_a_range_without_an_end_is_open_until_the_end_of_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 10, None, 59, text="never popped")
        nvtx(export, 20, 90, 59, text="inside")
        nvtx(export, 30, None, 60, text="never ended", rangeId=4)
    events, facts, durations = ask(
        path,
        EVENTS,
        FACTS,
        """SELECT s.text, m.calls, m.host_dur_sum_ns, m.host_dur_min_ns FROM path_metric m
           JOIN path_node n ON n.id = m.node JOIN frame f ON f.id = n.frame
           JOIN string s ON s.id = f.name ORDER BY n.id""",
    )
    assert events == [
        ("annotation", "never popped", 10, 80, True, None, None),
        ("annotation", "inside", 20, 70, False, 0, None),
        ("range", "never ended", 30, 60, True, None, None),
    ]
    assert dict(facts)[f"open_range.{NVTX}"] == "2"
    assert durations == [("never popped", 1, 0, None), ("inside", 1, 70, 70)]


def test_start_end_ranges_stay_out_of_the_stack(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    other = global_tid(1, 2)
    with ExportWriter(path) as export:
        nvtx(export, 0, 100, 59, text="pushed")
        nvtx(export, 10, 200, 60, text="crosses", rangeId=1, endGlobalTid=other)
        nvtx(export, 5, 15, 71, text="same", rangeId=2)
    events, lanes, nodes = ask(
        path,
        EVENTS,
        """SELECT DISTINCT l.kind, l.process, l.name FROM host_event h
           JOIN lane l ON l.id = h.lane WHERE h.kind = 5""",
        "SELECT count(*) FROM host_event WHERE kind = 5 AND node IS NOT NULL",
    )
    assert [event[:4] for event in events] == [
        ("annotation", "pushed", 0, 100),
        ("range", "same", 5, 10),
        ("range", "crosses", 10, 190),
    ]
    assert lanes == [(3, 0, "start-end ranges")]
    assert nodes == [(0,)]


def test_marks_are_instants(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, 100, 59, text="range")
        nvtx(export, 10, None, 34, text="mark")
        nvtx(export, 20, None, 65, text="another")
    (events,) = ask(path, EVENTS)
    assert events == [
        ("annotation", "range", 0, 100, False, None, None),
        ("mark", "mark", 10, 0, False, None, None),
        ("mark", "another", 20, 0, False, None, None),
    ]


def test_domains_are_named_per_process(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    elsewhere = global_tid(2, 2)
    with ExportWriter(path) as export:
        nvtx(export, 0, None, 75, text="NCCL", domainId=1)
        nvtx(export, 0, None, 75, text="MPI", domainId=1, globalTid=elsewhere)
        nvtx(export, 10, 20, 59, text="send", domainId=1)
        nvtx(export, 30, 40, 59, text="send", domainId=1, globalTid=elsewhere)
        nvtx(export, 50, 60, 59, text="send", domainId=9)
        nvtx(export, 70, 80, 59, text="send")
        nvtx(export, 90, None, 76, domainId=1)
    events, frames, facts = ask(
        path,
        EVENTS + ", h.start_ns",
        """SELECT count(*) FROM frame f JOIN string s ON s.id = f.name
           WHERE s.text = 'send'""",
        FACTS,
    )
    assert sorted((event[2], event[6]) for event in events) == [
        (10, "NCCL"),
        (30, "MPI"),
        (50, "domain 9 (name not recorded)"),
        (70, None),
    ]
    assert frames == [(4,)]
    assert dict(facts)[f"unused.{NVTX}.domain_destroyed"] == "1"


def test_thread_names_and_ranks_come_from_annotations_too(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, None, 39, text="MPI Rank 3")
        nvtx(export, 10, 20, 59, text="work")
    lanes, processes = ask(path, "SELECT name, tid FROM lane", "SELECT pid, rank FROM process")
    assert lanes == [("MPI Rank 3 (main thread 1)", 1)]
    assert processes == [(1, 3)]


def test_definitions_and_halves_are_counted_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, None, 33, text="a category", category=1)
        nvtx(export, 0, None, 98, text="a context")
        nvtx(export, 5, None, 35, text="half pushed")
        nvtx(export, 9, None, 36)
        nvtx(export, 9, 10, 59, text="range")
        nvtx(export, 9, None, 77)
    events, facts = ask(path, EVENTS, FACTS)
    assert [event[1] for event in events] == ["half pushed", "range"]
    known = dict(facts)
    reasons = {k: v for k, v in known.items() if k.startswith(f"unused.{NVTX}.")}
    assert reasons == {
        f"unused.{NVTX}.category_name": "1",
        f"unused.{NVTX}.cuda_object_name": "1",
        f"unused.{NVTX}.range_half": "1",
        f"unused.{NVTX}.type_77": "1",
    }
    assert known[f"used.{NVTX}"] == "2"


def test_payloads_are_kept_by_event(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 30, 40, 59, text="plain")
        nvtx(export, 10, 20, 59, text="inline", jsonText='{"size": 8}')
        nvtx(export, 50, 60, 59, text="registered", jsonTextId='{"size": 16}')
        nvtx(export, 55, None, 34, text="mark", jsonText='{"size": 8}')
    (payloads,) = ask(
        path,
        """SELECT n.text, j.text FROM event_payload p JOIN host_event h ON h.id = p.event
           JOIN string n ON n.id = h.name JOIN string j ON j.id = p.json ORDER BY p.event""",
    )
    assert payloads == [
        ("inline", '{"size": 8}'),
        ("registered", '{"size": 16}'),
        ("mark", '{"size": 8}'),
    ]


def test_waiting_for_the_interpreter_lock_is_no_caller(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, 100, 59, text="step")
        nvtx(export, 10, 90, 59, text="Waiting for GIL")
        nvtx(export, 20, 30, 59, text="inside")
    events, lanes = ask(
        path,
        EVENTS,
        "SELECT l.kind FROM host_event h JOIN lane l ON l.id = h.lane WHERE h.kind = 5",
    )
    assert [(event[0], event[1], event[5]) for event in events] == [
        ("annotation", "step", None),
        ("annotation", "inside", 0),
        ("range", "Waiting for GIL", None),
    ]
    assert lanes == [(0,)]


def test_a_call_that_outlives_its_range_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nvtx(export, 0, 100, 59, text="outer")
        nvtx(export, 10, 50, 59, text="inner")
        export.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=40,
            end=60,
            globalTid=TID,
            nameId="cudaMalloc_v3020",
            correlationId=1,
        )
    parents, notes = ask(path, "SELECT parent FROM host_event ORDER BY id", "SELECT text FROM note")
    assert parents == [(None,), (0,), (0,)]
    assert ("1 host events outlive the range they began in.",) in notes
