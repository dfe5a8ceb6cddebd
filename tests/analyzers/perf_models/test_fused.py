"""Mixtures of experts, fused operators and generated kernels against figures by hand."""

import pytest

from dctx.analyzers.perf_models.perf import NotKnownError
from dctx.analyzers.perf_models.triton import fused_operators
from tests.analyzers.perf_models.calls import (
    BF16,
    FLOAT,
    FP8,
    LONG,
    NONE,
    Argument,
    numbers,
    perf,
    scalar,
    tensor,
)
from tests.near import near

EXPERTS = 8 * (1 - (6 / 8) ** 4)
"""That 4 tokens with 2 of 8 experts each reach on average."""


def test_a_fused_mixture_of_experts() -> None:
    """M 4, K 16, N 32, E 8, k 2, gated: 2·M·K·N·k·3 + M·K·3."""
    found = perf("vllm::rocm_aiter_fused_moe", tensor(4, 16), tensor(8, 64, 16),
                 tensor(8, 16, 32), tensor(4, 2, dtype=FLOAT))  # fmt: skip
    assert found.flops == 2 * 4 * 16 * 32 * 2 * 3 + 4 * 16 * 3
    assert found.bytes == near(2 * 64 * 2 + EXPERTS * 16 * 32 * 2 * 3)
    assert found.params["gated"] is True
    plain = perf("vllm::rocm_aiter_fused_moe", tensor(4, 16), tensor(8, 32, 16),
                 tensor(8, 16, 32), tensor(4, 2, dtype=FLOAT))  # fmt: skip
    assert plain.flops == 2 * 4 * 16 * 32 * 2 * 2 + 4 * 16 * 3


def test_the_stages_of_a_mixture() -> None:
    """Up: 2·M·K·N·k·g, the result (M, k, N); down: 2·M·N·K·k, the result (M, K)."""
    weights = (tensor(8, 64, 16), tensor(8, 16, 32), NONE, NONE, NONE)
    up = perf("aiter::ck_moe_stage1", tensor(4, 16), *weights, tensor(4, 2, 32), scalar(2))
    assert up.flops == 2 * 4 * 16 * 32 * 2 * 2
    assert up.bytes == near(128 + EXPERTS * 2 * 512 * 2 + 4 * 32 * 2 * 2)
    down = perf("aiter::ck_moe_stage2", tensor(4, 2, 32), *weights, tensor(4, 16), scalar(2))
    assert down.flops == 2 * 4 * 16 * 32 * 2
    assert down.bytes == near(4 * 32 * 2 * 2 + EXPERTS * 512 * 2 + 128)


def test_experts_whose_weights_do_not_fit_are_not_known() -> None:
    with pytest.raises(NotKnownError, match="do not fit"):
        perf("aiter::ck_moe_stage1", tensor(4, 16), tensor(8, 40, 16), tensor(8, 16, 32),
             NONE, NONE, NONE, tensor(4, 2, 32), scalar(2))  # fmt: skip


def test_tokens_sent_to_experts_are_moved_once() -> None:
    found = perf("MoEDispatch", tensor(6, 16))
    assert (found.flops, found.bytes) == (0, 192)


def test_rotary_embeddings() -> None:
    """q (4, 32), k (4, 8): 160 elements, 3 operations each."""
    found = perf("sgl_kernel::rotary_embedding", tensor(4, dtype=LONG), tensor(4, 32),
                 tensor(4, 8), scalar(8), tensor(100, 8), scalar(True))  # fmt: skip
    assert (found.flops, found.bytes) == (480, 640)


def test_cross_entropy() -> None:
    found = perf("LigerCrossEntropyFunction", tensor(6, 100), tensor(6, dtype=LONG))
    assert (found.flops, found.bytes) == (5 * 600, 1200 + 72)


