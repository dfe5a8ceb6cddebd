"""Single kernels for what a model would else do in several: rotary embeddings, losses, state space
layers, quantisation, small collectives."""

from __future__ import annotations

from math import prod

from .call import Call
from .dtypes import element_bytes, is_float8
from .perf import NotKnownError, Perf

_MICRO_BLOCK = 32
_NARROW = ("unsigned char", "signed char", "Byte", "Char")


def rotary(call: Call) -> Perf:
    """rotary_embedding: positions 0, q 1, k 2: 3 operations an element, read and written."""
    n = call.count(1) + (call.count(2) if call.maybe(2) else 0)
    params = {"num_elements": n}
    return Perf(3 * n, 2 * n * call.size(1), call.precision(1), params)


def cross_entropy(call: Call) -> Perf:
    """Logits 0 of B rows and V classes: 5 B V operations; the logits, and 12 bytes a row for
    target, loss and its statistics."""
    shape = call.dims(0)
    vocabulary, rows = shape[-1], prod(shape[:-1])
    moved = rows * vocabulary * call.size(0) + 12 * rows
    params = {"batch": rows, "vocab_size": vocabulary, "logits_shape": shape}
    return Perf(5 * rows * vocabulary, moved, call.precision(0), params)


def causal_convolution(call: Call) -> Perf:
    """x 0 as (B, C, T), weight 1 as (C, k), bias 2: 2 B C T k operations."""
    b, c, t = call.dims(0)
    width = call.dims(1)[-1]
    bias = call.maybe(2) is not None
    size = call.size(0)
    moved = 2 * b * c * t * size + c * width * call.size(1) + (c * call.size(2) if bias else 0)
    params = {"batch": b, "channels": c, "seq_len": t, "kernel_size": width, "has_bias": bias}
    return Perf(2 * b * c * t * width, moved, call.precision(0), params)


def state_space_scan(call: Call) -> Perf:
    """MambaSplitConv1dScanCombinedFn: the projected input 0 as (B, T, combined), the convolution
    1 as (channels, width), its bias 2, a vector of H heads 3, chunk size 6, head size 16, groups
    17. N = (combined - 2 H P - H) / (2 G); FLOPs = 2 B channels T width + 2 B G T C N +
    2 B H T C P + 4 B H T N P."""
    b, t, combined = call.dims(0)
    channels, width = call.dims(1)
    (h,) = call.dims(3)
    c, p, g = call.value(6), call.value(16), call.value(17)
    if not isinstance(c, int) or not isinstance(p, int):
        raise NotKnownError("chunk and head sizes are not recorded")
    g = g if isinstance(g, int) else 1
    n = (combined - 2 * h * p - h) // (2 * g)
    flops = 2 * b * channels * t * width + 2 * b * g * t * c * n
    flops += 2 * b * h * t * c * p + 4 * b * h * t * n * p
    size = call.size(0)
    elements = b * t * combined + channels * width + 3 * h + b * t * h * p
    elements += channels if call.maybe(2) else 0
    params = {"B": b, "T": t, "H": h, "P": p, "G": g, "N": n, "C": c, "d_inner": h * p,
              "d_conv": width, "conv_channels": channels, "combined_dim": combined}  # fmt: skip
    return Perf(flops, elements * size, call.precision(0), params)


def group_quantised(call: Call) -> Perf:
    """Values to eight bits with a scale of four bytes a group: 6 n operations; the tensors are
    told by their types: values wide, result narrow, scales what is left."""
    wide = next((s for s in call.tensors if not _is_narrow(call, s)), None)
    narrow = next((s for s in call.tensors if _is_narrow(call, s)), None)
    if wide is None or narrow is None or call.count(wide) != call.count(narrow):
        raise NotKnownError("input and result are not told apart by their types")
    n = call.count(wide)
    scales = next((s for s in call.tensors if s not in (wide, narrow)), None)
    groups = call.count(scales) if scales is not None else 1
    types = (call.dtype(wide), call.dtype(narrow))
    params = {"num_elements": n, "num_groups": groups, "dtype_in_out": types}
    return Perf(6 * n, n * call.size(wide) + n + 4 * groups, call.precision(wide), params)


def _is_narrow(call: Call, slot: int) -> bool:
    name = call.dtype(slot) or ""
    return is_float8(name) or name in _NARROW


def micro_quantised(call: Call) -> Perf:
    """Values to four bits with a scale of one byte for 32: 2 n operations."""
    n = max((call.count(slot) for slot in call.tensors), default=0)
    wide = next((s for s in call.tensors if call.count(s) == n), None)
    if wide is None or call.size(wide) < element_bytes("Half"):
        raise NotKnownError("the input is not recorded")
    moved = n * call.size(wide) + n / 2 + n / _MICRO_BLOCK
    return Perf(2 * n, moved, call.precision(wide), {"num_elements": n})


def all_reduced(call: Call) -> Perf:
    """Nothing computed worth the name; n elements read and written."""
    slot = call.tensors[0] if call.tensors else 0
    n = call.count(slot)
    return Perf(0, 2 * n * call.size(slot), call.precision(slot), {"num_elements": n})


def scattered_or_gathered(call: Call) -> Perf:
    """all_gather, reduce_scatter: the tensor 0 and a result larger or smaller by the number of
    ranks 2."""
    n, ranks = call.count(0), call.value(2)
    if not isinstance(ranks, int) or ranks <= 0:
        raise NotKnownError("the number of ranks is not recorded")
    out = n * ranks if "gather" in call.name else n // ranks
    params = {"num_elements": n, "num_output_elems": out}
    return Perf(0, (n + out) * call.size(0), call.precision(0), params)
