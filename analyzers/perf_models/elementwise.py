"""Operators that work element by element, and those that only move elements."""

from __future__ import annotations

from math import prod
from typing import Any

from .call import Call, Shape
from .dtypes import element_bytes, precision
from .perf import NotKnownError, Perf


def _strides_needed(call: Call) -> None:
    if call.tracelens and not call.strides:
        raise NotKnownError("strides are not recorded")


def _unary_params(call: Call, out: int | None, of_input: int = 0) -> dict[str, Any]:
    return {
        "op_shape": call.dims(of_input),
        "dtype_in_out": (call.dtype(of_input), call.dtype(out) if out is not None else None),
        "stride_input": call.stride(of_input),
        "stride_output": call.stride(out) if out is not None else None,
    }


def _unary(call: Call, flops_per_element: int) -> Perf:
    _strides_needed(call)
    out = 1 if call.is_tensor(1) and call.maybe(1) == call.dims(0) else None
    n = call.count(0)
    params = _unary_params(call, out)
    rate = call.precision(0)
    try:
        moved: float | None = n * (call.size(0) + call.size(0 if out is None else out))
    except NotKnownError as error:
        return Perf(n * flops_per_element, None, rate, params, str(error))
    return Perf(n * flops_per_element, moved, rate, params)


def unary(call: Call) -> Perf:
    """One operation an element; the result 1 where it is recorded, else like the input."""
    return _unary(call, 1)


def moving(call: Call) -> Perf:
    """copy_, clone and the like: no operations; the second tensor is the other side."""
    return _unary(call, 1 if call.like("D28") else 0)


def softmax(call: Call) -> Perf:
    """_softmax, _log_softmax: 5 n operations; 2 n elements, backward 3 n."""
    n, size = call.count(0), call.size(0)
    times = 3 if "backward" in call.name else 2
    return Perf(5 * n, times * n * size, call.precision(0), _unary_params(call, None))


def filling(call: Call) -> Perf:
    """fill_, zero_: written only."""
    n, size = call.count(0), call.size(0)
    return Perf(0, n * size, call.precision(0), _unary_params(call, None))


def resized(call: Call) -> Perf:
    """Padding and nearest upsampling: input and result of different sizes."""
    shape = call.dims(0)
    out = _padded(call, shape) if "pad" in call.name else _upsampled(call, shape)
    size = call.size(0)
    params = _unary_params(call, None) | {
        "op_shape": out,
        "dtype_in_out": (call.dtype(0), call.dtype(0)),
        "input_shape": shape,
        "output_shape": out,
    }
    if "pad" in call.name:
        params["padding"] = call.numbers(1)
    flops = prod(out) if call.like("D28") else 0
    moved = (prod(shape) + prod(out)) * size
    return Perf(flops, moved, call.precision(0), params)


