"""The demo pair: its generator still makes the committed files, and they hold their truth.

Figures are read back with plain SQL and compared with the truth file and the published values.
"""

import json
import re
import sqlite3
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import dctx.demo_data
from dctx.demo_data.llm_tp2 import main

COMMITTED = Path(dctx.demo_data.__path__[0])
BASE, TARGET = "llama-1b-v1.1.sqlite", "llama-1b-main.sqlite"
PAIR = (BASE, TARGET)
STEP = re.compile(r"\[Executor\] _forward_step (\d+): (\d+) ctx reqs, (\d+) gen reqs")

# Published, per rank, in microseconds: v1.1 and main.
PUBLISHED = {
    "wall": (3317.4, 3977.7),
    "span": (3308.3, 3966.1),
    "step": (1500.3, 1667.2),
    "gap": (1817.1, 2310.5),
    "gap_p50": (2543.3, 4467.6),
    "launched": (6.2, 21.9),
    "launched_gpu": (109.8, 142.8),
    "launch_api": (22.6, 79.7),
}
PUBLISHED_OPS = {
    "_prepare_inputs": (815.9, 871.0),
    "prepare_resources": (192.4, 348.6),
    "_schedule": (121.0, 120.0),
    "_fetch_new_requests": (36.4, 270.4),
    "broadcast_requests": (None, 249.6),
    "_sample_async": (1163.0, 720.3),
    "_update_requests": (412.6, 722.8),
    "_process_requests": (1056.3, 390.0),
    "_handle_responses": (300.0, 330.0),
    "_write_finish_reasons": (None, 121.0),
    "fast_greedy_sample_kernel": (None, 52.0),
}

Rows = list[tuple[Any, ...]]


def query(path: Path, sql: str) -> Rows:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    main([str(folder)])
    return folder


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((COMMITTED / "truth.json").read_text(encoding="utf-8"))
    return loaded


