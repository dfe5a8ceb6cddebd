"""The call-path tree of the small store: columns, names, details."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from dctx.ingest.model import GpuKind, Layer
from dctx.queries.metric import Metric
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from tests.queries.conftest import SMALL

STEP, LAUNCH, GEMM, COPY, FORWARD, ORPHAN = 3, 4, 5, 8, 9, 13


def test_inclusive_and_exclusive(small: Trace) -> None:
    tree = CallTree.load(small)
    assert tree.size == 14
    assert tree.values(Metric.GPU).tolist() == [
        *(1000, 1000, 850, 750, 700, 300, 400, 50, 50, 100, 100, 100, 150, 150)
    ]
    assert int(tree.values(Metric.GPU_SELF).sum()) == 1000
    assert tree.value(STEP, Metric.HOST) == 500
    assert tree.value(STEP, Metric.HOST_SELF) == 300
    assert tree.value(STEP, Metric.LAUNCHES) == 3
    assert tree.value(STEP, Metric.KERNELS) == 3
    assert tree.value(STEP, Metric.CALLS) == 2
    assert tree.value(GEMM, Metric.CALLS) == 2  # executions
    assert tree.value(0, Metric.BYTES) == 1024
    assert tree.values(Metric.MEAN)[STEP] == 375.0


def test_one_device(small: Trace) -> None:
    tree = CallTree.load(small, device=1)
    assert tree.value(0, Metric.GPU) == 550
    assert tree.value(STEP, Metric.GPU) == 400
    assert tree.value(STEP, Metric.HOST) == 500  # the host has no device


def test_names(small: Trace) -> None:
    tree = CallTree.load(small)
    assert tree.path(GEMM) == (0, 1, 2, 3, 4, 5)
    assert tree.names(GEMM) == ("python3", "thread 7", "step", "cudaLaunchKernel", "gemm")
    assert (tree.name(FORWARD), tree.file(FORWARD), tree.line(FORWARD)) == ("Forward", "lib.so", 42)
    assert tree.layer(ORPHAN) is Layer.KERNEL
    assert (tree.file(STEP), tree.line(STEP)) == (None, None)


def test_what_was_not_measured_is_absent(small: Trace) -> None:
    tree = CallTree.load(small)
    assert Metric.SAMPLES not in tree.available
    assert tree.value(0, Metric.SAMPLES) is None
    with pytest.raises(KeyError):
        tree.values(Metric.SAMPLES)
    with pytest.raises(ValueError, match="samples"):
        tree.bottom_up(Metric.SAMPLES)


def test_an_empty_store_has_an_empty_tree(empty: Trace) -> None:
    tree = CallTree.load(empty)
    assert tree.size == 0
    assert tree.available == frozenset()
    view = tree.top_down()
    assert (view.row_count(), view.rows(0, 10), view.hot_path(), view.total) == (0, [], -1, None)


def test_detail_of_a_context(small: Trace) -> None:
    tree = CallTree.load(small)
    detail = node_detail(small, tree, STEP)
    assert detail.names == ("python3", "thread 7", "step")
    assert detail.gpu_ns == 750
    assert [(op.name, op.sum_ns, op.count, op.comm) for op in detail.ops] == [
        ("ncclAllReduce", 400, 1, True),
        ("gemm", 300, 2, False),
        ("memcpy HtoD", 50, 1, False),
    ]
    assert detail.ops[1].share == 0.4
    assert detail.ops[2].kind is GpuKind.MEMCPY
    assert detail.calls is not None
    assert (detail.calls.count, detail.calls.mean_ns, detail.calls.stddev_ns) == (2, 250.0, 50.0)
    assert [(host.name, host.calls, host.self_ns) for host in detail.host] == [
        ("step", 2, 300),
        ("cudaLaunchKernel", 3, 150),
        ("cudaMemcpyAsync", 1, 50),
    ]
    assert detail.shapes is not None
    assert sum(shape.count for shape in detail.shapes) == 3
    assert detail.histogram is not None
    assert sum(detail.histogram.counts) == 3


def test_a_kernel_tells_its_full_names(small: Trace) -> None:
    tree = CallTree.load(small)
    gemm, nccl = (node_detail(small, tree, node) for node in (5, 6))
    assert [(name.text, name.count, name.sum_ns) for name in gemm.full_names] == [
        ("void gemm<float>(int)", 2, 300)
    ]
    assert nccl.full_names == node_detail(small, tree, STEP).full_names == []


def test_an_annotation_tells_its_payloads(small: Trace) -> None:
    payloads = """
        INSERT INTO string VALUES (13, '{"size": 8}'), (14, '{"size": 4}');
        INSERT INTO host_event (id, kind, lane, start_ns, dur_ns, name, node, open) VALUES
          (0, 0, 0, 0, 100, 3, 3, false), (1, 0, 0, 200, 50, 3, 3, false),
          (2, 0, 0, 300, 700, 3, 3, true), (3, 0, 0, 90, 5, 11, 9, false);
        INSERT INTO event_payload VALUES (0, 14), (1, 13), (2, 13), (3, 13);
        """
    with small.store.cursor() as cursor:
        cursor.execute(payloads)
    detail = node_detail(small, CallTree.load(small), STEP)
    assert [(p.text, p.count, p.sum_ns) for p in detail.payloads] == [
        ('{"size": 8}', 2, 50),
        ('{"size": 4}', 1, 100),
    ]


def test_detail_on_one_device(small: Trace) -> None:
    detail = node_detail(small, CallTree.load(small, device=0), LAUNCH)
    assert [op.name for op in detail.ops] == ["gemm"]
    assert detail.ops[0].share == 1.0


def test_detail_while_events_load(small: Trace) -> None:
    small.store.events_ready = False
    detail = node_detail(small, CallTree.load(small), COPY)
    assert (detail.shapes, detail.histogram) == (None, None)
    assert [op.name for op in detail.ops] == ["memcpy HtoD"]
    assert detail.calls is None


def test_samples_are_not_known_where_nothing_sampled(
    build: Callable[[str], AbstractContextManager[Trace]],
) -> None:
    """Importers write 0 to each host context, with and without samples in the trace."""
    for sampled in (0, 2):
        with build(f"{SMALL} UPDATE path_metric SET samples = {sampled} WHERE node = 4;") as trace:
            assert (Metric.SAMPLES in CallTree.load(trace).measured) is (sampled > 0)
