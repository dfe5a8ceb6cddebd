"""Two traces side by side: sums, partners, planted causes, reference values."""

from __future__ import annotations

import csv
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dctx.analyzers.change import Status
from dctx.analyzers.compare import compare_costs
from dctx.analyzers.pairing import compare_traces
from dctx.analyzers.side_by_side import Compare, Match, SideBySide
from dctx.demo_data.llm_recipe import VARIANTS
from dctx.ingest.model import Layer
from dctx.queries.kernels import gpu_total
from dctx.queries.metric import Metric
from tests.analyzers.workload import Workload, opened
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
BASE, MAIN = (DEMO / variant.file for variant in VARIANTS)
TRUTH: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())
TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
REFERENCE = TRACES / "expected" / "tracelens" / "compare-h100-mi300x-qwen" / "ops_summary.csv"


def side_by_side(base: Path, target: Path) -> Compare:
    with opened(base) as old, opened(target) as new:
        return compare_costs(old, new, compare_traces(old, new))


def parts(found: Compare) -> list[SideBySide]:
    return list(found.parts.values())


def check_sums(found: Compare) -> None:
    """The changes of the rows themselves sum to the change of the roots."""
    for sides in parts(found):
        roots = sides.parent < 0
        for change in sides.metrics.values():
            for own, whole in (
                (change.base_self, change.base),
                (change.target_self, change.target),
                (change.delta_self, change.delta),
            ):
                assert own.sum() == near(float(whole[roots].sum()), rel=1e-9, abs=1e-6)


def small_run(path: Path, scale: float, *, wrapped: bool) -> Path:
    """Without steps: a function that launches two kernels, in the target inside another one."""
    work = Workload(path)
    if wrapped:
        work.range("compiled", 5, 95)
    work.range("forward", 10, 90)
    for number, name in enumerate(("gemm", "softmax")):
        at = 20 + 30 * number
        work.kernel(at, at + 10 * scale, name=name, launch=(at - 5, at - 3))
    with work.opened():
        pass
    return path


@pytest.fixture(scope="module")
def demo(shared_cache: Path) -> Compare:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        return side_by_side(BASE, MAIN)


def test_the_planted_causes_come_in_order(demo: Compare) -> None:
    planted = TRUTH["comparison"]["status"]
    us = [TRUTH["traces"][v.file]["per_rank"]["0"]["ops_us_per_step"] for v in VARIANTS]
    by_size = sorted(planted, key=lambda n: -abs(us[1].get(n, 0) - us[0].get(n, 0)))
    changed = [n for n in by_size if planted[n] != "UNCHANGED"]
    paths = demo.paths
    status = paths.status(Metric.HOST)
    ranked = [
        paths.names[row]
        for row in paths.ranked(Metric.HOST)
        if paths.layer[row] == Layer.ANNOTATION and status[row] is not Status.UNCHANGED
    ]
    assert ranked == changed
    for row, name in enumerate(paths.names):
        if name in changed and paths.layer[row] == Layer.ANNOTATION:
            change = paths.metrics[Metric.HOST]
            assert change.base[row] / 1000 == near(us[0].get(name, 0), abs=1e-6)
            assert change.target[row] / 1000 == near(us[1].get(name, 0), abs=1e-6)
            assert status[row].value == planted[name]


def test_sums_reconcile(demo: Compare) -> None:
    assert demo.paths.per_step
    check_sums(demo)


def test_confidence_intervals_are_welchs(demo: Compare) -> None:
    paths = demo.paths
    change = paths.metrics[Metric.HOST]
    row = paths.names.index("_update_requests")
    # 3 standard errors are the noise; with some 400 degrees of freedom t is 1.966.
    assert change.interval[row] / change.noise[row] == near(1.966 / 3, rel=2e-3)
    assert bool(paths.sure(Metric.HOST)[row])
    quiet = paths.names.index("_schedule")
    assert not paths.sure(Metric.HOST)[quiet]


