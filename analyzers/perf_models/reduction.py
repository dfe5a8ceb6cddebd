"""Reductions: one operation an element of the input."""

from __future__ import annotations

from math import prod
from typing import Any

from .call import Call, Shape
from .elementwise import binary
from .perf import NotKnownError, Perf

_SCANS = ("cumsum", "cumprod")
_KINDS = {
    "linalg_norm": "norm",
    "linalg_vector_norm": "norm",
    "cumsum": "sum",
    "cumprod": "prod",
    "amax": "max",
    "amin": "min",
}
_DIM_AFTER_ORDER = ("norm", "linalg_norm", "linalg_vector_norm")
_INDEX_BYTES = 8


def reduced_shape(shape: Shape, dims: Shape | None) -> Shape:
    """What is left of a shape after these dimensions; none or `()` are all."""
    if not dims:
        return ()
    axes = {d % len(shape) for d in dims}
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def reduce(call: Call) -> Perf:
    """sum, mean, max, …: input 0, dimensions 1 (norms: 2). Scans keep the shape; max and min along
    a dimension write indices of eight bytes too; of two tensors they are element by element."""
    word = call.name.rpartition("::")[2]
    if call.tracelens and not call.shapes:
        nothing = {"num_input_elems": 0, "num_output_elems": 0, "dtype_in_out": (None, None)}
        return Perf(0, None, None, nothing, "shapes are not recorded")
    if word in ("max", "min") and call.maybe(1) is not None and not call.like("D20"):
        return binary(call)
    shape = call.maybe(0) or (() if call.is_tensor(0) else None)
    if shape is None:
        raise NotKnownError("the shape of the input is not recorded")
    n = prod(shape)
    dims = call.numbers(2 if word in _DIM_AFTER_ORDER else 1)
    if word in _SCANS:
        left = n
    elif call.like("D20"):
        left = 1
    else:
        left = prod(reduced_shape(shape, dims)) if shape else 1
    params: dict[str, Any] = {
        "num_input_elems": n,
        "num_output_elems": left,
        "dtype_in_out": (call.dtype(0), None),
        "reduce_type": _KINDS.get(word, word),
    }
    rate = call.precision(0)
    try:
        size = call.size(0)
    except NotKnownError as error:
        return Perf(n, None, rate, params, str(error))
    indices = word in ("max", "min") and bool(dims) and not call.like("D20")
    moved = n * size + left * (size + (_INDEX_BYTES if indices else 0))
    return Perf(n, moved, rate, params)
