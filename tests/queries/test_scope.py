"""The tree and the totals of some windows of time: parts of the whole, which they sum to."""

from collections.abc import Generator
from pathlib import Path

import pytest

from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import GPU_WORK, OpStat, op_stats
from dctx.queries.lanes import processes
from dctx.queries.metric import Metric
from dctx.queries.paths import CallTree, heaviest_nodes
from dctx.queries.scope import TimeScope, scoped_op_stats, scoped_tree
from dctx.queries.trace import Trace
from dctx.tui.demo import demo_trace
from tests.near import near

ALWAYS = 1 << 61
ADDITIVE = (Metric.GPU, Metric.HOST, Metric.CALLS, Metric.LAUNCHES, Metric.KERNELS, Metric.BYTES)


@pytest.fixture(scope="module")
def trace(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        store = open_trace(demo_trace())
        yield Trace(store)
        store.close()


def scope(*windows: tuple[int | None, int, int]) -> TimeScope:
    return TimeScope("some steps", windows)


def key(op: OpStat) -> tuple[int, int]:
    return op.kind, op.name_id


@pytest.mark.parametrize("device", [None, 0, 1])
def test_all_time_is_the_whole(trace: Trace, device: int | None) -> None:
    everything = scope((None, -ALWAYS, ALWAYS))
    whole, same = CallTree.load(trace, device), scoped_tree(trace, everything, device)
    assert same.available == whole.available
    for metric in whole.available:
        assert (same.values(metric) == whole.values(metric)).all(), metric
    assert sorted(scoped_op_stats(trace, everything, device=device), key=key) == sorted(
        op_stats(trace, kinds=GPU_WORK, device=device), key=key
    )


def test_windows_that_meet_sum_to_the_whole(trace: Trace) -> None:
    edge = 700_000_000
    parts = [scoped_tree(trace, scope((None, *span))) for span in ((-ALWAYS, edge), (edge, ALWAYS))]
    whole = CallTree.load(trace)
    for metric in ADDITIVE:
        first, second = (part.values(metric) for part in parts)
        assert (first + second == whole.values(metric)).all(), metric
        assert first.sum() > 0
        assert second.sum() > 0


def test_a_window_belongs_to_its_process(trace: Trace) -> None:
    one, other = sorted(processes(trace))
    spans = (500_000_000, 900_000_000)
    alone = [scoped_tree(trace, scope((p, *spans))).values(Metric.GPU)[0] for p in (one, other)]
    both = scoped_tree(trace, scope((one, *spans), (other, *spans))).values(Metric.GPU)[0]
    assert all(alone)
    assert sum(alone) == both == scoped_tree(trace, scope((None, *spans))).values(Metric.GPU)[0]


def test_shares_are_of_the_scope(trace: Trace) -> None:
    ops = scoped_op_stats(trace, scope((None, 600_000_000, 610_000_000)))
    assert sum(op.share or 0.0 for op in ops) == near(1.0)
    assert [op.sum_ns for op in ops] == sorted((op.sum_ns for op in ops), reverse=True)
    kernels = scoped_op_stats(
        trace, scope((None, 600_000_000, 610_000_000)), kinds=(GpuKind.KERNEL,)
    )
    assert kernels == [op for op in ops if op.kind is GpuKind.KERNEL]


def test_an_empty_scope(trace: Trace) -> None:
    nothing = scope((None, 0, 0))
    assert scoped_op_stats(trace, nothing) == []
    tree = scoped_tree(trace, nothing)
    assert tree.values(Metric.GPU)[0] == 0
    assert tree.size == CallTree.load(trace).size


def test_the_heaviest_context_of_a_name(trace: Trace) -> None:
    tree = CallTree.load(trace)
    found = heaviest_nodes(trace, ["_sample_async", "nowhere", "_sample_async"])
    assert found.keys() == {"_sample_async"}
    node = found["_sample_async"]
    assert tree.name(node) == "_sample_async"
    named = [n for n in range(tree.size) if tree.name(n) == "_sample_async"]
    assert len(named) > 2
    assert node == max(named, key=lambda n: int(tree.values(Metric.HOST)[n]))