def test_a_trace_with_itself_is_zero_everywhere() -> None:
    for sides in parts(side_by_side(MAIN, MAIN)):
        assert set(sides.match) <= {Match.SAME}
        for metric, change in sides.metrics.items():
            assert not change.delta.any()
            assert not change.delta_self.any()
            assert not sides.ranked(metric)


def test_swapping_negates_everything(demo: Compare) -> None:
    turned = side_by_side(MAIN, BASE)
    for sides, other in zip(parts(demo), parts(turned), strict=True):
        place = {
            pair: row
            for row, pair in enumerate(
                zip(other.target_node.tolist(), other.base_node.tolist(), strict=True)
            )
        }
        pairs = zip(sides.base_node.tolist(), sides.target_node.tolist(), strict=True)
        rows = [place[pair] for pair in pairs]
        assert sorted(rows) == list(range(len(sides)))
        for metric, change in sides.metrics.items():
            back = other.metrics[metric]
            assert np.array_equal(change.delta, -back.delta[rows])
            assert np.array_equal(change.delta_self, -back.delta_self[rows])
            assert np.array_equal(change.interval, back.interval[rows])


def test_runs_without_steps_are_compared_whole(tmp_path: Path) -> None:
    base = small_run(tmp_path / "a.sqlite", 1, wrapped=False)
    target = small_run(tmp_path / "b.sqlite", 3, wrapped=True)
    found = side_by_side(base, target)
    check_sums(found)
    paths = found.paths
    assert not paths.per_step
    matches = dict(zip(paths.names, paths.match, strict=True))
    assert matches["compiled"] is Match.TARGET_ONLY
    assert matches["forward"] is Match.MOVED
    gpu = paths.metrics[Metric.GPU]
    forward, root = paths.names.index("forward"), 0
    assert (gpu.base[forward], gpu.target[forward]) == (20_000, 60_000)
    assert (gpu.base[root], gpu.target[root]) == (20_000, 60_000)
    assert np.isinf(gpu.interval).all()
    assert set(paths.status(Metric.GPU)) == {Status.UNCHANGED}
    kernels = found.kernels
    rows = [kernels.names.index(name) for name in ("gemm", "softmax")]
    assert kernels.metrics[Metric.GPU].delta[rows].tolist() == [20_000, 20_000]
    # GPU work belongs to the operation that launched it.
    ranges = found.ranges
    row = ranges.names.index("forward")
    assert ranges.metrics[Metric.GPU].delta[row] == 40_000


@pytest.mark.skipif(not REFERENCE.exists(), reason="DCTX_TRACES names no folder with traces")
def test_gpu_time_of_operators_on_two_makers_devices() -> None:
    folder = TRACES / "torch"
    found = side_by_side(
        folder / "h100-qwen1.5-0.5b.json.gz", folder / "mi300x-qwen1.5-0.5b.json.gz"
    )
    check_sums(found)
    operations = found.operations
    gpu = operations.metrics[Metric.GPU]
    at = {
        name: row for row, name in enumerate(operations.names) if operations.layer[row] == Layer.OP
    }
    with REFERENCE.open() as lines:
        reference = list(csv.DictReader(lines))
    compared = 0
    for expected in reference:
        name = expected["name"]
        for side, values in (("h100", gpu.base), ("mi300x", gpu.target)):
            text = expected[f"{side}::total_direct_kernel_time_ms"]
            if not text:
                continue
            # The reference adds up fractions of ns, a store whole ones: half a ns a kernel.
            launches = 10 * float(expected[f"{side}::Count"])
            assert values[at[name]] / 1e6 == near(float(text), abs=0.5e-6 * launches), (name, side)
            compared += 1
        both = expected["h100::Count"] and expected["mi300x::Count"]
        if both:
            assert operations.match[at[name]] is Match.SAME
    assert compared >= 36


def operators_of(trace: str) -> dict[str, tuple[float, int]]:
    """ms of GPU time and calls of each operator, by the reference."""
    path = REFERENCE.parents[1] / trace / "ops_summary.csv"
    with path.open() as lines:
        return {
            row["name"]: (float(row["total_direct_kernel_time_ms"]), int(row["Count"]))
            for row in csv.DictReader(lines)
        }


