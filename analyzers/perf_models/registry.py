"""The models by name of operator."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from . import attention, conv, elementwise, fused, gemm, moe, norm, reduction, serving, triton
from .model import MATRIX, VECTOR, Model, ModelFunction


def _aten(names: str) -> list[str]:
    return [f"aten::{name}" for name in names.split()]


_MODELS: Final[dict[str, Model]] = {}


def _add(model: Model, names: list[str]) -> None:
    for name in names:
        _MODELS[name] = model


def _gemm(work: ModelFunction, names: list[str], *, ours: bool = False) -> None:
    _add(Model("GEMM", "GEMM", MATRIX, work, ours=ours), names)


_gemm(gemm.plain, _aten("mm bmm"))
_gemm(gemm.with_bias, _aten("addmm baddbmm"))
_gemm(gemm.with_bias, _aten("_addmm_activation"), ours=True)
_gemm(gemm.matrix_vector, _aten("addmv mv dot"), ours=True)
_gemm(gemm.scaled, _aten("_scaled_mm"))
_gemm(gemm.whole_numbers, _aten("_int_mm"), ours=True)
_gemm(gemm.linear, ["vllm::rocm_unquantized_gemm", "vllm::gemm_with_dynamic_quant"])
_gemm(gemm.transformer_engine, ["tex_ts::te_gemm_ts"])

_CONV = Model("CONV_fwd", "CONV_fwd", MATRIX, conv.forward)
_add(_CONV, ["aten::convolution"])
_add(Model("CONV_fwd", "CONV_fwd", MATRIX, conv.library, ours=True),
     _aten("miopen_convolution cudnn_convolution"))  # fmt: skip
_add(Model("CONV_bwd", "CONV_bwd", MATRIX, conv.backward), ["aten::convolution_backward"])


def _attention(work: ModelFunction, names: list[str], *, ours: bool = False) -> None:
    gradient = attention.backward_of if "_scaled_dot_product_" in names[0] else None
    _add(Model("SDPA_fwd", "SDPA_fwd", MATRIX, work, gradient, ours=ours), names)


def _attention_backward(work: ModelFunction, names: list[str]) -> None:
    _add(Model("SDPA_bwd", "SDPA_bwd", MATRIX, work), names)


_attention(attention.aten(flash=True, dropout=3, causal=4),
           _aten("_scaled_dot_product_flash_attention"))  # fmt: skip
_attention(attention.aten(flash=False, dropout=5, causal=6, bias=3),
           _aten("_scaled_dot_product_efficient_attention "
                 "_scaled_dot_product_cudnn_attention"))  # fmt: skip
_attention(attention.aten_efficient, _aten("_efficient_attention_forward"))
_attention(attention.aten_flash, _aten("_flash_attention_forward"), ours=True)
_attention(
    attention.library(0, 3, 5, 6),
    ["FlashAttnFunc", "flash_attn::_flash_attn_forward", "aiter::_flash_attn_forward",
     "aiter::mha_fwd", "aiter::fmha_v3_fwd"],
)  # fmt: skip
_attention(attention.library(0, None, 24), ["flash_attn_3::fwd"])
_attention(attention.library(1, 4, 6), ["aiter::wrapper_fmha_v3_fwd"])
_attention(attention.varying(0, 3, 5, 7, 9), ["flash_attn::_flash_attn_varlen_forward"])
_attention(attention.evoformer, ["EvoformerAttention"])
_attention_backward(attention.library(1, 9, 11, grad=True), ["flash_attn::_flash_attn_backward"])
_attention_backward(attention.library(1, 6, 8, grad=True), ["aiter::mha_bwd"])
_attention_backward(attention.library(1, 10, 12, grad=True), ["aiter::_flash_attn_backward"])
_attention_backward(attention.library(1, 7, 9, grad=True), ["aiter::wrapper_fmha_v3_bwd"])
for _kind, _flash, _dropout, _causal in (
    ("flash", True, 10, 11), ("efficient", False, 9, 11), ("cudnn", False, 13, 14)
):  # fmt: skip
    _add(Model("SDPA_bwd", "SDPA_bwd", MATRIX, attention.aten_backward(
        flash=_flash, dropout=_dropout, causal=_causal), ours=True),
        [f"aten::_scaled_dot_product_{_kind}_attention_backward"])  # fmt: skip
_attention_backward(attention.varying(1, 9, 11, 13, 15, grad=True),
                    ["flash_attn::_flash_attn_varlen_backward"])  # fmt: skip
_SERVING: Final = "InferenceAttention_fwd"
_add(Model("InferenceAttention", _SERVING, MATRIX, serving.paged, reads_step=True),
     ["vllm::unified_attention_with_output"])  # fmt: skip
_add(Model("InferenceAttention", _SERVING, VECTOR, serving.store_cache), ["sglang::store_cache"])
_add(Model("InferenceAttention", _SERVING, VECTOR, serving.store_cache, ours=True),
     ["_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::reshape_and_cache"])  # fmt: skip
_add(Model("InferenceAttention", _SERVING, MATRIX, serving.gated_delta),
     ["vllm::gdn_attention_core"])  # fmt: skip

_LIBRARIES: Final = ("", "native_", "miopen_", "cudnn_")
_NORMS: Final = [f"aten::{library}{kind}_norm" for library in _LIBRARIES
                 for kind in ("batch", "layer", "group", "instance")]  # fmt: skip
_add(Model("NORM_fwd", "Normalization", VECTOR, norm.forward), _NORMS)
_add(Model("NORM_bwd", "Normalization", VECTOR, norm.backward),
     [f"{name}_backward" for name in _NORMS])  # fmt: skip
_add(Model("NORM_fwd", "Normalization", VECTOR, norm.forward), ["aiter::_groupnorm_run"])
_add(Model("NORM_fwd", "Normalization", VECTOR, norm.rms_forward), _aten("_fused_rms_norm"))
_add(Model("NORM_bwd", "Normalization", VECTOR, norm.rms_backward),
     _aten("_fused_rms_norm_backward rms_norm_backward native_rms_norm_backward "
           "miopen_rms_norm_backward cudnn_rms_norm_backward"))  # fmt: skip
_add(
    Model("RMSNorm", "RMSNorm_fwd", VECTOR, norm.rms_library),
    ["aiter::rmsnorm", "aiter::rms_norm", "aiter::add_rmsnorm", "aiter::rmsnorm2d_fwd",
     "aiter::rmsnorm2d_fwd_with_add", "aiter::rmsnorm2d_fwd_ck", "aiter::rmsnorm2d_fwd_with_add_ck",
     "_C::rms_norm", "_C::fused_add_rms_norm", "sgl_kernel::rmsnorm",
     "sgl_kernel::fused_add_rmsnorm", "_C::rms_norm_dynamic_per_token_quant"],
)  # fmt: skip


def _eltwise(
    family: str,
    work: ModelFunction,
    names: list[str],
    *,
    ours: bool = False,
    category: str = "elementwise",
) -> None:
    _add(Model(category, family, VECTOR, work, ours=ours), names)


_UNARY, _BINARY = "UnaryElementwise", "BinaryElementwise"
_eltwise(_UNARY, elementwise.moving, _aten("copy copy_"))
_eltwise(_UNARY, elementwise.unary, _aten(
    "clamp_min clamp_min_ clamp_max clamp_max_ sigmoid rsqrt silu neg pow"))  # fmt: skip
_eltwise(_UNARY, elementwise.resized, _aten(
    "replication_pad1d replication_pad2d replication_pad3d upsample_nearest1d upsample_nearest2d "
    "upsample_nearest3d"))  # fmt: skip
_eltwise(_BINARY, elementwise.binary, _aten(
    "add add_ mul mul_ div div_ sigmoid_backward threshold_backward"))  # fmt: skip
_eltwise(_UNARY, elementwise.gated_activation, [
    "sgl_kernel::silu_and_mul", "_C::silu_and_mul", "aiter::silu_and_mul", "aiter::gelu_and_mul",
    "aiter::gelu_tanh_and_mul", "_C::gelu_and_mul", "_C::gelu_tanh_and_mul"])  # fmt: skip
_eltwise(_UNARY, elementwise.unary, _aten(
    "sigmoid_ rsqrt_ silu_ neg_ pow_ exp exp_ log log_ sqrt sqrt_ tanh tanh_ relu relu_ gelu gelu_ "
    "abs abs_ sin cos clamp clamp_ elu elu_ reciprocal reciprocal_ bitwise_not logical_not erf "
    "hardtanh leaky_relu"), ours=True)  # fmt: skip
_eltwise(_UNARY, elementwise.moving, _aten("clone"), ours=True)
_eltwise(_UNARY, elementwise.filling, _aten("fill_ zero_"), ours=True)
_eltwise(_BINARY, elementwise.binary, _aten(
    "sub sub_ rsub maximum minimum remainder tanh_backward gelu_backward silu_backward "
    "mse_loss_backward elu_backward leaky_relu_backward hardtanh_backward"), ours=True)  # fmt: skip
_eltwise(_BINARY, elementwise.compared, _aten(
    "eq ne lt le gt ge logical_and logical_or bitwise_and bitwise_or"), ours=True)  # fmt: skip
_eltwise(_BINARY, elementwise.where, _aten("where"), ours=True)
_eltwise("", elementwise.softmax, _aten(
    "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data"),
    ours=True, category="softmax")  # fmt: skip
_eltwise("", elementwise.joined, _aten("cat"), ours=True, category="cat")
_eltwise("", elementwise.looked_up, _aten("embedding index_select gather"),
         ours=True, category="index")  # fmt: skip
_eltwise("", elementwise.fused_adam, _aten("_fused_adam_ _fused_adamw_"),
         ours=True, category="optimizer")  # fmt: skip

_add(Model("reduce", "Reduce_fwd", VECTOR, reduction.reduce, reduction.reduce),
     _aten("sum mean max min norm linalg_norm std var logsumexp cumsum cumprod amin "
           "amax"))  # fmt: skip

_add(Model("reduce", "Reduce_fwd", VECTOR, reduction.reduce, reduction.reduce, ours=True),
     _aten("linalg_vector_norm"))  # fmt: skip
_add(Model("GroupedGEMM_fwd", "GroupedGEMM_fwd", MATRIX, gemm.grouped, ours=True),
     _aten("_grouped_mm _scaled_grouped_mm"))  # fmt: skip
_add(Model("MoE_fused", "MoE_fused_fwd", MATRIX, moe.fused, ours=True),
     ["vllm::rocm_aiter_fused_moe", "vllm::inplace_fused_experts", "vllm::outplace_fused_experts",
      "sglang::inplace_fused_experts", "sglang::outplace_fused_experts"])  # fmt: skip
_add(Model("MoE_unfused", "MoE_unfused_fwd", MATRIX, moe.first_stage), ["aiter::ck_moe_stage1"])
_add(Model("MoE_unfused", "MoE_unfused_fwd", MATRIX, moe.second_stage), ["aiter::ck_moe_stage2"])
_add(Model("MoE_comm_fwd", "MoE_comm_fwd", VECTOR, moe.exchange), ["MoEDispatch", "MoECombine"])
_add(Model("RoPE_fwd", "RoPE_fwd", VECTOR, fused.rotary), ["sgl_kernel::rotary_embedding"])
_add(Model("RoPE_fwd", "RoPE_fwd", VECTOR, fused.rotary, ours=True), ["_C::rotary_embedding"])
_add(Model("CrossEntropy_fwd", "CrossEntropy_fwd", VECTOR, fused.cross_entropy),
     ["LigerCrossEntropyFunction", "CrossEntropyFunction"])  # fmt: skip
_add(Model("SSM_fwd", "SSM_fwd", MATRIX, fused.state_space_scan),
     ["MambaSplitConv1dScanCombinedFn"])  # fmt: skip
_add(Model("SSM_fwd", "SSM_fwd", VECTOR, fused.causal_convolution),
     ["CausalConv1dFn", "DaoAILab::_causal_conv1d_fwd_cpp"])  # fmt: skip
_add(
    Model("GroupQuant", "GroupQuant_fwd", VECTOR, fused.group_quantised),
    ["aiter::dynamic_per_token_scaled_quant", "aiter::dynamic_per_group_scaled_quant",
     "sgl_kernel::sgl_per_token_group_quant_fp8", "_C::per_token_group_fp8_quant",
     "_C::dynamic_scaled_fp8_quant", "_C::dynamic_per_token_scaled_fp8_quant"],
)  # fmt: skip
_add(Model("GroupQuant", "GroupQuant_fwd", VECTOR, fused.micro_quantised),
     ["aiter::dynamic_mxfp4_quant", "aiter::per_group_quant_fp4"])  # fmt: skip
_add(Model("CustomCollective", "CustomCollective_fwd", VECTOR, fused.all_reduced),
     ["vllm::all_reduce", "_C_custom_ar::all_reduce", "sgl_kernel::all_reduce"])  # fmt: skip
_add(Model("CustomCollective", "CustomCollective_fwd", VECTOR, fused.scattered_or_gathered),
     ["vllm::all_gather", "vllm::reduce_scatter"])  # fmt: skip

_PATTERNS: Final = tuple(
    (re.compile(pattern), model)
    for pattern, model in (
        (r"triton_(?:poi|red|per)_fused_\w*[a-z]\w*_\d+$",
         Model("triton", "Triton", VECTOR, triton.compiled)),
        (r"primus_turbo.*::hipblaslt_gemm_fp[84]$", Model("GEMM", "GEMM", MATRIX, gemm.hipblaslt)),
        (r"primus_turbo.*::grouped_gemm\w*(?:backward|bwd)\w*$",
         Model("GroupedGEMM_bwd", "GroupedGEMM_bwd", MATRIX, gemm.grouped_backward)),
        (r"primus_turbo.*::grouped_gemm\w*$",
         Model("GroupedGEMM_fwd", "GroupedGEMM_fwd", MATRIX, gemm.grouped)),
        (r"aiter::_?gemm_a\d+w\d+\w*$", Model("GEMM", "GEMM", MATRIX, gemm.linear)),
    )
)  # fmt: skip


def names() -> frozenset[str]:
    """The operators that have a model by their whole name."""
    return frozenset(_MODELS)


@cache
def find(name: str, *, tracelens: bool = False) -> Model | None:
    """The built-in model of an operator. `tracelens`: only those that TraceLens has."""
    model = _MODELS.get(name)
    if model is None:
        model = next((m for pattern, m in _PATTERNS if pattern.match(name)), None)
    return None if model is None or (tracelens and model.ours) else model