class Steps:
    """Steady steps of a trace by process, with the work of each one's window."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_process: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.following: dict[int, int] = {}
        ranges = query(
            path,
            "SELECT start, end, globalTid & ~16777215, coalesce(text, value) FROM NVTX_EVENTS"
            " LEFT JOIN StringIds ON id = textId WHERE eventType = 59 ORDER BY start",
        )
        self.ranges: dict[int, Rows] = defaultdict(list)
        for start, end, process, text in ranges:
            found = STEP.fullmatch(text)
            if found is None:
                self.ranges[process].append((start, end, text))
            elif (int(found[2]), int(found[3])) == (0, 500):
                self.by_process[process].append((start, end))
            elif int(found[2]) == 0:
                self.following.setdefault(process, start)

    def window(self, process: int) -> tuple[int, int]:
        return self.by_process[process][0][0], self.following[process]

    def inside(self, process: int, sql: str) -> Rows:
        """Rows of a query with {start}, {end} and {process} in it."""
        start, end = self.window(process)
        return query(self.path, sql.format(start=start, end=end, process=process))


def test_the_committed_files_are_what_the_generator_makes(made: Path) -> None:
    for name in PAIR:
        tables = query(
            made / name, "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
        assert tables == query(
            COMMITTED / name,
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name",
        )
        for table, _ in tables:
            sql = f"SELECT * FROM {table}"
            assert query(made / name, sql) == query(COMMITTED / name, sql), table
    assert (made / "truth.json").read_text() == (COMMITTED / "truth.json").read_text()


@pytest.mark.parametrize("name", PAIR)
def test_the_files_stay_small(name: str) -> None:
    assert (COMMITTED / name).stat().st_size < 3_000_000


@pytest.mark.parametrize("name", PAIR)
def test_row_counts_and_device_totals(name: str, truth: dict[str, Any]) -> None:
    path, expected = COMMITTED / name, truth["traces"][name]
    tables = {row[0] for row in query(path, "SELECT name FROM sqlite_master")}
    for table, rows in expected["rows"].items():
        found = query(path, f"SELECT count(*) FROM {table}")[0][0] if table in tables else 0
        assert found == rows, table
    for device, figures in expected["devices"].items():
        count, total, all_reduces = query(
            path,
            "SELECT count(*), sum(end - start), sum(value LIKE 'allreduce_fusion%')"
            " FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName"
            f" WHERE deviceId = {device}",
        )[0]
        assert (count, total, all_reduces) == (
            figures["kernels"], figures["kernel_sum_ns"], figures["all_reduces"]
        )  # fmt: skip
        covered = query(
            path,
            "SELECT sum(max(0, end - max(start, before))) FROM (SELECT start, end, coalesce("
            " max(end) OVER (ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),"
            f" 0) AS before FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = {device})",
        )
        assert covered == [(figures["kernel_union_ns"],)]
        assert figures["busy_ns"] == figures["kernel_union_ns"]
        copied = query(
            path,
            "SELECT sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY"
            f" WHERE deviceId = {device}",
        )
        assert copied == [(figures["memcpy_bytes"], figures["memcpy_sum_ns"])]


@pytest.mark.parametrize("side", [0, 1])
def test_steps_gaps_and_wall_per_rank(side: int) -> None:
    steps = Steps(COMMITTED / PAIR[side])
    assert len(steps.by_process) == 2
    for spans in steps.by_process.values():
        assert len(spans) == 200
        gaps = [b[0] - a[1] for a, b in pairwise(spans)]
        durations = [end - start for start, end in spans]
        starts = [b[0] - a[0] for a, b in pairwise(spans)]
        assert sum(durations) / 200 == PUBLISHED["step"][side] * 1000
        assert round(sum(gaps) / 199 / 1000, 1) == PUBLISHED["gap"][side]
        assert sorted(gaps)[199 // 2] / 1000 == PUBLISHED["gap_p50"][side]
        assert round(sum(starts) / 199 / 1000, 1) == PUBLISHED["wall"][side]
        span = (spans[-1][1] - spans[0][0]) / 200 / 1000
        assert round(span, 1) == PUBLISHED["span"][side]
        # Long gaps come first and alternate with short ones.
        assert all((gap > 2_000_000) == (i % 2 == 0) for i, gap in enumerate(gaps))


def test_ranks_run_13_us_apart() -> None:
    for name in PAIR:
        first, second = Steps(COMMITTED / name).by_process.values()
        assert {b[0] - a[0] for a, b in zip(first, second, strict=True)} == {13_000}


@pytest.mark.parametrize("side", [0, 1])
def test_operations_per_step(side: int, truth: dict[str, Any]) -> None:
    steps = Steps(COMMITTED / PAIR[side])
    per_rank = truth["traces"][PAIR[side]]["per_rank"].values()
    for process, expected in zip(sorted(steps.by_process), per_rank, strict=True):
        start, end = steps.window(process)
        totals: dict[str, int] = defaultdict(int)
        for r_start, r_end, text in steps.ranges[process]:
            if start <= r_start < end:
                totals[text] += r_end - r_start
        measured = {name: total / 200 / 1000 for name, total in totals.items()}
        assert measured == expected["ops_us_per_step"]
        published = {k: v[side] for k, v in PUBLISHED_OPS.items() if v[side] is not None}
        assert measured == published
        # Over the pairs of consecutive steps the means are the same.
        last = steps.by_process[process][-1][0]
        pairs: dict[str, int] = defaultdict(int)
        for r_start, r_end, text in steps.ranges[process]:
            if start <= r_start < last:
                pairs[text] += r_end - r_start
        assert {k: round(v / 199 / 1000, 4) for k, v in pairs.items()} == published


@pytest.mark.parametrize("side", [0, 1])
def test_launched_kernels_per_step(side: int) -> None:
    steps = Steps(COMMITTED / PAIR[side])
    for process in steps.by_process:
        launched = steps.inside(
            process,
            "SELECT a.start, k.end - k.start, k.graphNodeId IS NOT NULL, value"
            " FROM CUPTI_ACTIVITY_KIND_RUNTIME a JOIN CUPTI_ACTIVITY_KIND_KERNEL k"
            " ON k.correlationId = a.correlationId AND k.globalPid = a.globalTid & ~16777215"
            " JOIN StringIds ON id = k.shortName"
            " WHERE globalPid = {process} AND a.start >= {start} AND a.start < {end}",
        )
        alone = [row for row in launched if not row[2]]
        assert len(alone) / 200 == PUBLISHED["launched"][side]
        assert sum(row[1] for row in alone) / 200 / 1000 == PUBLISHED["launched_gpu"][side]
        assert not any("allreduce" in row[3] for row in alone)
        per_replay: dict[int, int] = defaultdict(int)
        for start, _, in_graph, name in launched:
            per_replay[start] += in_graph and name == "allreduce_fusion_kernel_oneshot_lamport"
        assert sorted(per_replay.values()) == [0] * len(alone) + [33] * 200
        calls = steps.inside(
            process,
            "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            " JOIN StringIds ON id = nameId WHERE value = 'cudaLaunchKernel_v7000'"
            " AND globalTid & ~16777215 = {process} AND start >= {start} AND start < {end}",
        )
        assert calls == [(len(alone), PUBLISHED["launch_api"][side] * 200_000)]


def test_launch_counts_mix_and_differ_by_rank() -> None:
    for name, mix in ((BASE, {6: 160, 7: 40}), (TARGET, {21: 20, 22: 180})):
        steps = Steps(COMMITTED / name)
        series: list[list[int]] = []
        for process, spans in steps.by_process.items():
            calls = steps.inside(
                process,
                "SELECT start FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"
                " WHERE value = 'cudaLaunchKernel_v7000' AND globalTid & ~16777215 = {process}"
                " AND start >= {start} AND start < {end}",
            )
            # All launches lie inside their step.
            counts = [sum(s <= c < e for (c,) in calls) for s, e in spans]
            assert {n: counts.count(n) for n in set(counts)} == mix
            series.append(counts)
        assert series[0] != series[1]


def test_graph_kernels_cost_the_same_in_both() -> None:
    sql = (
        "SELECT deviceId, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        " WHERE graphNodeId IS NOT NULL GROUP BY deviceId"
    )
    assert query(COMMITTED / BASE, sql) == query(COMMITTED / TARGET, sql)


@pytest.mark.parametrize("name", PAIR)
def test_all_reduces_form_one_group_of_33_per_step_and_device(name: str) -> None:
    for device in (0, 1):
        spans = query(
            COMMITTED / name,
            "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName"
            f" WHERE value LIKE 'allreduce%' AND deviceId = {device} ORDER BY start",
        )
        sizes = [0]
        last_end = spans[0][0]
        for start, end in spans:
            if start - last_end > 1_000_000:
                sizes.append(0)
            sizes[-1] += 1
            last_end = max(last_end, end)
        assert sizes == [33] * 230


@pytest.mark.parametrize("name", PAIR)
def test_ranges_nest_and_the_phases_are_there(name: str) -> None:
    path = COMMITTED / name
    threads = query(path, "SELECT DISTINCT globalTid FROM NVTX_EVENTS")
    assert len(threads) == 4
    for (thread,) in threads:
        open_ends: list[int] = []
        for start, end in query(
            path,
            f"SELECT start, end FROM NVTX_EVENTS WHERE globalTid = {thread}"
            " ORDER BY start, end DESC",
        ):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)
    burst = query(
        path,
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN NVTX_EVENTS n ON"
        " k.start BETWEEN n.start AND n.end + 1000000 AND k.deviceId = (globalTid >> 24) - 101"
        " JOIN StringIds ON id = textId WHERE value = 'torch_compile_warmup'",
    )
    assert burst == [(3000,)]
    quiet = query(
        path,
        "SELECT max(gap) FROM (SELECT start - lag(end) OVER (ORDER BY start) AS gap FROM"
        " CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid >> 24 = 101)",
    )[0][0]
    assert quiet > 120_000_000


@pytest.mark.parametrize("name", PAIR)
def test_correlation_ids_restart_and_every_operation_has_its_call(name: str) -> None:
    path = COMMITTED / name
    firsts = query(
        path,
        "SELECT min(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY globalTid >> 24",
    )
    assert len(firsts) == 2
    assert firsts[0] == firsts[1]
    for table in ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION"):
        orphans = query(
            path,
            f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{table} k LEFT JOIN"
            " CUPTI_ACTIVITY_KIND_RUNTIME a ON a.correlationId = k.correlationId"
            " AND a.globalTid & ~16777215 = k.globalPid AND a.start <= k.start"
            " WHERE a.start IS NULL",
        )
        assert orphans == [(0,)], table


def test_streams_run_one_kernel_at_a_time() -> None:
    for name in PAIR:
        overlap = query(
            COMMITTED / name,
            "SELECT count(*) FROM (SELECT start - lag(end) OVER (PARTITION BY deviceId ORDER BY"
            " start) AS gap FROM CUPTI_ACTIVITY_KIND_KERNEL) WHERE gap < 0",
        )
        assert overlap == [(0,)]


@pytest.mark.parametrize("name", PAIR)
def test_call_chains_name_their_api(name: str) -> None:
    path = COMMITTED / name
    wrong = query(
        path,
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME a JOIN StringIds n ON n.id = nameId"
        " JOIN CUDA_CALLCHAINS c ON c.id = callchainId AND stackDepth = 0"
        " JOIN StringIds s ON s.id = symbol WHERE n.value NOT LIKE s.value || '%'",
    )
    assert wrong == [(0,)]
    chained, samples, depths = query(
        path,
        "SELECT (SELECT count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME),"
        " (SELECT count(DISTINCT e.id) FROM COMPOSITE_EVENTS e JOIN SAMPLING_CALLCHAINS c"
        " ON c.id = e.id), (SELECT count(*) FROM SAMPLING_CALLCHAINS)",
    )[0]
    assert chained > 5_000
    assert samples > 200
    assert depths > 3 * samples


def test_the_comparison_has_the_published_deltas(truth: dict[str, Any]) -> None:
    found = truth["comparison"]
    assert round(found["wall_delta_us"], 1) == 660.3
    assert round(found["wall_delta_percent"], 1) == 19.9
    assert found["step_delta_us"] == 166.9
    assert round(found["gap_delta_us"], 1) == 493.4
    assert round(found["gap_share"], 2) == 0.75
    assert round(found["launch_factor"], 1) == 3.5
    assert round(found["unattributed_us"]) == 42
    assert round(found["unattributed_gap_us"]) == 143
    assert round(found["unattributed_step_us"]) in (-101, -102)


def test_graph_mode_has_replays_instead_of_graph_kernels(tmp_path: Path) -> None:
    main([str(tmp_path), "--graph-mode", "graph"])
    path = tmp_path / BASE
    made = json.loads((tmp_path / "truth.json").read_text())["traces"][BASE]
    graph_kernels = query(path, "SELECT count(graphNodeId) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    assert graph_kernels == [(0,)]
    replays = query(
        path,
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE g JOIN CUPTI_ACTIVITY_KIND_RUNTIME a"
        " ON a.correlationId = g.correlationId AND a.globalTid & ~16777215 = g.globalPid"
        " JOIN StringIds ON id = nameId WHERE value LIKE 'cudaGraphLaunch%'",
    )
    assert replays == [(420,)]
    assert made["rows"]["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"] == 420
    mode = query(path, "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE 'CUDA_GRAPH%MODE'")
    assert mode == [("Graph",)]


def test_the_skewed_variant_keeps_its_figures(tmp_path: Path) -> None:
    main([str(tmp_path), "--skew", "150us"])
    first, second = Steps(tmp_path / TARGET).by_process.values()
    assert {b[0] - a[0] for a, b in zip(first, second, strict=True)} == {150_000}
    gaps = [b[0] - a[1] for a, b in pairwise(second)]
    assert round(sum(gaps) / 199 / 1000, 1) == 2310.5
