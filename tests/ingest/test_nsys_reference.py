"""Recorded exports against reference values that were computed apart from this code."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
EXPORTS = sorted((TRACES / "nsys").glob("*.sqlite"))
EXPECTED = TRACES / "expected" / "independent" / "nsys"
COPY_KINDS = {1: "memcpy HtoD", 2: "memcpy DtoH", 8: "memcpy DtoD"}
ORPHANS = {
    "a100-saxpy-mpi-2022": (5, 0),
    "h100-2gpu-mfu-after": (3587, 10),
    "h100-2gpu-mfu-before": (4010, 24),
}

pytestmark = pytest.mark.skipif(not EXPORTS, reason="DCTX_TRACES names no folder with traces")


class Opened:
    """A store and what is expected of it."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.expected: dict[str, Any] = json.loads((EXPECTED / f"{name}.sqlite.json").read_text())

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self.store.cursor() as cursor:
            return cursor.execute(sql, list(parameters)).fetchall()

    def row(self, sql: str, *parameters: object) -> tuple[Any, ...]:
        return self.rows(sql, *parameters)[0]

    def facts(self) -> dict[str, str]:
        return dict(self.rows("SELECT key, value FROM trace"))


@pytest.fixture(scope="module", params=EXPORTS, ids=lambda path: path.stem)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    path: Path = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        store = open_trace(path)
        yield Opened(store, path.stem)
        store.close()


def test_every_row_is_used_or_left_out_for_a_reason(opened: Opened) -> None:
    facts = opened.facts()
    rows = {k.removeprefix("rows."): int(v) for k, v in facts.items() if k.startswith("rows.")}
    expected = opened.expected["rows"]
    assert {table: rows[table] for table in expected} == expected
    assert sum(table.startswith("ENUM_") for table in rows) == opened.expected["enum_tables"]
    for table, count in rows.items():
        unused = sum(int(v) for k, v in facts.items() if k.startswith(f"unused.{table}."))
        assert int(facts[f"used.{table}"]) + unused == count, table
        assert int(facts[f"used.{table}"]) >= 0, table


def test_versions_are_those_of_the_file(opened: Opened) -> None:
    facts = opened.facts()
    export = opened.expected.get("export", {})
    assert facts.get("producer_version") == export.get("EXPORT_PRODUCT_VERSION")
    assert facts.get("schema_version") == export.get("EXPORT_SCHEMA_VERSION")


def test_kernels(opened: Opened) -> None:
    expected = opened.expected.get("kernels")
    found = opened.row("SELECT count(*), sum(dur_ns) FROM gpu_op WHERE kind = 0")
    if expected is None:
        assert found == (0, None)
        return
    assert found == (expected["count"], expected["sum_ns"])
    window = opened.row("SELECT min(start_ns), max(start_ns + dur_ns) FROM gpu_op WHERE kind = 0")
    assert list(window) == expected["window_ns"]


def test_the_gpu_window_holds_all_gpu_work(opened: Opened) -> None:
    window = opened.row("SELECT min(start_ns), max(start_ns + dur_ns) FROM gpu_op WHERE kind <> 4")
    facts = opened.facts()
    if window == (None, None):
        assert "gpu_window_start_ns" not in facts
        return
    assert (facts["gpu_window_start_ns"], facts["gpu_window_end_ns"]) == tuple(map(str, window))


