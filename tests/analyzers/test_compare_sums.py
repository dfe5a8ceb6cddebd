"""Sums of two trees side by side: whatever was edited, the parts add up to the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dctx.analyzers.side_by_side import Match, SideBySide
from dctx.analyzers.tree_costs import TreeCosts
from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from tests.analyzers.made_costs import costs_of, merged, side_by_side
from tests.near import near

BASE = """
main 10
 load 5
 step 20
  forward 30
   attention 7
    k:gemm_128x128_tn 100
    k:softmax 50
   mlp 9
    k:linear 200
    k:gelu 40
  backward 3
   k:grad_gemm 300
"""
TOTAL = 774
"""Of all costs above."""

PAIRS = {
    "rename": (BASE.replace("mlp", "gated_mlp"), 0),
    "move": (
        BASE.replace("   mlp 9\n    k:linear 200\n    k:gelu 40\n", "")
        + "   mlp 9\n    k:linear 200\n    k:gelu 40\n",
        0,
    ),
    "insert": (BASE.replace(
        "   mlp 9\n    k:linear 200\n    k:gelu 40",
        "   compiled 11\n    mlp 9\n     k:linear 200\n     k:gelu 40",
    ), 11),
    "delete": (BASE.replace(
        "   attention 7\n    k:gemm_128x128_tn 100\n    k:softmax 50",
        "   k:gemm_128x128_tn 100\n   k:softmax 50",
    ), -7),
    "split": (BASE.replace(
        "   mlp 9\n    k:linear 200\n    k:gelu 40",
        "   mlp_in 4\n    k:linear 200\n   mlp_out 6\n    k:gelu 40",
    ), 1),
    "fused": (BASE.replace("    k:linear 200\n    k:gelu 40", "    k:triton_fused_0 190"), -50),
    "order": (BASE.replace(
        "    k:gemm_128x128_tn 100\n    k:softmax 50", "    k:softmax 50\n    k:gemm_128x128_tn 100"
    ), 0),
    "slower": (BASE.replace("k:softmax 50", "k:softmax 80"), 30),
    "tile": (BASE.replace("gemm_128x128_tn 100", "gemm_256x64_tn 90"), -10),
}  # fmt: skip


def check_sums(sides: SideBySide) -> None:
    change = sides.metrics[Metric.GPU]
    roots = sides.parent < 0
    for own, whole in (
        (change.base_self, change.base),
        (change.target_self, change.target),
        (change.delta_self, change.delta),
    ):
        assert own.sum() == whole[roots].sum()
        # Every row is its own part and the rows right below it.
        below = np.zeros(len(sides))
        np.add.at(below, sides.parent[~roots], whole[~roots])
        assert np.array_equal(own + below, whole)
    for row in range(len(sides)):
        inside = slice(row, int(sides.last[row]) + 1)
        assert change.delta_self[inside].sum() == change.delta[row]


@pytest.mark.parametrize("edit", PAIRS)
def test_the_sums_reconcile(edit: str) -> None:
    target, delta = PAIRS[edit]
    sides = side_by_side(BASE, target)
    check_sums(sides)
    change = sides.metrics[Metric.GPU]
    assert (change.base[0], change.target[0]) == (TOTAL, TOTAL + delta)


def cost(sides: SideBySide, name: str) -> tuple[float, float, Match, str]:
    """Base, target, how they were paired, and the row above."""
    row = sides.names.index(name)
    change = sides.metrics[Metric.GPU]
    above = int(sides.parent[row])
    return (
        float(change.base[row]), float(change.target[row]), sides.match[row], sides.names[above],
    )  # fmt: skip


def test_what_moved_is_charged_to_the_nearest_common_caller() -> None:
    sides = side_by_side(BASE, PAIRS["move"][0])
    assert cost(sides, "mlp") == (249, 249, Match.MOVED, "step")
    # Neither of its two callers got slower or faster by it.
    assert cost(sides, "forward")[:2] == (187, 187)
    assert cost(sides, "backward")[:2] == (303, 303)


def test_a_frame_around_others_costs_what_it_costs_itself() -> None:
    sides = side_by_side(BASE, PAIRS["insert"][0])
    assert cost(sides, "compiled") == (0, 11, Match.TARGET_ONLY, "forward")
    assert cost(sides, "mlp") == (249, 249, Match.MOVED, "forward")
    assert cost(sides, "forward")[:2] == (436, 447)


def test_fused_kernels_are_gone_and_their_successor_is_new() -> None:
    sides = side_by_side(BASE, PAIRS["fused"][0])
    assert cost(sides, "linear") == (200, 0, Match.BASE_ONLY, "mlp")
    assert cost(sides, "gelu") == (40, 0, Match.BASE_ONLY, "mlp")
    assert cost(sides, "triton_fused_0") == (0, 190, Match.TARGET_ONLY, "mlp")
    assert cost(sides, "mlp")[:2] == (249, 199)


def test_another_tile_is_the_same_kernel() -> None:
    sides = side_by_side(BASE, PAIRS["tile"][0])
    assert cost(sides, "gemm_256x64_tn") == (100, 90, Match.NORMALISED, "attention")
    assert sides.base_names[sides.names.index("gemm_256x64_tn")] == "gemm_128x128_tn"


def test_steps_tell_chance_from_change() -> None:
    steps = [0.9, 1.1] * 10
    sides = side_by_side(BASE, BASE.replace("k:softmax 50", "k:softmax 80"), steps)
    change = sides.metrics[Metric.GPU]
    row = sides.names.index("softmax")
    # Base 45 or 55, target 72 or 88; sample variances 25·20/19 and 64·20/19, n = 20 each.
    noise = 3 * ((25 + 64) * 20 / 19 / 20) ** 0.5
    assert change.noise[row] == near(noise)
    assert change.delta[row] == 30
    assert not change.within_noise[row]
    assert change.within_noise[0]  # 30 of 774 ± 77 in a step
    assert sides.no_intervals is None
    before, after = sides.steps_of(Metric.GPU, row)
    assert (before[:2].tolist(), after[:2].tolist()) == ([45, 55], [72, 88])
    whole, _ = sides.steps_of(Metric.GPU, 0)
    assert whole.mean() == change.base[0]


def test_too_few_steps_say_so() -> None:
    sides = side_by_side(BASE, BASE, [1, 1, 1])
    assert sides.no_intervals == (
        "the base has 3 steps to compare, 10 are needed; "
        "the target has 3 steps to compare, 10 are needed"
    )
    assert sides.metrics[Metric.GPU].within_noise.all()
    assert side_by_side(BASE, BASE).no_intervals == "one run"


def test_what_is_not_measured_is_not_compared() -> None:
    sides = side_by_side(BASE, BASE)
    assert list(sides.metrics) == [Metric.GPU]
    assert sides.missing[Metric.HOST] == "made by hand"
    with pytest.raises(KeyError):
        sides.metrics[Metric.HOST]


NAMES = ("forward", "gemm_128", "gemm_256", "norm", "copy", "sample")


@st.composite
def trees(draw: st.DrawFn, steps: int) -> TreeCosts:
    size = draw(st.integers(0, 25))
    parent = [-1 if n == 0 else draw(st.integers(-1, n - 1)) for n in range(size)]
    names = [draw(st.sampled_from(NAMES)) for _ in range(size)]
    layers = [draw(st.sampled_from((Layer.OP, Layer.KERNEL))) for _ in range(size)]
    whole = st.lists(st.integers(0, 1000), min_size=size, max_size=size)
    return costs_of(parent, names, layers, [draw(whole) for _ in range(steps)])


@settings(max_examples=60, deadline=None)
@given(data=st.data(), steps=st.sampled_from((1, 12)))
def test_whatever_the_trees(data: st.DataObject, steps: int) -> None:
    old, new = data.draw(trees(steps)), data.draw(trees(steps))
    for parts, turned, same in (
        (m.tree(), t.tree(), s.tree()) if kind == "tree" else
        tuple(x.table((Layer.KERNEL,), "kernels") for x in (m, t, s))
        for m, t, s in [(merged(old, new), merged(new, old), merged(old, old))]
        for kind in ("tree", "table")
    ):  # fmt: skip
        check_reconciled(parts, whole=steps == 1)
        # Swapping the traces negates every change.
        pairs = {
            pair: row
            for row, pair in enumerate(
                zip(turned.target_node.tolist(), turned.base_node.tolist(), strict=True)
            )
        }
        rows = [
            pairs[pair]
            for pair in zip(parts.base_node.tolist(), parts.target_node.tolist(), strict=True)
        ]
        there, back = parts.metrics[Metric.GPU], turned.metrics[Metric.GPU]
        assert np.array_equal(there.delta, -back.delta[rows])
        assert np.array_equal(there.delta_self, -back.delta_self[rows])
        assert np.array_equal(there.noise, back.noise[rows])
        # A trace is the same as itself.
        assert not same.metrics[Metric.GPU].delta.any()
        assert not same.metrics[Metric.GPU].delta_self.any()


def check_reconciled(sides: SideBySide, *, whole: bool) -> None:
    change = sides.metrics[Metric.GPU]
    roots = sides.parent < 0
    tolerance = 0 if whole else 1e-9
    assert change.delta_self.sum() == near(change.delta[roots].sum(), abs=tolerance)
    if whole:
        # Whole numbers add up exactly, in every subtree.
        for row in range(len(sides)):
            inside = slice(row, int(sides.last[row]) + 1)
            assert change.delta_self[inside].sum() == change.delta[row]
