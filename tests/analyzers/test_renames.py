"""What counts as the same under another name, in call paths and in tables of names."""

from __future__ import annotations

import pytest

from dctx.analyzers.side_by_side import Match, SideBySide
from dctx.ingest.model import Layer
from tests.analyzers.made_costs import made_costs, merged

GONE_AND_NEW = {Match.BASE_ONLY, Match.TARGET_ONLY}


def tables(base: str, target: str) -> tuple[SideBySide, SideBySide, SideBySide, SideBySide]:
    """GPU work, operators, API calls, ranges."""
    sides = merged(made_costs(base), made_costs(target))
    return (
        sides.table((Layer.KERNEL,), "GPU work"),
        sides.table((Layer.OP,), "operators"),
        sides.table((Layer.API,), "API calls"),
        sides.table((Layer.ANNOTATION,), "ranges"),
    )


def matches(sides: SideBySide) -> dict[tuple[str | None, str], Match]:
    """By name in the base, None where it is the same, and in the target."""
    return dict(zip(zip(sides.base_names, sides.names, strict=True), sides.match, strict=True))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("aten::mm", "aten::max_pool2d"),
        ("aten::set_", "aten::mul"),
        ("aten::to", "aten::cat"),
        ("aten::contiguous", "aten::conv2d"),
        ("autograd::engine::evaluate_function: TBackward0",
         "autograd::engine::evaluate_function: ViewBackward0"),
        ("c:cudaDeviceGetAttribute", "c:hipStreamGetDevice"),
        ("c:cudaStreamSynchronize", "c:hipStreamWaitEvent"),
        ("c:cuLaunchKernel", "c:cudaGraphLaunch"),
        ("r:prefill: load", "r:prefill: store"),
        ("r:attention forward", "r:attention backward"),
        ("k:nccl_all_reduce", "k:argmax"),
        ("k:fmha_fwd", "k:fmha_bwd"),
        ("k:elementwise_kernel<MulFunctor>", "k:elementwise_kernel<AddFunctor>"),
    ],
)  # fmt: skip
def test_what_only_looks_alike_is_gone_and_new(old: str, new: str) -> None:
    """Though each is the only one in its place."""
    base, target = f"f:main 1\n {old} 50", f"f:main 1\n {new} 70"
    for sides in (merged(made_costs(base), made_costs(target)).tree(), *tables(base, target)):
        assert Match.RENAMED not in sides.match
        assert Match.REPLACED not in sides.match
        if Layer.PYTHON not in sides.layer and len(sides):
            assert set(sides.match) == GONE_AND_NEW


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("aten::cudnn_batch_norm", "aten::native_batch_norm"),
        ("CudnnBatchNormBackward0", "NativeBatchNormBackward0"),
        ("aten::relu", "aten::relu_"),
        ("c:cudaLaunchKernel", "c:cudaLaunchKernelExC"),
        ("r:prepare inputs", "r:prepare all inputs"),
        ("k:elementwise_kernel<MulFunctor>", "k:elementwise_kernel_manual_unroll<MulFunctor>"),
    ],
)
def test_a_name_with_words_in_common_at_the_same_place_is_renamed(old: str, new: str) -> None:
    base, target = f"f:main 1\n {old} 50", f"f:main 1\n {new} 70"
    names = (
        old.removeprefix(old[:2] if old[1] == ":" else ""),
        new.removeprefix(new[:2] if new[1] == ":" else ""),
    )
    tree = merged(made_costs(base), made_costs(target)).tree()
    assert matches(tree)[names] is Match.RENAMED
    [found] = [sides for sides in tables(base, target) if len(sides)]
    assert matches(found) == {names: Match.RENAMED}


def test_words_in_common_at_other_places_are_gone_and_new() -> None:
    base = "f:main 1\n f:load 2\n  r:prepare inputs 50\n f:run 3"
    target = "f:main 1\n f:load 2\n f:run 3\n  r:prepare all inputs 50"
    ranges = tables(base, target)[3]
    assert set(ranges.match) == GONE_AND_NEW


def test_a_table_follows_nearly_all_places() -> None:
    places = [f"f:{chr(ord('a') + n)} 1\n  aten::relu 5" for n in range(10)]
    base = "\n ".join(["f:main 1", *places])
    renamed = base.replace("relu", "relu_")
    assert matches(tables(base, renamed)[1]) == {("aten::relu", "aten::relu_"): Match.RENAMED}
    nine = renamed.replace("relu_", "selu_tanh", 1)
    assert matches(tables(base, nine)[1])["aten::relu", "aten::relu_"] is Match.RENAMED
    # Two in the place of one: neither is an improvement of it.
    eight = nine.replace("relu_", "selu_tanh", 1)
    assert set(tables(base, eight)[1].match) == GONE_AND_NEW


VENDORS = """
f:main 1
 aten::mm 2
  c:LAUNCH 3
   k:GEMM 100
"""


@pytest.mark.parametrize(
    "call", ["cudaLaunchKernel", "hipExtModuleLaunchKernel", "LaunchOther", "cudaGraphLaunch"]
)
def test_another_kernel_of_the_same_operator(call: str) -> None:
    base = VENDORS.replace("LAUNCH", "cudaLaunchKernel").replace("GEMM", "sm90_xmma_gemm_bf16")
    target = VENDORS.replace("LAUNCH", call).replace("GEMM", "Cijk_Alik_Bljk_B")
    names = ("sm90_xmma_gemm_bf16", "Cijk_Alik_Bljk_B")
    for old, new, pair in ((base, target, names), (target, base, (names[1], names[0]))):
        tree = merged(made_costs(old), made_costs(new)).tree()
        assert matches(tree)[pair] is Match.REPLACED
        kernels, operators, _, _ = tables(old, new)
        assert matches(kernels) == {pair: Match.REPLACED}
        assert set(operators.match) == {Match.SAME}


@pytest.mark.parametrize(
    "target",
    [
        # Without an operator nothing says that it is the same work.
        VENDORS.replace(" aten::mm 2", " f:launch_all 2"),
        # Nor where it is another operator,
        VENDORS.replace("aten::mm", "aten::bmm"),
        # or one of several.
        VENDORS + "   k:splitk_reduce 10\n",
    ],
)
def test_kernels_of_other_work_are_gone_and_new(target: str) -> None:
    base = VENDORS.replace(" aten::mm 2", " f:launch_all 2") if "launch_all" in target else VENDORS
    base = base.replace("GEMM", "sm90_xmma_gemm_bf16")
    kernels = tables(base, target.replace("GEMM", "Cijk_Alik_Bljk_B"))[0]
    assert set(kernels.match) == GONE_AND_NEW


def test_a_function_is_known_by_what_it_calls() -> None:
    base = "f:main 1\n f:mlp 2\n  aten::linear 3\n   k:gemm 100\n  aten::gelu 3\n   k:gelu 40"
    tree = merged(made_costs(base), made_costs(base.replace("f:mlp", "f:feed_forward"))).tree()
    assert matches(tree)["mlp", "feed_forward"] is Match.RENAMED
