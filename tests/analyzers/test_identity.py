"""Which names are the same thing."""

import pytest

from dctx.analyzers.identity import identity
from dctx.ingest.model import Layer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("layer.3.attn", "layer.17.attn"),
        ("step 12 at 0x7f00ab", "step 7 at 0x55aa"),
        ("void cub::DeviceScanKernel<cub::Policy<4>, float>(float*, int)",
         "void cub::DeviceScanKernel<cub::Policy<8>, double>(double*, int)"),
        ("sm90_xmma_gemm_bf16_tn_n_tilesize128x128x64_warpgroupsize2x1x1",
         "sm90_xmma_gemm_bf16_tn_n_tilesize64x256x64_warpgroupsize1x1x1"),
        ("ampere_sgemm_128x64_tn", "volta_sgemm_32x128_tn"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x64x64_MI16x16x1",
         "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1"),
        ("triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_17"),
        ("fn_0xdeadbeef_entry", "fn_0x7f12aa00_entry"),
        ("void at::native::vectorized_elementwise_kernel<4, AddFunctor<float>>",
         "void at::native::vectorized_elementwise_kernel<8, AddFunctor<float>>"),
        ("nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", "nvjet_tst_128x64_64x8_1x2_v_bz_coopA_TNN"),
    ],
)  # fmt: skip
def test_numbers_tiles_and_template_arguments_do_not_matter(one: str, other: str) -> None:
    assert one != other
    assert identity(one) == identity(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("_schedule", "_sample_async"),
        ("at::elementwise<128, AddFunctor<float>>", "at::elementwise<128, MulFunctor>"),
        ("reduce_kernel<512, ReduceOp<float, MeanOps<float>>>",
         "reduce_kernel<512, ReduceOp<float, MaxOps<float>>>"),
        ("gemm_bf16_tn", "gemm_fp8_tn"),
        ("elementwise<4, silu_kernel(T&)::f>", "elementwise<4, gelu_kernel(T&)::f>"),
        ("elementwise<4, CUDAFunctor_add<float>>", "elementwise<4, CUDAFunctorOnSelf_sub<T>>"),
        ("operator<", "operator>"),
        ("<module>", "<lambda>"),
    ],
)  # fmt: skip
def test_what_is_computed_does(one: str, other: str) -> None:
    assert identity(one) != identity(other)


def test_copies_of_two_profilers() -> None:
    assert identity("memcpy DtoD", layer=Layer.MEMCPY) == identity(
        "Memcpy DtoD (Device -> Device)", layer=Layer.MEMCPY
    )
    assert identity("memcpy DtoD", layer=Layer.MEMCPY) != identity(
        "Memcpy DtoH (Device -> Pageable)", layer=Layer.MEMCPY
    )


def test_calls_of_both_makers() -> None:
    assert identity("cudaLaunchKernel_v7000", layer=Layer.API) == identity(
        "hipLaunchKernel", layer=Layer.API
    )
    assert identity("cuLaunchKernel", layer=Layer.API) == identity(
        "hipModuleLaunchKernel", layer=Layer.API
    )
    assert identity("cuLaunchKernel", layer=Layer.API) != identity(
        "cudaLaunchKernel", layer=Layer.API
    )


def test_brackets_that_never_close_stay() -> None:
    assert identity("a<b(c") == "a<b(c"
    assert identity("") == ""
