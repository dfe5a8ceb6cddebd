"""Every answer agrees with every other one, on generated and on recorded traces."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from dctx import demo_data
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.capture import device_times
from dctx.queries.instances import InstanceSort, OpInstances
from dctx.queries.kernels import (
    GPU_WORK,
    OpSelection,
    callers,
    duration_histogram,
    gpu_total,
    launch_shapes,
    op_stats,
)
from dctx.queries.metric import Metric
from dctx.queries.node_detail import node_detail
from dctx.queries.overview import overview
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace

RECORDED = os.environ.get("DCTX_TRACES")
TRACES = [
    *sorted(Path(demo_data.__file__).parent.glob("*.sqlite")),
    *(sorted((Path(RECORDED) / "nsys").glob("*.sqlite")) if RECORDED else []),
]


@pytest.fixture(scope="module", params=TRACES, ids=lambda path: path.name)
def trace(
    request: pytest.FixtureRequest, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        store = open_trace(request.param)
        yield Trace(store)
        store.close()


@pytest.fixture(scope="module")
def tree(trace: Trace) -> CallTree:
    return CallTree.load(trace)


def test_the_root_holds_all_gpu_work(trace: Trace, tree: CallTree) -> None:
    total = gpu_total(trace)
    assert (tree.value(0, Metric.GPU) or 0) == total
    assert sum(op.sum_ns for op in op_stats(trace)) == total
    kernels = [op for op in op_stats(trace) if op.kind is GpuKind.KERNEL]
    assert (tree.value(0, Metric.KERNELS) or 0) == sum(op.count for op in kernels)


def test_devices_add_up(trace: Trace, tree: CallTree) -> None:
    times = device_times(trace)
    for time in times:
        split = time.compute_ns + time.comm_exposed_ns + time.copy_exposed_ns + time.idle_ns
        assert split == time.window_ns
        assert (time.busy_ns or 0) <= time.window_ns
    per_device = [CallTree.load(trace, time.device).value(0, Metric.GPU) or 0 for time in times]
    assert sum(per_device) == (tree.value(0, Metric.GPU) or 0)


def test_callers_add_up_to_the_name(trace: Trace) -> None:
    for op in op_stats(trace)[:3]:
        found = callers(trace, op.kind, op.name_id, 1_000_000)
        assert sum(caller.gpu_ns for caller in found) == op.sum_ns
        assert sum(caller.count for caller in found) == op.count


def test_details_of_the_root_are_those_of_the_trace(trace: Trace, tree: CallTree) -> None:
    detail = node_detail(trace, tree, 0, limit=1_000_000)
    whole = [(op.kind, op.name, op.sum_ns, op.count) for op in op_stats(trace)]
    found = [(op.kind, op.name, op.sum_ns, op.count) for op in detail.ops]
    assert sorted(found) == sorted(whole)


def test_shapes_and_histogram_count_every_kernel(trace: Trace) -> None:
    for op in op_stats(trace, kinds=(GpuKind.KERNEL,))[:3]:
        selection = OpSelection(name_id=op.name_id)
        histogram = duration_histogram(trace, selection)
        assert histogram is not None
        assert sum(histogram.counts) == op.count
        assert (histogram.min_ns, histogram.max_ns) == (op.min_ns, op.max_ns)
        assert sum(shape.count for shape in launch_shapes(trace, selection, 1_000_000)) == op.count


def test_instances_are_all_there_in_order(trace: Trace) -> None:
    table = OpInstances(trace)
    size = table.prepare(InstanceSort.DURATION, descending=True)
    assert size == sum(op.count for op in op_stats(trace, kinds=GPU_WORK))
    rows = [row for first in range(0, size, 5_000) for row in table.page(first, 5_000)]
    durations = [row.dur_ns for row in rows]
    assert durations == sorted(durations, reverse=True)
    assert sum(durations) == gpu_total(trace)


def test_bottom_up_holds_the_same_whole(tree: CallTree) -> None:
    for metric in (Metric.GPU, Metric.HOST, Metric.SAMPLES):
        if metric in tree.available:
            assert tree.bottom_up(metric).total == tree.value(0, metric)


def test_every_node_can_be_shown(tree: CallTree) -> None:
    view = tree.top_down()
    view.expand_all()
    assert view.row_count() == tree.size
    rows = [row for first in range(0, tree.size, 1_000) for row in view.rows(first, 1_000)]
    assert sorted(row.node for row in rows) == list(range(tree.size))
    assert all(len(tree.path(row.node)) == row.depth + 1 for row in rows[:200])


def test_overview_answers(trace: Trace) -> None:
    found = overview(trace)
    assert found.capture.path
    assert len(found.kernels) <= 10
    shares = [path.share for path in found.paths]
    assert shares == sorted(shares, reverse=True)
