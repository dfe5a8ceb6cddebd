"""The comparison of the demo pair, against the plan the pair was made from."""

import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.change import Status
from dctx.analyzers.conclusion import Outcome
from dctx.analyzers.pairing import Compared, compare_traces
from dctx.analyzers.regression import Comparison, TableChange
from dctx.demo_data.llm_recipe import VARIANTS
from dctx.demo_data.llm_tp2 import write_trace
from tests.analyzers.workload import opened
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
ALL: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())
TRUTH = ALL["comparison"]
BASE, MAIN = (DEMO / variant.file for variant in VARIANTS)
SYNTHETIC = Path(os.environ.get("DCTX_TRACES", "/nonexistent")) / "nsys"
EXPECTED = SYNTHETIC.parent / "expected" / "host-overhead"


def compared(base: Path, target: Path) -> Compared:
    with opened(base) as old, opened(target) as new:
        return compare_traces(old, new)


@pytest.fixture(scope="module")
def demo(shared_cache: Path) -> Iterator[Compared]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        yield compared(BASE, MAIN)


@pytest.fixture(scope="module")
def pair(demo: Compared) -> Comparison:
    assert demo.comparison is not None
    return demo.comparison


def operations(pair: Comparison) -> TableChange:
    assert pair.operations is not None
    return pair.operations


def row_of(table: TableChange, name: str) -> int:
    return table.names.index(name)


def test_the_planted_times(pair: Comparison) -> None:
    old, new = (ALL["traces"][v.file]["per_rank"]["0"] for v in VARIANTS)
    assert pair.wall.baseline / 1000 == near(old["wall_per_step_us"], abs=1e-4)
    assert pair.wall.target / 1000 == near(new["wall_per_step_us"], abs=1e-4)
    assert pair.duration.delta / 1000 == near(TRUTH["step_delta_us"], abs=1e-4)
    assert pair.gap.delta / 1000 == near(TRUTH["gap_delta_us"], abs=1e-4)
    assert pair.wall.percent == near(TRUTH["wall_delta_percent"], abs=1e-3)
    assert pair.wall.delta == near(pair.duration.delta + pair.gap.delta, abs=1e-6)
    assert pair.wall.significant
    assert pair.wall.noise == near(344_000, rel=0.01)  # 3 standard errors, pooled


def test_the_planted_operations(pair: Comparison) -> None:
    table = operations(pair)
    assert {n: s.value for n, s in zip(table.names, table.status, strict=True)} == TRUTH["status"]
    for side, values in zip(VARIANTS, (table.baseline_ns, table.target_ns), strict=True):
        truth = ALL["traces"][side.file]["per_rank"]["0"]["ops_us_per_step"]
        found = {n: v / 1000 for n, v in zip(table.names, values.tolist(), strict=True) if v}
        assert found == near(truth, abs=1e-6)


def test_small_but_certain_changes_are_marked(pair: Comparison) -> None:
    table = operations(pair)
    assert table.mark(row_of(table, "_prepare_inputs")) == "+"
    assert table.mark(row_of(table, "_schedule")) == ""
    assert table.mark(row_of(table, "_update_requests")) == ""  # has a status of its own


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("prepare_resources", "in step"),
        ("_fetch_new_requests", "gap"),
        ("_process_requests", "other threads"),
        ("_write_finish_reasons", "in _update_requests"),
        ("fast_greedy_sample_kernel", "in _sample_async"),
    ],
)
def test_where_operations_run(pair: Comparison, name: str, place: str) -> None:
    table = operations(pair)
    assert table.place(row_of(table, name)) == place


def test_what_no_operation_explains_is_told(pair: Comparison) -> None:
    assert pair.unattributed_ns is not None
    assert pair.unattributed_ns / 1000 == near(TRUTH["unattributed_us"], abs=1e-3)
    assert pair.unattributed_gap_ns is not None
    assert pair.unattributed_gap_ns / 1000 == near(TRUTH["unattributed_gap_us"], abs=1e-3)
    assert pair.unattributed_step_ns is not None
    assert pair.unattributed_step_ns / 1000 == near(TRUTH["unattributed_step_us"], abs=1e-3)
    assert pair.explained_ns == near(pair.wall.delta - pair.unattributed_ns)


