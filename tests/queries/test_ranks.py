"""Ranks of a hand-made PyTorch recording, looked at alone."""

from collections.abc import Generator
from pathlib import Path

import pytest

from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import callers, op_stats, ops_below
from dctx.queries.layers import folded
from dctx.queries.metric import Metric
from dctx.queries.overview import overview
from dctx.queries.paths import CallTree
from dctx.queries.ranks import ranks
from dctx.queries.trace import Trace
from tests.torch_step import GPU_NS, write_ranks, write_step


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Generator[Trace]:
    store = open_trace(write_ranks(tmp_path_factory.mktemp("ranks") / "run"), cache=False)
    yield Trace(store)
    store.close()


def test_ranks_have_their_subtree_and_device(trace: Trace) -> None:
    tree = CallTree.load(trace)
    first, second = ranks(trace, tree)
    assert (first.label, second.label) == ("rank 0", "rank 1")
    assert first.nodes[0] == 1
    assert second.nodes == (first.nodes[1] + 1, tree.size - 1)
    assert (len(first.devices), len(second.devices)) == (1, 1)
    assert set(first.devices).isdisjoint(second.devices)


def test_the_parts_make_up_the_whole(trace: Trace) -> None:
    tree = CallTree.load(trace)
    parts = [folded(tree, frozenset(), [rank.nodes]) for rank in ranks(trace, tree)]
    for metric in tree.own:
        sums = [int(part.own[metric].sum()) for part in parts]
        assert sum(sums) == int(tree.own[metric].sum())
    assert [int(part.table.values[Metric.GPU][0]) for part in parts] == [GPU_NS, GPU_NS]
    # What belongs to another rank has no row.
    assert parts[0].top_down().find(tree.size - 1) == -1


def test_kernels_and_overview_of_one(trace: Trace) -> None:
    tree = CallTree.load(trace)
    rank = ranks(trace, tree)[1]
    [gemm, *_] = ops_below(trace, rank.nodes, kinds=(GpuKind.KERNEL,))
    [both, *_] = op_stats(trace, kinds=(GpuKind.KERNEL,))
    assert (gemm.name, gemm.count, gemm.sum_ns) == ("gemm", 2, 70_000)
    assert (both.name, both.count, both.sum_ns) == ("gemm", 4, 140_000)
    assert gemm.share == both.share == 70 / 82
    [own] = callers(trace, GpuKind.KERNEL, gemm.name_id, 10, nodes=rank.nodes)
    assert (own.share, own.gpu_ns) == (1.0, 70_000)
    assert len(callers(trace, GpuKind.KERNEL, gemm.name_id, 10)) == 2

    one = overview(trace, 10, rank)
    assert [time.device for time in one.devices] == list(rank.devices)
    assert sum(kernel.sum_ns for kernel in one.kernels) == GPU_NS
    assert round(sum(path.share for path in one.paths), 9) == 1
    assert sum(path.gpu_ns for path in one.paths) == GPU_NS
    assert [o.gpu_ns for o in one.operators] == [70_000, 7_000, 5_000]


def test_one_process_is_one_rank(tmp_path: Path) -> None:
    store = open_trace(write_step(tmp_path / "t.json"), cache=False)
    trace = Trace(store)
    [only] = ranks(trace, CallTree.load(trace))
    assert only.label == "pid 100"
    store.close()
