"""Normalisations and their gradients.

With n elements, S pairs of statistics, W affine elements and C normalised ones:
forward 2 n + 6 S operations, + 3 n where the statistics are computed; backward 4 n, + 3 S in
evaluation, + 5 n (training) or 2 n for the gradient of the input. Root-mean-square forward
(n / C) (2 C + 2) + n (2 with a weight, else 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from .call import Call, Shape
from .dtypes import element_bytes, precision
from .perf import NotKnownError, Perf

_STATISTICS_BYTES = 4
"""Of a mean or variance where its type is not recorded."""
_SCALE_BYTES = 4
"""Of the factor of a quantised row."""


@dataclass(frozen=True, slots=True)
class _Norm:
    """Sizes of a normalisation."""

    input: int
    """Slot."""
    channels: float
    """As TraceLens names it: affine elements, for statistics too."""
    statistics: int
    affine: int
    weight: bool
    bias: bool
    training: bool
    running: bool = False
    """Statistics are kept over batches: read in evaluation, updated in training."""


def _base(name: str) -> str:
    return next((word for word in ("batch", "layer", "group", "instance") if word in name), "")


def _forward_of(call: Call) -> _Norm:
    kind = _base(call.name)
    shape = call.dims(0)
    weight, bias = call.maybe(1) is not None, call.maybe(2) is not None
    if kind == "layer":
        normal = call.numbers(1) or call.maybe(2)
        if not normal:
            raise NotKnownError("the normalised shape is not recorded")
        size = prod(normal)
        weight, bias = call.maybe(2) is not None, call.maybe(3) is not None
        return _Norm(0, size, prod(shape) // size, size, weight, bias, True)
    if len(shape) < 2:
        raise NotKnownError("the input has no channels")
    channels = shape[1]
    if kind == "batch":
        training = call.flag(5, True)
        return _Norm(0, channels, channels, channels, weight, bias, training, running=True)
    if kind == "instance":
        training = call.flag(5, True)
        return _Norm(0, channels, shape[0] * channels, channels, weight, bias, training)
    if "native" in call.name:
        groups = call.value(6)
    else:
        groups, weight, bias = call.value(1), call.maybe(2) is not None, call.maybe(3) is not None
    if not isinstance(groups, int):
        raise NotKnownError("the number of groups is not recorded")
    return _Norm(0, channels, shape[0] * groups, channels, weight, bias, True)


def _params(call: Call, of: _Norm, mask: tuple[bool, ...] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "op_shape": call.dims(of.input),
        "dtype_in_out": (call.dtype(of.input), None),
        "stride_input": call.stride(of.input),
        "stride_output": None,
        "num_channels": of.channels,
        "has_bias": of.bias,
        "is_affine": of.weight,
        "is_training": of.training,
    }
    if mask is not None:
        found["output_mask"] = mask
    return found


def forward(call: Call) -> Perf:
    """batch, layer, group and instance norms."""
    if call.tracelens and not call.strides:
        raise NotKnownError("strides are not recorded")
    of = _forward_of(call)
    n, size, rate = call.count(0), call.size(0), call.precision(0)
    if call.like("D18"):
        c = of.channels
        whole = _Norm(0, c, round(c), round(c), True, True, True)
        moved = 2 * n * size + 2 * c * size + 4 * c * size
        return Perf(5 * n + 6 * c, moved, rate, _params(call, whole))
    computed = of.training
    flops = 2 * n + 6 * of.statistics + (3 * n if computed else 0)
    running = call.size(3) if of.running and call.maybe(3) else _STATISTICS_BYTES
    pairs = 4 if of.running and of.training else 2
    weight_slot = 2 if _base(call.name) in ("layer", "group") and "native" not in call.name else 1
    weight_size = call.size(weight_slot) if call.maybe(weight_slot) else size
    moved = 2 * n * size + of.affine * weight_size * (of.weight + of.bias)
    moved += pairs * of.statistics * running
    return Perf(flops, moved, rate, _params(call, of))


def _backward_of(call: Call) -> tuple[_Norm, int, tuple[bool, bool, bool], bool]:
    """The norm, the slot of the gradient, which gradients are wanted, whether statistics were
    those of the batch."""
    kind = _base(call.name)
    native = "native" in call.name
    if kind == "batch" and not native:
        shape = call.dims(0)
        weight = call.maybe(2) is not None
        of = _Norm(0, shape[1], shape[1], shape[1], weight, weight, True, running=True)
        return of, 1, (True, weight, weight), True
    if kind == "batch":
        shape = call.dims(1)
        weight = call.maybe(2) is not None
        training = call.flag(7, True)
        of = _Norm(1, shape[1], shape[1], shape[1], weight, weight, training, running=True)
        return of, 0, _mask(call, 9), training
    if kind == "layer":
        normal = call.numbers(2) or call.maybe(5)
        if not normal:
            raise NotKnownError("the normalised shape is not recorded")
        size = prod(normal)
        weight, bias = call.maybe(5) is not None, call.maybe(6) is not None
        of = _Norm(1, size, call.count(1) // size, size, weight, bias, True)
        return of, 0, _mask(call, 7), True
    if kind == "group":
        shape, groups = call.dims(1), call.value(8)
        if not isinstance(groups, int):
            raise NotKnownError("the number of groups is not recorded")
        weight = call.maybe(4) is not None
        of = _Norm(1, shape[1], shape[0] * groups, shape[1], weight, weight, True)
        return of, 0, _mask(call, 9), True
    raise NotKnownError("no gradient of this norm is known")


def _mask(call: Call, slot: int) -> tuple[bool, bool, bool]:
    found = (*(call.flags(slot) or (True, True, True)), False, False, False)
    return found[0], found[1], found[2]


def backward(call: Call) -> Perf:
    """Gradients of batch, layer and group norms."""
    of, grad, mask, training = _backward_of(call)
    n, size, rate = call.count(of.input), call.size(of.input), precision(call.dtype(of.input))
    if call.like("D19"):
        return _tracelens_backward(call, of, n, size)
    flops = 4 * n + (0 if training else 3 * of.statistics)
    flops += (5 * n if training else 2 * n) if mask[0] else 0
    weights = of.affine * size * (of.weight + mask[1] + mask[2])
    moved = n * call.size(grad) + n * size + (n * size if mask[0] else 0)
    moved += of.statistics * _STATISTICS_BYTES + weights
    return Perf(flops, moved, rate, _params(call, of, mask))


def _tracelens_backward(call: Call, of: _Norm, n: int, size: float) -> Perf:
    """Always all gradients; miopen's and cuDNN's batch norm as in evaluation; a group norm's
    channels per group count."""
    kind, library = _base(call.name), "native" not in call.name
    groups = call.value(8) if kind == "group" else 1
    c = of.channels / groups if isinstance(groups, int) and kind == "group" else of.channels
    affine, bias = (of.weight, of.bias) if kind == "layer" else (True, True)
    training = not library or kind != "batch"
    flops = 9 * n if training else 4 * n + 3 * c
    weights = (2 * affine + bias) * c * size if training else 0
    moved = (3 if training else 2) * n * size + c * size + weights
    mask = (True,) if kind == "batch" else _mask(call, 7 if kind == "layer" else 9)
    whole = _Norm(of.input, c, round(c), round(c), affine, bias, training)
    return Perf(flops, moved, precision(call.dtype(of.input)), _params(call, whole, mask))


def _rms_params(call: Call, slot: int, c: int, weight: bool) -> dict[str, Any]:
    return {
        "op_shape": call.dims(slot),
        "dtype_in_out": (call.dtype(slot), None),
        "stride_input": call.stride(slot),
        "stride_output": None,
        "num_channels": c,
        "has_bias": False,
        "is_affine": weight,
        "is_training": False,
    }


def rms_flops(n: int, c: int, weight: bool) -> int:
    """Of the forward direction."""
    return n // c * (2 * c + 2) + n * (2 if weight else 1)


def rms_forward(call: Call) -> Perf:
    """aten::_fused_rms_norm: input 0, normalised shape 1, weight 2."""
    normal = call.numbers(1)
    if not normal:
        raise NotKnownError("the normalised shape is not recorded")
    n, c, size = call.count(0), prod(normal), call.size(0)
    weight = call.maybe(2) is not None or call.like("D18")
    moved = 2 * n * size + (c * size if weight else 0)
    rate = call.precision(0)
    return Perf(rms_flops(n, c, weight), moved, rate, _rms_params(call, 0, c, weight))


def rms_backward(call: Call) -> Perf:
    """aten::_fused_rms_norm_backward: gradient 0, input 1, normalised shape 2, weight 4, mask 5."""
    normal = call.numbers(2)
    if not normal:
        raise NotKnownError("the normalised shape is not recorded")
    n, c, size = call.count(1), prod(normal), call.size(1)
    weight = call.maybe(4) is not None or call.like("D18")
    mask = _mask(call, 5)[:2]
    flops = n * (1 + weight) + 6 * n * mask[0] + mask[1] * (n + n * (n // c > 1))
    moved = 3 * n * size + (2 * c * size if weight else 0)
    params = _rms_params(call, 1, c, weight) | {"output_mask": mask}
    return Perf(flops, moved, call.precision(1), params)


def _vector(call: Call) -> tuple[int, Shape]:
    """Slot and shape of the weight: the first vector."""
    for slot in call.tensors:
        shape = call.dims(slot)
        if len(shape) == 1:
            return slot, shape
    raise NotKnownError("the weight is not recorded")


def rms_library(call: Call) -> Perf:
    """RMS norms of aiter, vLLM and SGLang: the weight is the first vector, the tensors of the
    input's shape before it are input, result and, where the name says add, the residual that is
    read and written. A quantised result has one byte an element and scales of four."""
    at, (c,) = _vector(call)
    n = call.count(0)
    # The result may come first: of tensors of one shape the wider one is the input.
    whole = [slot for slot in call.tensors if slot < at and call.count(slot) == n]
    if "rmsnorm2d_fwd_with_add" in call.name:
        whole = whole[1:]  # the result, the input, the residual that is read, the one written
    of_input = max(whole, key=call.size, default=0)
    size = call.size(of_input)
    added = "add" in call.name or len(whole) > 2
    flops = rms_flops(n, c, True) + (n if added else 0)
    written = n * size
    if "quant" in call.name:
        flops += 2 * n
        written = n * element_bytes("fp8") + n // c * _SCALE_BYTES
    moved = n * size + written + c * call.size(at) + (2 * n * size if added else 0)
    params = _rms_params(call, of_input, c, True)
    return Perf(flops, moved, call.precision(of_input), params)
