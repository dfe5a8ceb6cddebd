"""The kind of work of an operator: by its name, else by the kernels that it launched."""

from __future__ import annotations

import re
from typing import Final

from .perf_models.registry import find

_WITHOUT_MODEL: Final[dict[str, str]] = {
    name: category
    for category, names in {
        "GEMM": ["trtllm::cublas_scaled_mm", "bitsandbytes::int8_linear_matmul"],
        "CONV_fwd": [
            "aten::miopen_convolution",
            "aten::cudnn_convolution",
            "ConvBias_",
            "ConvBiasReLU_",
        ],
        "CONV_bwd": ["ConvBias_Backward", "ConvBiasReLU_Backward"],
        "SDPA_bwd": [
            "aten::_scaled_dot_product_flash_attention_backward",
            "aten::_scaled_dot_product_efficient_attention_backward",
            "aten::_scaled_dot_product_cudnn_attention_backward",
            "aten::_efficient_attention_backward",
            "aten::_flash_attention_backward",
            "FusedAttnFuncBackward",
        ],
        "InferenceAttention": [
            "_C_cache_ops::reshape_and_cache_flash",
            "_C_cache_ops::reshape_and_cache",
            "aiter::mha_varlen_fwd",
            "aiter::fmha_v3_varlen_fwd",
            "aiter::mha_batch_prefill",
            "aiter::pa_decode_gluon",
        ],
    }.items()
    for name in names
}
"""Operators of a known kind whose arguments no model reads, or none of TraceLens'."""

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
_ATTENTION: Final = re.compile(
    r"flash(?!_?infer)|flash_?infer.*(?:prefill|decode|attention|merge_?state)|fmha|attn|mha_|mla_",
    re.IGNORECASE,
)
"""FlashInfer has kernels of all kinds: norms, samplers, activations."""
_BACKWARD: Final = re.compile(r"bwd|backward|(?<![a-z])d(?:q|kv)", re.IGNORECASE)
"""`dkv` is the gradient of K and V, but not in `PagedKVCache`."""
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
    model = find(name, tracelens=plain)
    if model is not None and model.family != "Triton":
        return model.category
    if name in _WITHOUT_MODEL:
        return _WITHOUT_MODEL[name]
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
        if _BACKWARD.search(kernel):
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


def legacy_category(name: str, found: str) -> str:
    """Batch norms under the names that earlier reports had for them."""
    if "batch_norm" in name and found in ("NORM_fwd", "NORM_bwd"):
        return found.replace("NORM", "BN")
    return found
