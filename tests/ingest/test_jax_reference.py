"""Recordings of JAX and TensorFlow against reference values that were computed apart from this
code."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
RECORDINGS = sorted((TRACES / "jax").rglob("*.xplane.pb"))
EXPECTED = TRACES / "expected" / "independent"
LINKED = {
    "nvidia-8gpu-bert-tf": (1556, 1556, 0),
    "mi300x-gemm-jax0.8": (54, 54, 42),
    "mi300x-conv-jax0.8": (235, 235, 198),
    "gfx950-te-fused-attention": (150, 150, 150),
    "host0": (0, 0, 0),
}
"""GPU operations, those with a launch, those with an HLO operation."""
SOURCES = {
    "mi300x-gemm-jax0.8": "generate_gemm_trace.py:37 run_gemms",
    "mi300x-conv-jax0.8": "generate_conv_trace.py:23 forward_3d_conv",
    "gfx950-te-fused-attention": "12_te_fused_attn.py:92 _build_layer_stack_fn.<locals>.block",
    "host0": "train.py:7 layer",
}

pytestmark = pytest.mark.skipif(not RECORDINGS, reason="DCTX_TRACES names no folder with traces")


class Opened:
    """A store and what is expected of it."""

    def __init__(self, store: Store, path: Path) -> None:
        self.store = store
        self.name = path.name.removesuffix(".xplane.pb")
        expected = EXPECTED / path.relative_to(TRACES).with_name(f"{path.name}.json")
        self.planes: list[dict[str, Any]] = json.loads(expected.read_text())["planes"]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.store.cursor() as cursor:
            return cursor.execute(sql).fetchall()


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda path: path.name.split(".")[0])
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    path: Path = request.param
    store = open_trace(path, cache=False)
    try:
        yield Opened(store, path)
    finally:
        store.close()


def test_every_event_is_used_or_left_out_for_a_reason(opened: Opened) -> None:
    expected = sum(line["events"] for plane in opened.planes for line in plane["lines"])
    facts = dict(opened.rows("SELECT key, value FROM trace"))
    rows = sum(int(n) for key, n in facts.items() if key.startswith("rows."))
    unused = sum(int(n) for key, n in facts.items() if key.startswith("unused."))
    assert rows == expected
    stored = opened.rows(
        "SELECT (SELECT count(*) FROM host_event) + (SELECT count(*) FROM gpu_op) "
        "+ (SELECT count(*) FROM memory_event)"
    )
    assert stored == [(expected - unused,)]


def test_streams_have_the_expected_events_and_time(opened: Opened) -> None:
    found = opened.rows(
        "SELECT d.ordinal, l.stream_id, count(*), sum(o.dur_ns) FROM gpu_op o "
        "JOIN lane l ON l.id = o.lane JOIN device d ON d.id = o.device "
        f"WHERE o.kind <> {GpuKind.SPAN} GROUP BY ALL"
    )
    streams = {(ordinal, stream): (events, ns) for ordinal, stream, events, ns in found}
    expected = {
        (int(plane["name"].rpartition(":")[2]), int(number[1])): (
            line["events"],
            line["sum_duration_ps"],
        )
        for plane in opened.planes
        if plane["name"].startswith("/device:GPU")
        for line in plane["lines"]
        if (number := re.match(r"Stream #(\d+)", line["name"]))
    }
    assert streams.keys() == expected.keys()
    for stream, (events, ns) in streams.items():
        assert events == expected[stream][0]
        # Start and end are rounded to ns each: at most 1 ns an event.
        assert abs(ns * 1_000 - expected[stream][1]) <= events * 1_000


def test_busy_time_of_each_gpu(opened: Opened) -> None:
    found = opened.rows(
        "SELECT d.ordinal, o.start_ns, o.start_ns + o.dur_ns FROM gpu_op o "
        f"JOIN device d ON d.id = o.device WHERE o.kind <> {GpuKind.SPAN} ORDER BY 1, 2"
    )
    busy: Counter[int] = Counter()
    events: Counter[int] = Counter()
    reached: dict[int, int] = {}
    for ordinal, start, end in found:
        busy[ordinal] += max(0, end - max(start, reached.get(ordinal, start)))
        reached[ordinal] = max(end, reached.get(ordinal, end))
        events[ordinal] += 1
    for plane in opened.planes:
        if "streams_busy_ps" in plane:
            ordinal = int(plane["name"].rpartition(":")[2])
            difference = abs(busy[ordinal] * 1_000 - plane["streams_busy_ps"])
            assert difference <= events[ordinal] * 1_000


def test_threads_sum_to_their_busy_time(opened: Opened) -> None:
    """Self times of a lane sum to the union of its events."""
    found = Counter[str]()
    for name, ns in opened.rows(
        "SELECT l.name, sum(h.self_ns) FROM host_event h JOIN lane l ON l.id = h.lane GROUP BY ALL"
    ):
        found[name] += ns or 0
    expected, events = Counter[str](), Counter[str]()
    for plane in opened.planes:
        lines: list[dict[str, Any]] = plane["lines"]
        for line in lines if not plane["name"].startswith("/device") else lines[:0]:
            name = str(line["name"]).replace("Host Threads/", "thread ")
            if not name.startswith("thread "):
                name = re.sub(r"/-?\d+$", "", name)
            expected[name] += line["busy_ps"]
            events[name] += line["events"]
    for name, ps in expected.items():
        # Twins that mark an end may stick out of their thunk by up to 1 us.
        slack = 1_000_000 if name.startswith("tf_XLA") else 1_000
        assert abs(found[name] * 1_000 - ps) <= events[name] * slack, name


def test_work_is_linked_to_calls_and_operations(opened: Opened) -> None:
    counts = opened.rows(
        "SELECT count(*), count(launch), count(json_extract_string(s.text, '$.hlo')) "
        "FROM gpu_op o LEFT JOIN op_args a ON a.id = o.args LEFT JOIN string s ON s.id = a.other "
        f"WHERE o.kind <> {GpuKind.SPAN}"
    )
    assert counts == [LINKED[opened.name]]


def test_operations_name_their_source(opened: Opened) -> None:
    if opened.name not in SOURCES:
        pytest.skip("recorded without HLO modules")
    found = opened.rows(
        "SELECT DISTINCT json_extract_string(s.text, '$.source') "
        "FROM op_args a JOIN string s ON s.id = a.other"
    )
    assert any(source and source.endswith(SOURCES[opened.name]) for (source,) in found)


def test_sums_of_the_tree_are_the_sums_of_the_events(opened: Opened) -> None:
    gpu = "SELECT coalesce(sum(dur_ns), 0) FROM gpu_op WHERE kind < 4"
    assert opened.rows("SELECT coalesce(sum(gpu_ns), 0) FROM path_metric") == opened.rows(gpu)
    host = "SELECT coalesce(sum(self_ns), 0) FROM host_event"
    assert opened.rows("SELECT coalesce(sum(host_ns), 0) FROM path_metric") == opened.rows(host)
    top = "SELECT coalesce(sum(gpu_ns), 0), max(host_ns) FROM path_total WHERE node = 0"
    assert opened.rows(top) == [(opened.rows(gpu)[0][0], opened.rows(host)[0][0])]