def test_kernels_of_each_device(opened: Opened) -> None:
    expected = opened.expected.get("kernels", {"devices": {}})["devices"]
    found = opened.rows(
        """SELECT d.ordinal, b.kernel_count, b.kernel_sum_ns, b.busy_ns, b.first_ns, b.last_ns
           FROM device_busy b JOIN device d ON d.id = b.device"""
    )
    assert {
        str(ordinal): {"count": n, "sum_ns": total, "busy_ns": busy, "window_ns": [first, last]}
        for ordinal, n, total, busy, first, last in found
    } == {
        ordinal: {k: device[k] for k in ("count", "sum_ns", "busy_ns", "window_ns")}
        for ordinal, device in expected.items()
    }
    streams = opened.rows(
        """SELECT d.ordinal, count(DISTINCT o.lane) FROM gpu_op o JOIN device d ON d.id = o.device
           WHERE o.kind = 0 GROUP BY ALL"""
    )
    assert {str(k): n for k, n in streams} == {k: d["streams"] for k, d in expected.items()}
    nccl = opened.rows(
        """SELECT d.ordinal, sum(s.sum_ns) FROM op_stat s JOIN device d ON d.id = s.device
           JOIN string n ON n.id = s.name WHERE s.comm AND n.text ILIKE '%nccl%' GROUP BY ALL"""
    )
    assert {str(k): n for k, n in nccl} == {
        k: d["nccl_sum_ns"] for k, d in expected.items() if d["nccl_sum_ns"]
    }


def test_top_kernels(opened: Opened) -> None:
    for top in opened.expected.get("kernels", {"top": []})["top"]:
        found = opened.row(
            """SELECT sum(s.count), sum(s.sum_ns) FROM op_stat s JOIN string n ON n.id = s.name
               WHERE s.kind = 0 AND n.text = ?""",
            top["short_name"],
        )
        assert found == (top["count"], top["sum_ns"]), top["short_name"]


def test_copies_sets_and_waits(opened: Opened) -> None:
    found = opened.rows(
        """SELECT s.text, count(*), sum(o.bytes), sum(o.dur_ns) FROM gpu_op o
           JOIN string s ON s.id = o.name WHERE o.kind = 1 GROUP BY ALL"""
    )
    assert {name: rest for name, *rest in found} == {
        COPY_KINDS[copy["copyKind"]]: [copy["count"], copy["bytes"], copy["sum_ns"]]
        for copy in opened.expected.get("memcpy", [])
    }
    sets = opened.row("SELECT count(*), sum(bytes), sum(dur_ns) FROM gpu_op WHERE kind = 2")
    expected = opened.expected.get("memset", {"count": 0, "bytes": None, "sum_ns": None})
    assert sets == (expected["count"], expected["bytes"], expected["sum_ns"])
    waits = opened.row("SELECT count(*), sum(dur_ns) FROM gpu_op WHERE kind = 4")
    expected = opened.expected.get("sync", {"count": 0, "sum_ns": None})
    assert waits == (expected["count"], expected["sum_ns"])


def test_annotations(opened: Opened) -> None:
    expected = opened.expected.get("nvtx")
    ranges = "FROM host_event h JOIN string s ON s.id = h.name WHERE h.kind IN (0, 5)"
    closed, texts, threads = opened.row(
        f"""SELECT count(*) FILTER (NOT open), count(DISTINCT s.text), count(DISTINCT lane)
            {ranges}"""
    )
    if expected is None:
        assert (closed, texts, threads) == (0, 0, 0)
        return
    assert closed == expected["closed_ranges"]
    assert texts == expected["distinct_texts"]
    assert threads == expected["threads"]
    by_type = expected["by_event_type"]
    assert opened.row("SELECT count(*) FROM host_event WHERE kind = 0")[0] == by_type["59"]
    assert int(opened.facts()["rows.NVTX_EVENTS"]) == expected["rows"]
    for top in expected["top_by_total"]:
        found = opened.row(f"SELECT count(*), sum(dur_ns) {ranges} AND s.text = ?", top["text"])
        assert found == (top["count"], top["sum_ns"]), top["text"]


def test_orphans(opened: Opened) -> None:
    orphans = opened.row("SELECT count(*) FROM gpu_op WHERE kind = 0 AND launch IS NULL")[0]
    if opened.name in ORPHANS:
        kernels, expected = ORPHANS[opened.name]
        assert opened.expected["kernels"]["count"] == kernels
        assert orphans == expected
    assert int(opened.facts().get("orphans.kernel", 0)) == orphans


