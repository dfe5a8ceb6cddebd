"""The kind of work of an operator: by its name, else by the kernels that it launched."""

from __future__ import annotations

import re
from typing import Final

_NORMS: Final = tuple(
    f"aten::{library}{norm}_norm"
    for library in ("", "native_", "miopen_", "cudnn_")
    for norm in ("batch", "layer", "group", "instance")
)
_RMS_BACKWARD: Final = tuple(
    f"aten::{library}rms_norm_backward" for library in ("", "native_", "miopen_", "cudnn_")
)


def _aten(names: str) -> list[str]:
    return [f"aten::{name}" for name in names.split()]


_REGISTRY: Final[dict[str, str]] = {
    name: category
    for category, names in {
        "GEMM": [
            *_aten("mm addmm bmm baddbmm _scaled_mm"),
            "trtllm::cublas_scaled_mm",
            "bitsandbytes::int8_linear_matmul",
            "vllm::gemm_with_dynamic_quant",
            "vllm::rocm_unquantized_gemm",
            "tex_ts::te_gemm_ts",
        ],
        "CONV_fwd": [
            *_aten("convolution miopen_convolution cudnn_convolution"),
            "ConvBias_",
            "ConvBiasReLU_",
        ],
        "CONV_bwd": [
            "aten::convolution_backward",
            "ConvBias_Backward",
            "ConvBiasReLU_Backward",
        ],
        "SDPA_fwd": [
            *_aten(
                "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
                "_scaled_dot_product_cudnn_attention _efficient_attention_forward"
            ),
            "flash_attn::_flash_attn_forward",
            "flash_attn::_flash_attn_varlen_forward",
            "FlashAttnFunc",
            "flash_attn_3::fwd",
            "aiter::_flash_attn_forward",
            "aiter::mha_fwd",
            "aiter::fmha_v3_fwd",
            "aiter::wrapper_fmha_v3_fwd",
        ],
        "SDPA_bwd": [
            *_aten(
                "_scaled_dot_product_flash_attention_backward "
                "_scaled_dot_product_efficient_attention_backward "
                "_scaled_dot_product_cudnn_attention_backward _efficient_attention_backward"
            ),
            "flash_attn::_flash_attn_backward",
            "flash_attn::_flash_attn_varlen_backward",
            "aiter::mha_bwd",
            "aiter::_flash_attn_backward",
            "aiter::wrapper_fmha_v3_bwd",
        ],
        "InferenceAttention": [
            "vllm::unified_attention_with_output",
            "aiter::mha_varlen_fwd",
            "aiter::fmha_v3_varlen_fwd",
            "aiter::mha_batch_prefill",
            "aiter::pa_decode_gluon",
        ],
        "NORM_fwd": [*_NORMS, "aten::_fused_rms_norm", "aiter::_groupnorm_run"],
        "NORM_bwd": [
            *(f"{name}_backward" for name in _NORMS),
            "aten::_fused_rms_norm_backward",
            *_RMS_BACKWARD,
        ],
        "elementwise": _aten(
            "copy copy_ clamp_min clamp_min_ clamp_max clamp_max_ sigmoid rsqrt silu neg pow "
            "replication_pad1d replication_pad2d replication_pad3d upsample_nearest1d "
            "upsample_nearest2d upsample_nearest3d add add_ mul mul_ div div_ sigmoid_backward "
            "threshold_backward"
        ),
        "reduce": _aten(
            "sum mean max min norm linalg_norm std var logsumexp cumsum cumprod amin amax"
        ),
    }.items()
    for name in names
}
_MORE_GEMMS: Final = frozenset(_aten("_int_mm _addmm_activation addmv mv dot"))
_MORE_ATTENTION: Final = "aten::_flash_attention_forward"

_NAME_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), category)
    for pattern, category in (
        (r"softmax", "softmax"),
        (r"embedding|index|gather|scatter", "index"),
        (r"::_?(?:cat|stack)\b", "cat"),
        (r"sort|topk", "sort"),
        (r"pool", "pool"),
        (r"dropout|::(?:rand|bernoulli|normal_|uniform_)", "rng"),
        (r"loss", "loss"),
        (r"adam|sgd|optimizer|adagrad", "optimizer"),
    )
)
_ATTENTION: Final = re.compile(r"flash|fmha|attn|mha_|mla_", re.IGNORECASE)
_KERNEL_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), category)
    for pattern, category in (
        (r"wgrad|dgrad", "CONV_bwd"),
        (r"conv(?!ert)|winograd|implicit_gemm", "CONV_fwd"),
        (r"moe", "MoE_fused"),
        (r"gemm|gemv|Cijk_|nvjet|cutlass|xmma|matmul", "GEMM"),
        (r"(?:layer|rms|batch)_?norm.*(?:bwd|backward)", "NORM_bwd"),
        (r"(?:layer|rms|batch)_?norm", "NORM_fwd"),
        (r"quant", "GroupQuant"),
    )
)


def category(name: str, first_kernel: str, longest_kernel: str, *, plain: bool = False) -> str:
    """Category of an operator from its name, the kernel it launched first and its longest one.

    `plain` knows only the registry of names and PyTorch's own kernels.
    """
    found = _REGISTRY.get(name)
    if found is not None:
        return found
    if not plain and (name in _MORE_GEMMS or name == _MORE_ATTENTION):
        return "GEMM" if name in _MORE_GEMMS else "SDPA_fwd"
    if name.startswith("triton"):
        return "triton"
    if name.startswith("record_param_comms"):
        return "record_param_comms"
    if first_kernel.startswith("void at::native"):
        for word in ("elementwise", "reduce", "multi_tensor_apply"):
            if word in first_kernel:
                return word
    if plain:
        return "other"
    for pattern, result in _NAME_PATTERNS:
        if "::" in name and pattern.search(name):
            return result
    return _by_kernel(longest_kernel)


def _by_kernel(kernel: str) -> str:
    if _ATTENTION.search(kernel):
        if re.search(r"bwd|backward|dq|dkv", kernel, re.IGNORECASE):
            return "SDPA_bwd"
        paged = re.search(r"paged|decode", kernel, re.IGNORECASE)
        return "InferenceAttention" if paged else "SDPA_fwd"
    for pattern, result in _KERNEL_PATTERNS:
        if pattern.search(kernel):
            return result
    lowered = kernel.lower()
    for copy in ("memcpy", "memset"):
        if lowered.startswith(copy):
            return copy
    return "other"