def _padded(call: Call, shape: Shape) -> Shape:
    padding = call.numbers(1)
    if not padding or len(padding) % 2 or len(padding) > 2 * len(shape):
        raise NotKnownError("the padding is not recorded")
    out = list(shape)
    for i in range(len(padding) // 2):
        out[-1 - i] += padding[2 * i] + padding[2 * i + 1]
    return tuple(out)


def _upsampled(call: Call, shape: Shape) -> Shape:
    sizes = call.numbers(1)
    space = len(shape) - 2
    if sizes and len(sizes) == space:
        return (*shape[:2], *sizes)
    factors = None if call.tracelens else call.reals(2)
    if factors and len(factors) == space:
        return (*shape[:2], *(int(s * f) for s, f in zip(shape[2:], factors, strict=True)))
    raise NotKnownError("neither the output size nor the scale factors are recorded")


def broadcast(first: Shape, second: Shape) -> Shape:
    """Shape of the result of two operands. NotKnownError where they do not fit."""
    rank = max(len(first), len(second))
    left = (1,) * (rank - len(first)) + first
    right = (1,) * (rank - len(second)) + second
    if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
        raise NotKnownError(f"operands of shapes {first} and {second} do not fit")
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def binary(call: Call) -> Perf:
    """Two operands 0 and 1, the result 2 where it is recorded: else its type is the wider one of
    the operands with dimensions."""
    _strides_needed(call)
    first, second = _operand(call, 0), _operand(call, 1)
    n = prod(broadcast(first, second))
    out = 2 if call.is_tensor(2) and call.maybe(2) is not None else None
    params = {
        "shape_in1": first,
        "shape_in2": second,
        "dtype_in1_in2_out": (call.dtype(0), call.dtype(1), call.dtype(out) if out else None),
        "stride_input1": call.stride(0),
        "stride_input2": call.stride(1),
        "stride_output": call.stride(out) if out else None,
    }
    rate = call.precision(0)
    try:
        moved = prod(first) * call.size(0) + prod(second) * call.size(1)
        moved += n * (call.size(out) if out else _result_size(call, first, second))
    except NotKnownError as error:
        return Perf(n, None, rate, params, str(error))
    return Perf(n, moved, rate, params)


def _operand(call: Call, slot: int) -> Shape:
    if not call.shapes:
        raise NotKnownError("shapes are not recorded")
    return call.maybe(slot) or ()


def _result_size(call: Call, first: Shape, second: Shape) -> float:
    if call.like("D29"):
        return max(call.size(0), call.size(1)) if second else call.size(0)
    sizes = [call.size(slot) for slot, shape in ((0, first), (1, second)) if shape]
    return max(sizes, default=call.size(0))


def compared(call: Call) -> Perf:
    """eq, lt and the like: as binary; the result is a truth value a byte."""
    found = binary(call)
    n = prod(broadcast(_operand(call, 0), _operand(call, 1)))
    moved = _operand_bytes(call, 2) + n * element_bytes("bool")
    return Perf(n, moved, found.precision, found.params, found.note)


def _operand_bytes(call: Call, count: int) -> float:
    return sum(prod(_operand(call, i)) * call.size(i) for i in range(count))


def where(call: Call) -> Perf:
    """The condition 0 chooses between 1 and 2."""
    shapes = [_operand(call, i) for i in range(3)]
    n = prod(broadcast(broadcast(shapes[0], shapes[1]), shapes[2]))
    size = max((call.size(i) for i in (1, 2) if shapes[i]), default=call.size(1))
    params = {"shape_in1": shapes[1], "shape_in2": shapes[2],
              "dtype_in1_in2_out": (call.dtype(1), call.dtype(2), None),
              "stride_input1": call.stride(1), "stride_input2": call.stride(2),
              "stride_output": None}  # fmt: skip
    return Perf(n, _operand_bytes(call, 3) + n * size, call.precision(1), params)


def joined(call: Call) -> Perf:
    """cat, stack: every input is read and written once. The list 0 records its shapes."""
    parts = call.listed(0)
    moved = sum(2 * prod(shape) * element_bytes(name) for shape, name in parts)
    shapes, first = tuple(shape for shape, _ in parts), parts[0][1]
    return Perf(0, moved, precision(first), {"op_shape": shapes, "dtype_in_out": first})


def looked_up(call: Call) -> Perf:
    """embedding, index_select: rows of a table 0 by indices: the rows are read and written, the
    indices read."""
    table = call.dims(0)
    at = next((s for s in call.tensors if s > 0 and "int" in (call.dtype(s) or "")), None)
    if at is None:
        raise NotKnownError("the indices are not recorded")
    size = call.size(0)
    if call.name.endswith("gather"):
        rows = call.count(at)
    elif call.name.endswith("index_select"):
        along = call.value(1)
        axis = along if isinstance(along, int) else 0
        rows = prod(table) // table[axis] * call.count(at)
    else:
        rows = call.count(at) * prod(table[1:])
    moved = 2 * rows * size + call.count(at) * call.size(at)
    params = {"op_shape": table, "num_elements": rows, "dtype_in_out": call.dtype(0)}
    return Perf(0, moved, call.precision(0), params)


def gated_activation(call: Call) -> Perf:
    """silu, gelu or tanh-gelu of one half times the other: 5, 8 or 10 operations an element of
    the result; the result is the narrower of the two tensors 0 and 1, else half the input."""
    shapes = [(slot, call.dims(slot)) for slot in call.tensors[:2]]
    if not shapes:
        raise NotKnownError("shapes are not recorded")
    wide = max(shapes, key=lambda item: item[1][-1])[0]
    narrow = min(shapes, key=lambda item: item[1][-1])[0] if len(shapes) > 1 else wide
    n = call.count(narrow) if narrow != wide else call.count(wide) // 2
    per_element = 10 if "tanh" in call.name else 8 if "gelu" in call.name else 5
    b_in, b_out = call.size(wide), call.size(narrow)
    halved = (*call.dims(wide)[:-1], call.dims(wide)[-1] // 2)
    params = {
        "op_shape": call.dims(narrow) if narrow != wide else halved,
        "dtype_in_out": (call.dtype(wide), call.dtype(narrow)),
        "stride_input": call.stride(wide),
        "stride_output": call.stride(narrow) if narrow != wide else None,
    }
    moved = 2 * n * b_in + n * b_out
    return Perf(per_element * n, moved, call.precision(wide), params)


def fused_adam(call: Call) -> Perf:
    """_fused_adam(w)_: 12 operations an element; parameter, gradient and both moments are read,
    all but the gradient written. The lists 0 to 3 record their shapes."""
    parts = call.listed(0)
    n, name = sum(prod(shape) for shape, _ in parts), parts[0][1]
    return Perf(12 * n, 7 * n * element_bytes(name), precision(name), {"num_elements": n})