def test_launches_of_the_reference(opened: Opened) -> None:
    expected = opened.expected.get("launch_calls")
    if expected is None:
        return
    calls = sum(opened.row("SELECT coalesce(sum(launches), 0) FROM path_metric")[0:1])
    twins = int(opened.facts().get("unused.CUPTI_ACTIVITY_KIND_RUNTIME.class_67", 0))
    launch_twins = expected["names"].get("cudaLaunchKernel", 0) if twins else 0
    assert calls == expected["count"] - launch_twins


def test_links_point_where_they_say(opened: Opened) -> None:
    wrong = opened.row(
        """SELECT count(*) FROM gpu_op o JOIN host_event h ON h.id = o.launch
           WHERE h.kind NOT IN (1, 2) OR h.correlation <> o.correlation"""
    )
    assert wrong == (0,)
    outside = opened.row(
        """SELECT count(*) FROM host_event c JOIN host_event p ON p.id = c.parent
           WHERE p.lane <> c.lane OR p.start_ns > c.start_ns
              OR p.start_ns + p.dur_ns < c.start_ns + c.dur_ns OR p.depth <> c.depth - 1"""
    )
    assert outside == (0,)
    for table, keys in (("host_event", "kind, lane, start_ns"), ("gpu_op", "kind, lane, start_ns")):
        disorder = opened.row(
            f"""SELECT count(*) FROM (
                  SELECT ({keys}) < lag(({keys})) OVER (ORDER BY id) AS wrong,
                         id <> row_number() OVER (ORDER BY rowid) - 1 AS misnumbered
                  FROM {table}) WHERE wrong OR misnumbered"""
        )
        assert disorder == (0,), table


def test_the_tree_sums_to_the_events(opened: Opened) -> None:
    events = opened.row(
        """SELECT coalesce(sum(dur_ns), 0), count(*), count(*) FILTER (kind = 0),
                  coalesce(sum(bytes), 0)
           FROM gpu_op WHERE kind <> 4"""
    )
    exclusive = "SELECT {} FROM path_metric WHERE device IS NOT NULL"
    inclusive = "SELECT {} FROM path_total WHERE node = 0 AND device IS NOT NULL"
    sums = ", ".join(
        f"coalesce(sum({name}), 0)" for name in ("gpu_ns", "gpu_ops", "kernels", "bytes")
    )
    assert opened.row(exclusive.format(sums)) == events
    assert opened.row(inclusive.format(sums)) == events
    host = opened.row(
        """SELECT coalesce(sum(self_ns), 0), (SELECT count(*) FROM cpu_sample), count(*)
           FROM host_event WHERE kind <= 2"""
    )
    sums = "coalesce(sum(host_ns), 0), coalesce(sum(samples), 0)"
    own = opened.row(
        f"SELECT {sums}, coalesce(sum(calls), 0) FROM path_metric WHERE device IS NULL"
    )
    assert own == host
    total = opened.row(f"SELECT {sums} FROM path_total WHERE node = 0 AND device IS NULL")
    assert total == host[:2]


def test_device_time_sums_to_the_window(opened: Opened) -> None:
    split = "SELECT device, sum(ns), count(*) FROM device_time GROUP BY device ORDER BY device"
    windows = opened.rows(
        """SELECT device, max(start_ns + dur_ns) - min(start_ns), 4 FROM gpu_op
           WHERE kind <= 3 AND device IS NOT NULL GROUP BY device ORDER BY device"""
    )
    assert opened.rows(split) == windows


def test_the_second_opening_uses_the_store(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    assert opened.store.path is not None
    monkeypatch.setenv("DCTX_CACHE_DIR", str(opened.store.path.parent))
    store = open_trace(opened.store.source, progress=lambda stage, _: called.append(stage))
    try:
        assert store.events_ready
        assert called == []
        assert store.path == opened.store.path
    finally:
        store.close()
