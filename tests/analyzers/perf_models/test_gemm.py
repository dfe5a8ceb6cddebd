"""Matrix products against figures worked out by hand."""

import pytest

from dctx.analyzers.perf_models.gemm import transposes
from dctx.analyzers.perf_models.perf import NotKnownError
from tests.analyzers.perf_models.calls import (
    BF16,
    FLOAT,
    FP8,
    NONE,
    Argument,
    numbers,
    perf,
    scalar,
    tensor,
)


def test_mm_multiplies_and_adds() -> None:
    found = perf("aten::mm", tensor(3, 5), tensor(5, 7))
    assert found.flops == 2 * 3 * 7 * 5 == 210
    assert found.bytes == 2 * (15 + 35 + 21) == 142
    assert found.precision == "bf16"
    assert dict(found.params) == {
        "M": 3, "N": 7, "K": 5, "bias": False, "stride_A": None, "stride_B": None,
        "dtype_A_B": (BF16, BF16), "B": 1,
    }  # fmt: skip


def test_addmm_of_the_data_sheet_example() -> None:
    """2 M N K + M N = 2·40960·6144·1536 + 40960·6144; bytes (M K + K N + M N + N)·2."""
    found = perf("aten::addmm", tensor(6144), tensor(40960, 1536), tensor(1536, 6144), scalar(1))
    assert found.flops == 773_345_771_520
    assert found.bytes == 648_032_256


def test_an_addend_counts_by_its_own_shape_and_not_with_beta_zero() -> None:
    """A (4, 8) by (8, 6): addend (4, 6) in fp32 has 24·4 bytes, not 6."""
    whole = perf("aten::addmm", tensor(4, 6, dtype=FLOAT), tensor(4, 8), tensor(8, 6), scalar(1))
    assert whole.flops == 2 * 4 * 6 * 8 + 24
    assert whole.bytes == 2 * (32 + 48 + 24) + 24 * 4
    without = perf("aten::addmm", tensor(4, 6), tensor(4, 8), tensor(8, 6), scalar(0))
    assert (without.flops, without.bytes) == (384, 208)


def test_bmm_and_baddbmm_repeat_the_product() -> None:
    found = perf("aten::bmm", tensor(10, 3, 5), tensor(10, 5, 7))
    assert (found.flops, found.bytes, found.params["B"]) == (2100, 1420, 10)
    added = perf("aten::baddbmm", tensor(10, 3, 7), tensor(10, 3, 5), tensor(10, 5, 7), scalar(1))
    assert (added.flops, added.bytes) == (2100 + 210, 1420 + 420)


def test_scaled_mm_has_a_bias_and_a_result_of_its_own_type() -> None:
    """fp8 (16, 32) by (32, 64): operands of a byte, bf16 result; 64 bias elements."""
    scales = (tensor(1, dtype=FLOAT), tensor(1, dtype=FLOAT))
    plain = perf("aten::_scaled_mm", tensor(16, 32, dtype=FP8), tensor(32, 64, dtype=FP8), *scales,
                 NONE, NONE, scalar(15), scalar(True))  # fmt: skip
    assert plain.flops == 2 * 16 * 64 * 32
    assert plain.bytes == 512 + 2048 + 2 * 1024
    assert plain.precision == "fp8"
    biased = perf("aten::_scaled_mm", tensor(16, 32, dtype=FP8), tensor(32, 64, dtype=FP8),
                  *scales, tensor(64), NONE, scalar(6), scalar(True))  # fmt: skip
    assert biased.flops == 2 * 16 * 64 * 32 + 16 * 64
    assert biased.bytes == 512 + 2048 + 4 * 1024 + 2 * 64


def test_int_mm_writes_four_bytes() -> None:
    kind = "signed char"
    found = perf("aten::_int_mm", tensor(16, 32, dtype=kind), tensor(32, 8, dtype=kind))
    assert (found.flops, found.bytes) == (2 * 16 * 8 * 32, 512 + 256 + 4 * 128)
    assert found.precision == "int8"


def test_vectors() -> None:
    """A (6, 4) x: 2·24 operations; with an addend of 6 elements 6 more. A dot product of 8."""
    mv = perf("aten::mv", tensor(6, 4), tensor(4))
    assert (mv.flops, mv.bytes) == (48, 2 * (24 + 4 + 6))
    addmv = perf("aten::addmv", tensor(6), tensor(6, 4), tensor(4), scalar(1))
    assert (addmv.flops, addmv.bytes) == (54, 2 * (24 + 4 + 6) + 12)
    dot = perf("aten::dot", tensor(8), tensor(8))
    assert (dot.flops, dot.bytes) == (16, 2 * (8 + 8 + 1))


