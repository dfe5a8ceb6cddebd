"""Categories of operators."""

import pytest

from dctx.analyzers.op_category import category, legacy_category

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, x>"


@pytest.mark.parametrize(
    ("name", "first", "longest", "plain", "full"),
    [
        ("aten::addmm", ELEMENTWISE, ELEMENTWISE, "GEMM", "GEMM"),
        ("aten::layer_norm", "k", "k", "NORM_fwd", "NORM_fwd"),
        ("aten::cudnn_batch_norm_backward", "k", "k", "NORM_bwd", "NORM_bwd"),
        ("triton_poi_fused_0", "k", "k", "triton", "triton"),
        ("aten::exp", ELEMENTWISE, ELEMENTWISE, "elementwise", "elementwise"),
        ("aten::_foreach_add_", "void at::native::(x)::multi_tensor_apply_kernel", "k",
         "multi_tensor_apply", "multi_tensor_apply"),
        ("aten::_softmax", "k", "k", "other", "softmax"),
        ("aten::_flash_attention_forward", "k", "k", "other", "SDPA_fwd"),
        ("mine::step", "k", "flash_bwd_dq_kernel", "other", "SDPA_bwd"),
        ("mine::step", "k", "cutlass_80_gemm", "other", "GEMM"),
        ("mine::step", "k", "implicit_gemm_x", "other", "CONV_fwd"),
        ("mine::step", "k", "convert_fp8", "other", "other"),
        ("call", "k", "flashinfer::norm::FusedAddRMSNormKernel<8u>", "other", "NORM_fwd"),
        ("call", "k", "flashinfer::BatchDecodeWithPagedKVCacheKernel<x>", "other",
         "InferenceAttention"),
        ("call", "k", "flashinfer::SinglePrefillWithKVCacheKernel<x>", "other", "SDPA_fwd"),
        ("cudaMemcpyAsync", "memcpy HtoD", "memcpy HtoD", "other", "memcpy"),
    ],
)  # fmt: skip
def test_the_name_tells_it_or_else_the_kernels(
    name: str, first: str, longest: str, plain: str, full: str
) -> None:
    assert category(name, first, longest, plain=True) == plain
    assert category(name, first, longest) == full


def test_batch_norms_keep_their_old_name_when_asked() -> None:
    assert legacy_category("aten::native_batch_norm", "NORM_fwd") == "BN_fwd"
    assert legacy_category("aten::cudnn_batch_norm_backward", "NORM_bwd") == "BN_bwd"
    assert legacy_category("aten::layer_norm", "NORM_fwd") == "NORM_fwd"
