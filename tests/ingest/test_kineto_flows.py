"""Arrows between events of threads: which are kept, what makes one arrow, where its ends lie."""

import json
from pathlib import Path
from typing import Any

from dctx.ingest.registry import open_trace
from tests.kineto_files import AUTOGRAD, MAIN, Opened, backward, call, flow, forward, kernel, opened

POINTS = """SELECT f.flow, p.name, f.time_ns, l.tid, c.text, n.text, s.text
    FROM flow f JOIN flow_phase_name p ON p.code = f.phase JOIN lane l ON l.id = f.lane
    JOIN string n ON n.id = f.name LEFT JOIN string c ON c.id = f.category
    LEFT JOIN host_event h ON h.id = f.event LEFT JOIN string s ON s.id = h.name ORDER BY f.rowid"""


def generic(path: Path, events: list[dict[str, Any]]) -> Opened:
    """A trace of another program."""
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return Opened(open_trace(path, cache=False))


def slice_(name: str, ts: float, dur: float, tid: int) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": "work", "pid": 1, "tid": tid, "ts": ts, "dur": dur}


def point(phase: str, ts: float, tid: int, number: object, cat: str = "net") -> dict[str, Any]:
    named = {"ph": phase, "name": "request", "cat": cat, "id": number, "pid": 1, "tid": tid}
    return {**named, "ts": ts}


def test_flows_of_another_program_are_kept_with_the_events_around_their_points(
    tmp_path: Path,
) -> None:
    trace = generic(
        tmp_path / "t.json",
        [
            slice_("client", 0, 10, 1),
            slice_("send", 2, 3, 1),
            slice_("serve", 20, 10, 2),
            point("f", 40, 3, "0x7"),
            point("t", 25, 2, "0x7"),
            point("s", 3, 1, "0x7"),
        ],
    )
    assert trace.rows(POINTS) == [
        (0, "start", 3000, 1, "net", "request", "send"),
        (0, "step", 25_000, 2, "net", "request", "serve"),
        (0, "end", 40_000, 3, "net", "request", None),
    ]
    facts = trace.facts()
    assert (facts["rows.events"], facts["used.events"]) == ("6", "6")


def test_what_makes_one_flow(tmp_path: Path) -> None:
    trace = generic(
        tmp_path / "t.json",
        [
            slice_("a", 0, 100, 1),
            point("s", 1, 1, 5),
            point("f", 1, 2, 5),
            point("s", 10, 1, 5),  # the id again: another flow
            point("f", 12, 2, 5),
            point("s", 1, 1, 5, "other category"),
            point("f", 30, 2, "text id"),  # its start was not recorded
        ],
    )
    groups = "SELECT flow, list(phase ORDER BY rowid), list(time_ns ORDER BY rowid) FROM flow"
    assert trace.rows(f"{groups} GROUP BY flow ORDER BY flow") == [
        (0, [0, 2], [1000, 1000]),
        (1, [0, 2], [10_000, 12_000]),
        (2, [0], [1000]),
        (3, [2], [30_000]),
    ]


def test_forward_backward_flows_are_kept_and_launch_flows_counted(tmp_path: Path) -> None:
    launch = {"cat": "ac2g", "name": "ac2g", "id": 1, "pid": 100}
    trace = opened(
        tmp_path / "t.json",
        [
            forward("aten::mm", 0, 10, 3),
            backward("MmBackward0", 50, 10, 3),
            flow("s", 0, 9, MAIN),
            flow("f", 50, 9, AUTOGRAD),
            call("cudaLaunchKernel", 2, 1, 1),
            kernel("k", 5, 2, 1),
            {"ph": "s", "tid": MAIN, "ts": 2, **launch},
            {"ph": "f", "tid": 7, "ts": 5, "bp": "e", **launch},
        ],
    )
    assert trace.rows(POINTS) == [
        (0, "start", 0, MAIN, "fwdbwd", "fwdbwd", "aten::mm"),
        (0, "end", 50_000, AUTOGRAD, "fwdbwd", "fwdbwd", "MmBackward0"),
    ]
    assert trace.facts()["unused.events.flow_ac2g"] == "2"


def test_flows_of_several_files_stay_apart(tmp_path: Path) -> None:
    for rank in (0, 1):
        events = [slice_("a", 0, 9, 1), point("s", 1, 1, 5), point("f", 2, 1, 5)]
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    trace = Opened(open_trace(tmp_path, cache=False))
    assert trace.rows("SELECT flow, count(*), count(DISTINCT lane) FROM flow GROUP BY 1") == [
        (0, 2, 1),
        (1, 2, 1),
    ]