@pytest.mark.skipif(not REFERENCE.exists(), reason="DCTX_TRACES names no folder with traces")
@pytest.mark.parametrize(
    ("base", "target", "in_both"),
    [("h100-bert-small", "mi300x-bert-small", 10), ("h100-owlv2-large", "mi300x-bert-small", 7)],
)
def test_operators_of_equal_names_pair_and_have_the_references_time(
    base: str, target: str, in_both: int
) -> None:
    found = side_by_side(
        *(TRACES / "torch" / f"{name}.json.gz" for name in (base, target))
    )  # fmt: skip
    operations = found.operations
    gpu = operations.metrics[Metric.GPU]
    expected = operators_of(base), operators_of(target)
    is_operator = operations.layer == Layer.OP
    for side, values, names in (
        (expected[0], gpu.base, [was or now for was, now in
                                 zip(operations.base_names, operations.names, strict=True)]),
        (expected[1], gpu.target, list(operations.names)),
    ):  # fmt: skip
        at = {name: row for row, name in enumerate(names) if is_operator[row] and values[row]}
        assert set(side) <= set(at)
        for name, (ms, calls) in side.items():
            assert values[at[name]] / 1e6 == near(ms, abs=0.5e-6 * 10 * calls), name
    common = expected[0].keys() & expected[1].keys()
    assert len(common) == in_both
    for name in common:
        [row] = [r for r in np.flatnonzero(is_operator) if operations.names[r] == name]
        assert operations.match[row] is Match.SAME


SOURCES: list[tuple[str, str, dict[str, str]]] = [
    # Other makers, other frameworks: base, target, what the parts say that cannot be compared.
    ("torch/h100-bert-small.json.gz", "torch/mi300x-bert-small.json.gz", {}),
    ("nsys/synthetic-llm-tp2-base.sqlite", "torch/mi300x-qwen1.5-0.5b.json.gz",
     {"Operations by name": "the base has no operators",
      "Collectives": "the target has no communication kernels"}),
]  # fmt: skip


@pytest.mark.skipif(not REFERENCE.exists(), reason="DCTX_TRACES names no folder with traces")
@pytest.mark.parametrize(("base", "target", "lacking"), SOURCES)
def test_other_sources(base: str, target: str, lacking: dict[str, str]) -> None:
    with opened(TRACES / base) as old, opened(TRACES / target) as new:
        found = compare_costs(old, new, compare_traces(old, new))
        totals = [gpu_total(trace) for trace in (old, new)]
    check_sums(found)
    assert not found.paths.per_step
    assert found.paths.no_intervals is not None
    gpu = found.paths.metrics[Metric.GPU]
    assert [gpu.base[0], gpu.target[0]] == totals  # nothing is lost on either side
    kernels = found.kernels.metrics[Metric.GPU]
    assert [kernels.base.sum(), kernels.target.sum()] == totals
    said = {title: part.lacking for title, part in found.parts.items() if part.lacking}
    assert lacking.items() <= said.items()
    # Operators of equal names are partners, whatever runs below them.
    operations = found.operations
    both = {was or name for name, was, match in
            zip(operations.names, operations.base_names, operations.match, strict=True)
            if match is Match.SAME}  # fmt: skip
    one_sided = [
        name for name, match in zip(operations.names, operations.match, strict=True)
        if match in (Match.BASE_ONLY, Match.TARGET_ONLY)
    ]  # fmt: skip
    assert both.isdisjoint(one_sided)
    if not lacking:
        assert len(both) >= 30


def test_what_one_side_did_not_record_is_said(tmp_path: Path) -> None:
    base = small_run(tmp_path / "a.sqlite", 1, wrapped=False)
    work = Workload(tmp_path / "b.sqlite")
    work.range("forward", 10, 90)
    work.export.close()
    found = side_by_side(base, work.path)
    assert found.paths.missing[Metric.GPU] == "target: no GPU work was recorded"
    assert Metric.GPU not in found.paths.metrics
    assert Metric.HOST in found.paths.metrics
    assert found.kernels.lacking == "the target has no GPU work"
    assert found.operations.lacking == "neither trace has operators"
