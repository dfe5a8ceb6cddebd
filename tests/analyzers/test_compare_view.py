"""Rows of two traces side by side as a view shows them."""

from __future__ import annotations

import pytest

from dctx.analyzers.change import Status
from dctx.analyzers.compare_order import Order
from dctx.analyzers.compare_view import CompareView
from dctx.analyzers.side_by_side import Match
from dctx.queries.metric import Metric
from tests.analyzers.made_costs import side_by_side

BASE = """
main 10
 load 500
  read 100
 step 20
  forward 100
   k:gemm 1000
  old_sampler 60
  idle 0
"""
TARGET = """
main 10
 load 500
  read 70
 step 20
  forward 100
   k:gemm 1900
  new_broadcast 80
  idle 0
"""
STEPS = [0.99, 1.01] * 10


@pytest.fixture
def view() -> CompareView:
    return CompareView(side_by_side(BASE, TARGET, STEPS), Metric.GPU)


def names(view: CompareView) -> list[str]:
    return [row.name for row in view.rows(0, view.row_count())]


def test_the_root_is_open_and_the_largest_change_comes_first(view: CompareView) -> None:
    assert names(view) == ["main", "step", "load"]
    view.expand_all()
    assert names(view) == [
        "main", "step", "forward", "gemm", "new_broadcast", "old_sampler", "idle", "load", "read",
    ]  # fmt: skip
    view.sort(Order.TREE, descending=True)
    assert names(view)[:3] == ["main", "load", "read"]
    view.sort(Order.BASE)
    assert names(view)[1] == "step"
    view.sort(Order.BASE, descending=False)
    assert names(view)[1] == "load"


def test_a_row_has_both_sides(view: CompareView) -> None:
    view.expand_all()
    rows = {row.name: row for row in view.rows(0, 20)}
    gemm = rows["gemm"]
    assert (gemm.base, gemm.target, gemm.delta, gemm.percent, gemm.ratio) == (
        1000, 1900, 900, 90, 1.9,
    )  # fmt: skip
    assert gemm.interval is not None
    assert gemm.within_noise is False
    assert (gemm.status, gemm.note, gemm.depth, gemm.state) == (Status.REGRESSION, "", 3, "leaf")
    new, gone = rows["new_broadcast"], rows["old_sampler"]
    assert (new.base, new.target, new.note, new.status) == (None, 80, "new", Status.NEW)
    assert (gone.base, gone.target, gone.note, gone.status) == (60, None, "gone", Status.REMOVED)
    assert new.percent is None


def test_swapped_everything_is_the_other_way_round(view: CompareView) -> None:
    view.expand_all()
    before = {row.node: row for row in view.rows(0, 20)}
    view.swap()
    after = {row.node: row for row in view.rows(0, 20)}
    assert len(after) == len(before)
    for node, row in before.items():
        other = after[node]
        assert (other.base, other.target) == (row.target, row.base)
        assert (other.delta, other.delta_self) == (-row.delta, -row.delta_self)
        assert (other.base_self, other.target_self) == (row.target_self, row.base_self)
        assert other.interval == row.interval
    gone = next(row for row in after.values() if row.name == "new_broadcast")
    assert (gone.how, gone.note, gone.status) == (Match.BASE_ONLY, "gone", Status.REMOVED)
    view.swap()
    assert {row.node: row for row in view.rows(0, 20)} == before


def test_changes_one_after_the_other(view: CompareView) -> None:
    # step and forward hand nearly all of their change on to gemm, load hands its on to read.
    order = ["gemm", "main", "new_broadcast", "old_sampler", "read", "gemm"]
    row, seen = -1, list[str]()
    for _ in order:
        found = view.next_change(row)
        assert found is not None
        row = found
        seen.append(view.rows(row, 1)[0].name)
    assert seen == order
    back = view.next_change(row, forward=False)
    assert back is not None
    assert view.rows(back, 1)[0].name == "read"


def test_nothing_changed() -> None:
    view = CompareView(side_by_side(BASE, BASE, STEPS), Metric.GPU)
    assert view.next_change(0) is None
    assert view.hide_noise(True) == len(view.sides)
    assert view.row_count() == 0
    assert view.next_change(0) is None


def test_noise_hides_and_comes_back(view: CompareView) -> None:
    view.expand_all()
    everything = names(view)
    assert view.hide_noise(True) == 1
    assert names(view) == [name for name in everything if name != "idle"]
    view.hide_noise(False)
    assert names(view) == everything


def test_filter_shows_both_names_and_opens_the_way() -> None:
    view = CompareView(side_by_side(BASE, BASE.replace("forward", "forwards")), Metric.GPU)
    assert view.filter("FORWARDS") == 1
    assert names(view)[:3] == ["main", "step", "forwards"]
    assert view.filter("nowhere") == 0
    assert view.next_match(0) is None
    assert view.filter("e") > 1
    row = view.next_match(0)
    assert row is not None
    assert view.rows(row, 1)[0].match
    view.filter("")
    assert view.filter_text == ""
    assert names(view)[:2] == ["main", "load"]


def test_folding(view: CompareView) -> None:
    step = view.node_at(1)
    view.expand(step)
    assert view.row_count() == 7
    assert view.parent(step) == view.node_at(0)
    view.toggle(step)
    assert view.row_of(step) == 1
    assert view.row_count() == 3
    view.expand_subtree(step)
    assert view.row_count() == 8
    view.collapse_all()
    assert view.row_count() == 1
    with pytest.raises(IndexError):
        view.node_at(1)
    with pytest.raises(KeyError):
        view.show(Metric.HOST)
