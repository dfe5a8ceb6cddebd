"""Totals by name, callers, shapes and histograms of a hand-made store."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from dctx.ingest.model import GpuKind
from dctx.queries.kernels import (
    OpSelection,
    callers,
    duration_histogram,
    launch_shapes,
    op_stats,
    top_kernels,
)
from dctx.queries.ops import OpRef, ops_at
from dctx.queries.trace import NotReadyError, Trace

GEMM, NCCL = 5, 6


def test_op_stats_sum_over_devices(small: Trace) -> None:
    gemm, nccl, copy = op_stats(small)
    assert (gemm.name, gemm.kind, gemm.comm) == ("gemm", GpuKind.KERNEL, False)
    assert (gemm.count, gemm.sum_ns, gemm.min_ns, gemm.max_ns) == (4, 550, 100, 200)
    assert gemm.mean_ns == 137.5
    assert round(gemm.stddev_ns or 0.0, 4) == 41.4578  # of 100, 200, 100, 150
    assert gemm.share == 0.55
    assert gemm.bytes is None
    assert (nccl.name, nccl.comm, nccl.stddev_ns) == ("ncclAllReduce", True, 0.0)
    assert (copy.kind, copy.bytes, copy.share) == (GpuKind.MEMCPY, 1024, 0.05)


def test_op_stats_of_one_device(small: Trace) -> None:
    assert [(op.name, op.sum_ns) for op in op_stats(small, device=1)] == [
        ("ncclAllReduce", 400),
        ("gemm", 150),
    ]


def test_waits_have_no_share(small: Trace) -> None:
    [wait] = op_stats(small, kinds=(GpuKind.SYNC,))
    assert (wait.sum_ns, wait.share) == (900, None)


def test_operations_at_an_instant(small: Trace) -> None:
    first = OpRef(0, 0, "gemm", 100, 200, 1, None, 5)  # the store holds no host event
    last = OpRef(2, 0, "gemm", 600, 700, 5, None, 11)
    assert ops_at(small, 0, starts=[100, 200, 601], ends=[700]) == [first, last]
    assert ops_at(small, 0, starts=[100], ends=[200]) == [first], "once, though both are asked"
    assert ops_at(small, 0, ends=[250, 900]) == [], "neither copies nor waits"
    assert ops_at(small, 1, starts=[950]) == [OpRef(4, 1, "gemm", 950, 1100, None, None, 13)]


def test_top_kernels_leaves_copies_out(small: Trace) -> None:
    assert [op.name for op in top_kernels(small, 10)] == ["gemm", "ncclAllReduce"]
    assert len(top_kernels(small, 1)) == 1


def test_callers_heaviest_first(small: Trace) -> None:
    found = callers(small, GpuKind.KERNEL, GEMM, 10)
    assert [(c.node, c.names[-1], c.gpu_ns, c.count) for c in found] == [
        (5, "cudaLaunchKernel", 300, 2),
        (13, "[launch not recorded]", 150, 1),
        (11, "cudaLaunchKernel", 100, 1),
    ]
    assert found[2].names == ("python3", "thread 7", "Forward", "cudaLaunchKernel")
    assert round(sum(c.share for c in found), 9) == 1.0
    assert callers(small, GpuKind.SYNC, 8, 10) == []


def test_launch_shapes(small: Trace) -> None:
    small_grid, large_grid = launch_shapes(small, OpSelection(name_id=GEMM), 10)
    assert (small_grid.grid, small_grid.block) == ((8, 1, 1), (128, 1, 1))
    assert (small_grid.registers, small_grid.shared_bytes) == (40, 1024)
    assert (small_grid.count, small_grid.sum_ns) == (3, 350)
    assert (large_grid.count, large_grid.sum_ns) == (1, 200)
    below_step = launch_shapes(small, OpSelection(nodes=(3, 8)), 10)
    assert [(s.registers, s.count, s.sum_ns) for s in below_step] == [(64, 2, 600), (40, 1, 100)]


def test_histogram_counts_everything_once(small: Trace) -> None:
    found = duration_histogram(small, OpSelection(), buckets=4)
    assert found is not None
    assert (found.min_ns, found.p50_ns, found.p99_ns, found.max_ns) == (100, 150, 400, 400)
    assert (found.edges_ns[0], found.edges_ns[-1]) == (100, 401)
    durations = (100, 200, 100, 400, 150)
    pairs = zip(found.edges_ns, found.edges_ns[1:], strict=False)
    assert found.counts == tuple(sum(a <= d < b for d in durations) for a, b in pairs)


def test_histogram_of_equal_durations_is_one_bucket(small: Trace) -> None:
    found = duration_histogram(small, OpSelection(name_id=NCCL))
    assert found is not None
    assert (found.edges_ns, found.counts) == ((400, 401), (1,))


def test_histogram_of_zero_durations(
    build: Callable[[str], AbstractContextManager[Trace]],
) -> None:
    rows = ",".join(f"({i}, 0, 0, 0, {i}, {ns}, 0)" for i, ns in enumerate((0, 0, 1, 9)))
    columns = "id, kind, device, lane, start_ns, dur_ns, name"
    with build(f"INSERT INTO gpu_op ({columns}) VALUES {rows}") as trace:
        found = duration_histogram(trace, OpSelection())
    assert found is not None
    assert found.edges_ns[0] == 0
    assert sum(found.counts) == 4
    assert found.counts[0] == 2


def test_no_operations_no_histogram(small: Trace) -> None:
    assert duration_histogram(small, OpSelection(kind=GpuKind.GRAPH)) is None


def test_events_being_loaded(small: Trace) -> None:
    small.store.events_ready = False
    assert top_kernels(small, 1)[0].name == "gemm"
    assert callers(small, GpuKind.KERNEL, GEMM, 1)[0].node == 5
    with pytest.raises(NotReadyError):
        launch_shapes(small, OpSelection(), 1)
    with pytest.raises(NotReadyError):
        duration_histogram(small, OpSelection())