def test_launches_and_gpu_work(pair: Comparison) -> None:
    for variant, profile in zip(VARIANTS, (pair.baseline, pair.target), strict=True):
        truth = ALL["traces"][variant.file]["per_rank"]["0"]
        launched, time = profile.launched_kernels, profile.launched_ns
        executed = profile.executed_kernels
        assert launched is not None
        assert time is not None
        assert executed is not None
        # The plan's count is a mean over 200 steps, of which 199 are compared.
        assert launched.mean == near(truth["launched_kernels_per_step"], abs=0.01)
        assert time.mean == near(1000 * truth["launched_gpu_us_per_step"], rel=1e-6)
        in_graphs = (executed.mean or 0) - (launched.mean or 0)
        assert in_graphs == near(truth["graph_kernels_per_step"])
    calls = pair.calls
    assert calls is not None
    row = row_of(calls, "cudaLaunchKernel")
    assert (calls.baseline_ns[row], calls.target_ns[row]) == near((22_600, 79_700))
    assert calls.status[row] is Status.REGRESSION


def test_the_planted_conclusion(demo: Compared) -> None:
    conclusion = demo.conclusion
    assert conclusion is not None
    assert conclusion.outcome.value == TRUTH["conclusion"]
    assert conclusion.gap_share == near(TRUTH["gap_share"], abs=1e-4)
    assert [finding.id for finding in demo.findings] == TRUTH["findings"]
    assert conclusion.sentences[0] == (
        "Slower by 660.3 µs per step (19.9 %): inter-step host overhead, 75 % of it lies in the "
        "gaps between steps."
    )
    assert demo.generation == 500


def test_findings_carry_their_figures_and_where_to_look(demo: Compared) -> None:
    requests, launches, bookkeeping = demo.findings
    assert [e.name for e in requests.evidence] == ["broadcast_requests", "_fetch_new_requests"]
    assert [e.baseline for e in requests.evidence] == [None, near(36.4)]
    assert [e.value for e in requests.evidence] == near([249.6, 270.4])
    assert all(e.node is not None and e.node > 0 for e in requests.evidence)
    assert "3.5 x" in launches.sentence
    assert launches.evidence[0].value == near(21.9, abs=0.01)
    assert [e.name for e in bookkeeping.evidence] == [
        "_write_finish_reasons",
        "fast_greedy_sample_kernel",
    ]


def test_swapped_every_sign_is_the_other_one(pair: Comparison) -> None:
    swapped = compared(MAIN, BASE)
    other = swapped.comparison
    assert other is not None
    for name in ("wall", "duration", "gap"):
        assert getattr(other, name).delta == near(-getattr(pair, name).delta)
    assert other.unattributed_ns == near(-(pair.unattributed_ns or 0))
    for table, turned in (
        (pair.operations, other.operations),
        (pair.calls, other.calls),
        (pair.kernels, other.kernels),
    ):
        assert table is not None
        assert turned is not None
        delta = dict(zip(table.names, table.delta_ns.tolist(), strict=True))
        back = dict(zip(turned.names, (-turned.delta_ns).tolist(), strict=True))
        assert back == near(delta)
    removed = {name for name, s in TRUTH["status"].items() if s == "NEW"}
    table = operations(other)
    assert {table.names[row] for row in table.rows_of(Status.REMOVED)} == removed
    assert swapped.conclusion is not None
    assert swapped.conclusion.outcome is Outcome.IMPROVED
    assert swapped.conclusion.sentences[0] == "Improved by 660.3 µs per step (16.6 %)."
    assert "_process_requests +666.3 µs" in swapped.conclusion.sentences[1]
    assert not any("egression" in sentence for sentence in swapped.conclusion.sentences)
    assert swapped.findings == ()