def test_linear_layers_of_libraries_take_the_weight_transposed() -> None:
    """x (2, 3, 8), W (5, 8): M 6, N 5, K 8; bias of 5 elements."""
    found = perf("vllm::rocm_unquantized_gemm", tensor(2, 3, 8), tensor(5, 8), tensor(5))
    assert found.flops == 2 * 6 * 5 * 8 + 30
    assert found.bytes == 2 * (48 + 40 + 30) + 10
    quantised = perf("aiter::gemm_a8w8", tensor(6, 8, dtype=FP8), tensor(5, 8, dtype=FP8))
    assert (quantised.flops, quantised.bytes) == (480, 48 + 40 + 60)


def test_four_bit_operands_share_bytes_and_scales() -> None:
    """Packed (16, 32) is K 64: M K / 2 + N K / 2 + (M + N)·2 scales of a byte + 2 M N."""
    packed = "c10::Float4_e2m1fn_x2"
    scale = "c10::Float8_e8m0fnu"
    found = perf("aiter::gemm_a4w4", tensor(16, 32, dtype=packed), tensor(8, 32, dtype=packed),
                 tensor(16, 2, dtype=scale), tensor(8, 2, dtype=scale))  # fmt: skip
    assert found.flops == 2 * 16 * 8 * 64
    assert found.bytes == 512 + 256 + 24 * 2 + 2 * 128
    assert found.precision == "fp4"


def test_transformer_engine_reads_its_flags() -> None:
    """transA: M 6, K 4 of A (6, 4); B (3, 4) without transB: N 3, its first size."""
    arguments: list[Argument] = [NONE] * 15
    arguments[0], arguments[4] = tensor(6, 4), scalar(True)
    arguments[5], arguments[9] = tensor(3, 4), scalar(False)
    arguments[10], arguments[14] = tensor(6, 3), tensor(3)
    found = perf("tex_ts::te_gemm_ts", *arguments)
    assert found.flops == 2 * 6 * 3 * 4 + 18
    assert found.bytes == 2 * (24 + 12 + 18) + 6


def test_hipblaslt_swaps_with_a_transposed_result() -> None:
    """A (6, 4), B (4, 5): 6·5·4. transC: Bᵀ (5, 4) by Aᵀ (4, 6)."""
    operands = (tensor(6, 4, dtype=FP8), NONE, tensor(4, 5, dtype=FP8), NONE, NONE)
    plain = perf("primus_turbo::hipblaslt_gemm_fp8", *operands, scalar(False), scalar(False),
                 scalar(False))  # fmt: skip
    swapped = perf("primus_turbo::hipblaslt_gemm_fp8", *operands, scalar(False), scalar(False),
                   scalar(True))  # fmt: skip
    for found in (plain, swapped):
        assert (found.flops, found.bytes) == (240, 24 + 20 + 60)
    assert (plain.params["M"], swapped.params["M"]) == (6, 5)


def test_grouped_products() -> None:
    """X (32, 8), W (4, 8, 6): every row by one matrix."""
    found = perf("aten::_grouped_mm", tensor(32, 8), tensor(4, 8, 6), tensor(4, dtype="int"))
    assert found.flops == 2 * 32 * 8 * 6
    assert found.bytes == 2 * (256 + 192) + 2 * 192
    back = perf("primus_turbo_cpp::grouped_gemm_backward", tensor(32, 8), tensor(4, 8, 6))
    assert back.flops == 4 * 32 * 8 * 6
    assert back.bytes == 2 * 192 * 2 + (2 * 256 + 2 * 192) * 2


def test_kernel_names_tell_transposes() -> None:
    assert transposes(("Cijk_Alik_Bljk_BBS_BH",)) == (True, False)
    assert transposes(("Cijk_Ailk_Bjlk_HHS",)) == (False, True)
    assert transposes(("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",)) == (True, False)
    assert transposes(("ampere_sgemm_128x64_tn",)) is None


def test_what_does_not_fit_is_not_known() -> None:
    with pytest.raises(NotKnownError, match="no matrix product"):
        perf("aten::mm", tensor(3, 5), tensor(5))
    with pytest.raises(NotKnownError, match="not recorded"):
        perf("aten::mm", numbers(3))
    with pytest.raises(NotKnownError, match="type c10::Odd"):
        perf("aten::mm", tensor(3, 5, dtype="c10::Odd"), tensor(5, 7))
