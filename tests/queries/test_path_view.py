"""Rows of the call-path view: folding, order, filter, limit, matches, bottom-up."""

import pytest

from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.paths import CallTree
from dctx.queries.pathview import PathView
from dctx.queries.trace import Trace


@pytest.fixture
def view(small: Trace) -> PathView:
    return CallTree.load(small).top_down()


def _names(view: PathView) -> list[str]:
    return [row.name for row in view.rows(0, view.row_count())]


def _nodes(view: PathView) -> list[int]:
    return [row.node for row in view.rows(0, view.row_count())]


def test_only_the_root_is_open_at_first(view: PathView) -> None:
    assert _names(view) == ["run.sqlite", "python3"]
    assert [row.state for row in view.rows(0, 2)] == ["open", "closed"]


def test_children_are_sorted_by_gpu_time(view: PathView) -> None:
    view.expand_all()
    assert _nodes(view) == [0, 1, 2, 3, 4, 6, 5, 7, 8, 9, 10, 11, 12, 13]
    view.sort(Metric.GPU, descending=False)
    assert _nodes(view) == [0, 1, 12, 13, 2, 9, 10, 11, 3, 7, 8, 4, 5, 6]
    view.sort(Metric.HOST)
    assert _nodes(view)[:4] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="samples"):
        view.sort(Metric.SAMPLES)


def test_row_values(view: PathView) -> None:
    view.expand_all()
    step, launch, nccl = view.rows(3, 3)
    assert (step.name, step.depth, step.state, step.layer) == ("step", 3, "open", Layer.ANNOTATION)
    assert (step.gpu_ns, step.gpu_self_ns, step.share, step.mean_ns) == (750, 0, 0.75, 375.0)
    assert (step.host_ns, step.host_self_ns, step.calls, step.launches) == (500, 300, 2, 3)
    assert (launch.kernels, launch.samples, launch.match) == (3, None, False)
    assert (nccl.state, nccl.gpu_self_ns, nccl.calls) == ("leaf", 400, 1)
    assert (nccl.host_ns, nccl.launches) == (None, None)
    thread = view.rows(2, 1)[0]
    assert (thread.layer, thread.calls, thread.mean_ns) == (Layer.THREAD, None, None)


def test_share_follows_the_order(view: PathView) -> None:
    view.sort(Metric.HOST_SELF)
    assert view.share_metric == Metric.HOST
    assert view.total == 520
    view.expand_all()
    assert view.rows(3, 1)[0].share == 500 / 520


def test_shares_of_counts_are_of_gpu_time(view: PathView) -> None:
    view.sort(Metric.CALLS)
    assert view.share_metric == Metric.GPU


def test_folding(view: PathView) -> None:
    view.expand(1)
    view.expand(2)
    assert _nodes(view) == [0, 1, 2, 3, 9, 12]
    view.toggle(3)
    assert _nodes(view) == [0, 1, 2, 3, 4, 7, 9, 12]
    view.collapse(2)
    assert _nodes(view) == [0, 1, 2, 12]
    view.toggle(2)
    assert _nodes(view) == [0, 1, 2, 3, 4, 7, 9, 12]
    view.expand_subtree(9)
    assert _nodes(view) == [0, 1, 2, 3, 4, 7, 9, 10, 11, 12]
    view.collapse_all()
    assert _nodes(view) == [0, 1]
    assert view.reveal(8) == 6
    assert _nodes(view) == [0, 1, 2, 3, 4, 7, 8, 9, 12]


def test_positions(view: PathView) -> None:
    assert view.row_of(5) == -1
    row = view.reveal(5)
    assert view.node_at(row) == 5
    assert view.row_of(5) == row
    assert (view.parent(5), view.source(5), view.find(5)) == (4, 5, 5)
    with pytest.raises(IndexError):
        view.node_at(view.row_count())
    with pytest.raises(IndexError):
        view.node_at(-1)


def test_hot_path_follows_the_heaviest_children(view: PathView) -> None:
    assert view.hot_path() == 6  # nccl: 400 of the launch's 700
    assert view.row_of(6) >= 0
    assert view.hot_path(9) == 11


