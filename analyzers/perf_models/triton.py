"""Kernels that torch.compile wrote: triton_poi_, triton_red_ and triton_per_fused_<operators>_<n>.

The name tells the operators, the last integers how many elements there are. FLOPs are the sum of
their costs an element; bytes those of all tensors, plus once more the elements of a pointwise
kernel: its result is often written over an input, which then is recorded once.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from .call import Call
from .perf import NotKnownError, Perf

_NAME: Final = re.compile(r"triton_(poi|red|per|tem|for)_fused_(.*?)_?(\d+)$")


def _words(text: str) -> list[str]:
    return text.split()


_COSTS: Final[dict[str, int]] = {
    name: cost
    for cost, names in {
        8: "gelu",
        4: "exp log sigmoid tanh silu",
        2: "pow sqrt rsqrt var reciprocal",
        1: "add sub mul div mean sum relu abs neg eq ne lt le gt ge",
    }.items()
    for name in names.split()
}
_FREE: Final = _words(
    "_to_copy _unsafe_view addmm alias amax amin any arange argmax argmin as_strided "
    "bernoulli bitwise_and bitwise_not bitwise_or bmm cat ceil clamp clone constant_pad_nd "
    "convolution copy convolution_backward cumsum detach div_ dropout elu embedding "
    "embedding_dense_backward empty erf expand fill floor floor_divide full full_like gather "
    "gelu_backward hardtanh index index_put index_select isnan layer_norm leaky_relu "
    "lift_fresh linear log_softmax log_softmax_backward_data _log_softmax "
    "_log_softmax_backward_data logical_and logical_not logical_or logsumexp masked_fill max "
    "max_pool2d_with_indices mm moe_forward mse_loss native_batch_norm "
    "native_batch_norm_backward native_dropout native_dropout_backward native_group_norm "
    "native_layer_norm native_layer_norm_backward new_zeros nll_loss_backward "
    "nll_loss_forward ones ones_like permute prod rand randint remainder repeat reshape round "
    "rsub scalar_tensor scatter scatter_add select select_backward slice slice_backward "
    "slice_scatter softmax _softmax _softmax_backward_data split split_with_sizes squeeze "
    "stack _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
    "_scaled_dot_product_cudnn_attention t tile transpose tril triu unbind unfold unsqueeze "
    "threshold_backward upsample_nearest2d var_mean view where zeros zeros_like exp2 log2 "
    "sigmoid_backward tanh_backward silu_backward hardswish hardsigmoid softplus sign min "
    "_native_batch_norm_legit_functional _native_batch_norm_legit _fused_rms_norm "
    "_adaptive_avg_pool2d avg_pool2d flip roll one_hot sort topk pixel_shuffle dequantize cos "
    "sin maximum minimum"
)
_TRACELENS_RATES: Final = {"bf16": "bfloat16", "fp16": "float16"}
_KNOWN: Final = frozenset(_COSTS) | frozenset(_FREE)


@cache
def fused_operators(text: str) -> tuple[str, ...] | None:
    """Known operator names that, joined by underscores, make the text; longest first. None where
    there is no such way."""
    if not text:
        return ()
    parts = text.split("_")
    # `__` before a name with a leading underscore leaves an empty part, which belongs to it.
    for end in range(len(parts), 0, -1):
        name = "_".join(parts[:end])
        if name in _KNOWN:
            rest = fused_operators("_".join(parts[end:]))
            if rest is not None:
                return (name, *rest)
    return None


def _extent(call: Call, pointwise: bool) -> tuple[int, int]:
    """xnumel and rnumel: the last integers among the arguments."""
    numbers = [v for i in range(len(call.values)) if isinstance(v := call.value(i), int)
               and not isinstance(v, bool)]  # fmt: skip
    needed = 1 if pointwise else 2
    if len(numbers) < needed:
        raise NotKnownError("the numbers of elements are not recorded")
    return (numbers[-1], 1) if pointwise else (numbers[-2], numbers[-1])


def compiled(call: Call) -> Perf:
    """One generated kernel."""
    found = _NAME.match(call.name)
    if found is None:
        raise NotKnownError("the name of the kernel does not tell its operators")
    pointwise = found.group(1) == "poi"
    names = fused_operators(found.group(2))
    x, r = _extent(call, pointwise)
    slots = call.tensors
    flops: float | None = None
    if names or call.like("D26"):
        flops = sum(_COSTS.get(name, 0) for name in names or ()) * x * r
    moved = sum(call.count(slot) * _size(call, slot) for slot in slots)
    if pointwise and slots:
        moved += x * _size(call, slots[0])
    params = {
        "fused_ops": ", ".join(f"aten.{name}" for name in names or ()),
        "xnumel": x,
        "rnumel": r,
    }
    note = "estimate: the result is written over an input" if pointwise else "estimate"
    if flops is None:
        note = "the name does not tell operators that are known"
    return Perf(flops, moved, _rate(call, slots), params, note)


def _size(call: Call, slot: int) -> float:
    # TraceLens counts tensors of the two-byte types only.
    if call.like("D26") and call.precision(slot) not in _TRACELENS_RATES:
        return 0
    return call.size(slot)


def _rate(call: Call, slots: list[int]) -> str | None:
    found = (call.precision(slot) for slot in slots)
    if call.like("D26"):
        return next((_TRACELENS_RATES[p] for p in found if p in _TRACELENS_RATES), None)
    return next((p for p in found if p), None)
