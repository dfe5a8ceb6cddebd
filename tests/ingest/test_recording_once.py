"""What a program did once, of trees made by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dctx.analyzers.recording_job import RecordedFile, recorded_job
from dctx.ingest.recording.chunks import Header
from dctx.ingest.recording.content import METRICS, Recording, ThreadTree
from dctx.ingest.recording.kinds import Kind
from dctx.ingest.recording.once import once_time
from dctx.reports.recording import job_json, job_text

MS = 1_000_000
# Parent, kind, label (code or string), calls, sum, self, max, gap.
ROWS = [
    (-1, Kind.THREAD, 0, 0, 0, 0, 0, 0),
    (0, Kind.PYTHON, 0, 0, 0, 0, 2000 * MS, 2300 * MS),  # main: one import, and the loop
    (1, Kind.OP, 4, 10, 500 * MS, 500 * MS, 410 * MS, 0),  # its first call is most of it
    (1, Kind.OP, 5, 10, 100 * MS, 100 * MS, 12 * MS, 0),
    (1, Kind.OP, 6, 1, 90 * MS, 20 * MS, 90 * MS, 0),  # with another one inside
    (4, Kind.OP, 5, 1, 70 * MS, 70 * MS, 70 * MS, 0),
    (0, Kind.PYTHON, 1, 0, 0, 0, 0, 3 * MS),  # below importlib: all of it
    (6, Kind.OP, 5, 4, 40 * MS, 40 * MS, 10 * MS, 0),
    (0, Kind.SCOPE, 7, 1, 60 * MS, 60 * MS, 60 * MS, 0),  # the program may be one scope
]
OWN = [0, 2300, 500, 100, 20, 70, 3, 40, 60]
ONCE = [0, 2000, 410, 0, 0, 70, 3, 40, 0]
STRINGS = [
    "main",
    "train.py",
    "_find_and_load",
    "<frozen importlib._bootstrap>",
    "mm",
    "add",
    "big",
    "s",
]


def made(rows: Sequence[tuple[int, ...]]) -> tuple[Recording, ThreadTree]:
    table = np.array(rows, np.int64)
    metrics = {name: np.zeros(len(rows), np.int64) for name in METRICS if name}
    for column, name in enumerate(("count", "sum_ns", "self_ns", "max_ns", "host_gap_ns"), 3):
        metrics[name] = table[:, column]
    thread = ThreadTree(
        0, parent=table[:, 0], kind=table[:, 1], label=table[:, 2],
        line=np.full(len(rows), 9), metrics=metrics, sum_sq=np.zeros(len(rows)),
    )  # fmt: skip
    recording = Recording(
        Header(1, 1, 0, 0), "", strings=STRINGS, codes=np.array([[1, 0, 1], [3, 2, 1]]),
        threads={0: thread},
    )  # fmt: skip
    return recording, thread


def test_imports_and_first_calls_are_what_ran_once() -> None:
    own, once = once_time(*made(ROWS))
    assert (own // MS).tolist() == OWN
    assert (once // MS).tolist() == ONCE


def job(rows: Sequence[tuple[int, ...]]) -> tuple[str, dict[str, object]]:
    recording, _ = made(rows)
    recording.commit.update(
        dict.fromkeys(("steps", "events", "nodes", "recorder_cpu_ns", "monotonic_ns", "last"), 1)
    )
    found = recorded_job([RecordedFile(Path("run.dctxrec"), 1, recording)])
    return job_text(found), json.loads(job_json(found, 0))


def test_the_summary_tells_it_apart_from_the_hottest() -> None:
    text, value = job(ROWS)
    told = "2.52 s, 81.6 % of the own time, ran once (imports, set-up, first calls): most in main"
    assert told in text
    assert "hottest: main (train.py:9), 52.6 % of the rest\n" in text
    assert value["once"] == value["hottest"] == ["main (train.py:9)"]
    assert value["hottest_share"] == 300 / (3093 - 2523)
    # A program of which everything ran once is just that.
    text, value = job([ROWS[0], (0, Kind.OP, 6, 1, 90 * MS, 90 * MS, 90 * MS, 0)])
    assert "hottest: big, 100.0 % of the own time" in text
    assert (value["once"], value["once_share"]) == ([], 0)