def test_a_trace_against_itself_shows_nothing() -> None:
    same = compared(BASE, BASE)
    assert same.comparison is not None
    assert same.conclusion is not None
    assert same.conclusion.outcome is Outcome.UNCHANGED
    assert same.conclusion.sentences == (
        "No significant change: +0.0 µs per step (+0.0 %), within the variation of the steps "
        "(± 155.5 µs).",
    )
    assert same.findings == ()
    for table in (same.comparison.operations, same.comparison.calls, same.comparison.kernels):
        assert table is not None
        assert len(table) > 0
        assert not table.delta_ns.any()
        assert set(table.status) == {Status.UNCHANGED}
    assert same.comparison.unattributed_ns == 0


def test_ranks_far_apart_give_the_same_comparison(pair: Comparison, tmp_path: Path) -> None:
    paths = [tmp_path / variant.file for variant in VARIANTS]
    for path, variant in zip(paths, VARIANTS, strict=True):
        write_trace(path, variant, skew_ns=150_000)
    far = compared(*paths)
    assert far.comparison is not None
    assert (far.comparison.wall, far.comparison.gap) == (pair.wall, pair.gap)
    close, apart = operations(pair), operations(far.comparison)
    assert apart.names == close.names
    assert apart.status == close.status
    assert apart.delta_ns.tolist() == near(close.delta_ns.tolist())
    assert far.conclusion is not None
    assert far.conclusion.outcome.value == TRUTH["conclusion"]


def test_in_graph_mode_the_host_figures_are_the_same(pair: Comparison, tmp_path: Path) -> None:
    paths = [tmp_path / variant.file for variant in VARIANTS]
    for path, variant in zip(paths, VARIANTS, strict=True):
        write_trace(path, variant, mode="graph")
    graph = compared(*paths).comparison
    assert graph is not None
    assert graph.wall == pair.wall
    assert operations(graph).status == operations(pair).status
    executed, launched = graph.target.executed_kernels, graph.target.launched_kernels
    assert executed is not None
    assert launched is not None
    assert executed.mean == launched.mean  # what a replay runs is not told one by one


@pytest.mark.skipif(not SYNTHETIC.exists(), reason="DCTX_TRACES names no folder with traces")
def test_a_second_pair_with_known_operations() -> None:
    """Serving steps on two ranks, 11 each; what was planted is a mean with some variation."""
    files_ = [SYNTHETIC / f"synthetic-llm-tp2-{name}.sqlite" for name in ("base", "regressed")]
    old, new = (
        json.loads((EXPECTED / f"{path.stem}.truth.json").read_text())["ops_us"] for path in files_
    )
    result = compared(*files_)
    assert result.comparison is not None
    table = operations(result.comparison)
    for name in new:
        row = row_of(table, name)
        assert table.target_ns[row] / 1000 == near(new[name], rel=0.2)
        assert table.baseline_ns[row] / 1000 == near(old[name] or 0, rel=0.2)
    status = dict(zip(table.names, (s.value for s in table.status), strict=True))
    assert {name: s for name, s in status.items() if s != "UNCHANGED"} == {
        "_fetch_new_requests": "REGRESSION",
        "broadcast_requests": "NEW",
        "_update_requests": "REGRESSION",
        "prepare_resources": "REGRESSION",
        "_sample_async": "IMPROVED",
        "_process_requests": "IMPROVED",
    }
    # One row for all layers, however many there are.
    assert [name for name in table.names if "attn" in name and "layer" in name] == ["layer.#.attn"]
    for profile in (result.comparison.baseline, result.comparison.target):
        assert profile.launched_kernels is not None
        assert profile.launched_kernels.mean == 384
        assert profile.steps.all_reduce is not None
        assert profile.steps.all_reduce.size == 64
    assert result.conclusion is not None
    assert result.conclusion.outcome is Outcome.IMPROVED
    assert len(result.conclusion.sentences[1].split(",")) == 4  # lost again
    assert result.cautions  # few steps