def test_filter_shows_ways_to_matches(view: PathView) -> None:
    assert view.filter("GEMM") == 3
    assert _nodes(view) == [0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13]
    assert [row.node for row in view.rows(0, 20) if row.match] == [5, 11, 13]
    assert view.filter("no such name") == 0
    assert view.row_count() == 0
    view.filter("")
    assert _nodes(view) == [0, 1]


def test_matches_in_the_order_of_rows(view: PathView) -> None:
    view.filter("gemm")
    row = 0
    visited: list[int] = []
    for _ in range(4):
        found = view.next_match(row)
        assert found is not None
        row = found
        visited.append(view.node_at(row))
    assert visited == [5, 11, 13, 5]
    back = view.next_match(row, forward=False)
    assert back is not None
    assert view.node_at(back) == 13
    view.sort(Metric.GPU, descending=False)
    first = view.next_match(0)
    assert first is not None
    assert view.node_at(first) == 13


def test_a_match_in_a_closed_branch_is_opened(view: PathView) -> None:
    view.filter("gemm")
    view.collapse(2)
    row = view.next_match(0)
    assert row is not None
    assert view.node_at(row) == 5
    view.filter("")
    assert view.next_match(0) is None


def test_limit_hides_small_subtrees(view: PathView) -> None:
    view.expand_all()
    assert view.set_limit(0.2) == 7
    assert _nodes(view) == [0, 1, 2, 3, 4, 6, 5]
    assert view.row_of(12) == -1
    assert view.reveal(12) == -1
    assert view.set_limit(0) == 0
    view.expand_all()
    assert view.row_count() == 14


def test_limit_keeps_folding_and_filter(view: PathView) -> None:
    view.expand(1)
    view.filter("gemm")
    view.set_limit(0.12)
    assert view.match_count() == 2  # 100 of 1000 is under the limit
    assert [row.node for row in view.rows(0, 20) if row.match] == [5, 13]
    view.filter("")
    assert _nodes(view) == [0, 1, 2, 12]
    assert view.node_at(view.reveal(5)) == 5
    assert view.hot_path() == 6


def test_the_limit_follows_the_share_metric(view: PathView) -> None:
    view.set_limit(0.5)
    view.sort(Metric.HOST)
    view.expand_all()
    assert _nodes(view) == [0, 1, 2, 3]  # 260 of 520 is the least: only the step


def test_bottom_up_by_gpu_time(small: Trace) -> None:
    tree = CallTree.load(small)
    view = tree.bottom_up(Metric.GPU)
    assert [(row.name, row.gpu_ns) for row in view.rows(0, 9)] == [
        ("gemm", 550),
        ("ncclAllReduce", 400),
        ("memcpy HtoD", 50),
    ]
    assert view.total == 1000
    gemm = view.rows(0, 1)[0]
    assert (gemm.share, gemm.calls, gemm.kernels, gemm.depth) == (0.55, 4, 4, 0)
    assert gemm.source == 5  # the heaviest of the nodes it stands for
    view.expand(gemm.node)
    callers = view.rows(1, 2)
    assert [(row.name, row.gpu_ns) for row in callers] == [
        ("cudaLaunchKernel", 400),
        ("[launch not recorded]", 150),
    ]
    view.expand(callers[0].node)
    assert [(row.name, row.gpu_ns) for row in view.rows(2, 2)] == [("step", 300), ("Forward", 100)]


def test_bottom_up_by_host_time(small: Trace) -> None:
    view = CallTree.load(small).bottom_up(Metric.HOST)
    assert [(row.name, row.host_self_ns) for row in view.rows(0, 9)] == [
        ("step", 300),
        ("cudaLaunchKernel", 170),
        ("cudaMemcpyAsync", 50),
    ]


def test_bottom_up_can_be_filtered_and_followed(small: Trace) -> None:
    view = CallTree.load(small).bottom_up()
    assert view.filter("forward") == 1
    assert "Forward" in _names(view)
    view.filter("")
    end = view.hot_path()
    assert view.source(end) >= 0
    view.collapse_all()
    assert view.row_count() == 3