def test_state_space_layers() -> None:
    """B 2, T 8, H 4, P 8, G 1, N 16: combined 2·32 + 4 + 32 = 100; channels 32 + 32, width 4."""
    vector = tensor(4)
    arguments: list[Argument] = [tensor(2, 8, 100), tensor(64, 4), tensor(64), vector, vector,
                                 vector, scalar(4), *[NONE] * 9, scalar(8), scalar(1)]  # fmt: skip
    found = perf("MambaSplitConv1dScanCombinedFn", *arguments)
    assert found.params["N"] == 16
    assert found.flops == (
        2 * 2 * 64 * 8 * 4 + 2 * 2 * 1 * 8 * 4 * 16 + 2 * 2 * 4 * 8 * 4 * 8 + 4 * 2 * 4 * 8 * 16 * 8
    )
    assert found.bytes == 2 * (1600 + 256 + 64 + 12 + 512)
    conv = perf("CausalConv1dFn", tensor(2, 6, 8), tensor(6, 4), tensor(6))
    assert (conv.flops, conv.bytes) == (2 * 2 * 6 * 8 * 4, 2 * (96 + 96 + 24 + 6))


def test_quantisation() -> None:
    """(4, 128) in groups of 64: 8 scales of 4 bytes. Four bits: half a byte, a byte of 32."""
    found = perf("_C::per_token_group_fp8_quant", tensor(4, 128), tensor(4, 128, dtype=FP8),
                 tensor(4, 2, dtype=FLOAT), scalar(64))  # fmt: skip
    assert (found.flops, found.bytes) == (6 * 512, 1024 + 512 + 32)
    reverse = perf("_C::dynamic_per_token_scaled_fp8_quant", tensor(4, 128, dtype=FP8),
                   tensor(4, 128), tensor(4, 1, dtype=FLOAT))  # fmt: skip
    assert reverse.bytes == 1024 + 512 + 16
    micro = perf("aiter::dynamic_mxfp4_quant", tensor(4, 128))
    assert (micro.flops, micro.bytes) == (1024, 1024 + 256 + 16)


def test_collectives_of_serving_engines() -> None:
    reduced = perf("vllm::all_reduce", tensor(8, 4), numbers())
    assert (reduced.flops, reduced.bytes) == (0, 128)
    gathered = perf("vllm::all_gather", tensor(8, 4), scalar(0), scalar(4))
    assert gathered.bytes == 2 * (32 + 128)
    scattered = perf("vllm::reduce_scatter", tensor(8, 4), scalar(0), scalar(4))
    assert scattered.bytes == 2 * (32 + 8)


def test_names_of_generated_kernels_are_taken_apart_longest_first() -> None:
    assert fused_operators("_unsafe_view_mul_silu") == ("_unsafe_view", "mul", "silu")
    assert fused_operators("native_layer_norm_backward_sum") == ("native_layer_norm_backward",
                                                                 "sum")  # fmt: skip
    assert fused_operators("add_frobnicate") is None


def test_a_pointwise_kernel_reads_its_tensors_and_writes_over_one() -> None:
    """100 elements of mul (1) and silu (4); two tensors of bf16, and one more written."""
    found = perf("triton_poi_fused__unsafe_view_mul_silu_2", tensor(10, 10), tensor(100),
                 scalar(100))  # fmt: skip
    assert (found.flops, found.bytes) == (500, 2 * 200 + 200)
    assert found.note.startswith("estimate")


def test_a_reduction_kernel_has_two_extents_and_counts_every_type() -> None:
    """8 rows of 16: add, mean, mul 1 each, pow, rsqrt 2: 7; fp32 input, bf16 result."""
    found = perf("triton_red_fused_add_mean_mul_pow_rsqrt_0", tensor(8, 16, dtype=FLOAT),
                 tensor(8, 16), scalar(8), scalar(16))  # fmt: skip
    assert (found.flops, found.bytes) == (7 * 128, 512 + 256)
    assert found.precision == "fp32"


def test_unknown_operators_leave_flops_blank() -> None:
    found = perf("triton_poi_fused_frobnicate_0", tensor(10), scalar(10))
    assert found.flops is None
    assert found.bytes == 40
    assert "name" in found.note
    with pytest.raises(NotKnownError, match="numbers of elements"):
        perf("triton_red_fused_add_0", tensor(10), scalar(10))


def test_as_tracelens_counts_them() -> None:
    """Tensors of two bytes only, and their own name of the precision."""
    found = perf("triton_red_fused_add_mean_0", tensor(8, 16, dtype=FLOAT), tensor(8, 16),
                 scalar(8), scalar(16), compat=frozenset({"D26"}))  # fmt: skip
    assert (found.flops, found.bytes, found.precision) == (256, 256, "bfloat16")
    assert BF16 == "c10::BFloat16"
