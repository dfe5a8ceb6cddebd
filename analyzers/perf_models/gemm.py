"""Matrix products.

FLOPs = B (2 M N K + M N [bias]); bytes = B (M K b_A + K N b_B + M N b_out) + bias + scales.
"""

from __future__ import annotations

import re
from math import ceil, prod
from typing import Any

from .call import Call, Shape
from .dtypes import SCALAR_TYPES, element_bytes, is_float8, precision
from .perf import NotKnownError, Perf

_TENSILE_A = re.compile(r"_A(lik|ilk)_")
_TENSILE_B = re.compile(r"_B(jlk|ljk)_")
_NVJET = re.compile(r"nvjet.*_([TN])([TN])[TN](?:$|[^A-Za-z])")
_BLOCK_OF_SCALES = 32
"""Values that share one scale in the microscaling formats."""


def transposes(kernels: tuple[str, ...]) -> tuple[bool, bool] | None:
    """Whether A and B are transposed, told by the name of a Tensile or nvjet kernel."""
    for name in kernels:
        a, b = _TENSILE_A.search(name), _TENSILE_B.search(name)
        if a and b:
            return a.group(1) == "lik", b.group(1) == "jlk"
        found = _NVJET.search(name)
        if found:
            return found.group(1) == "T", found.group(2) == "T"
    return None


def product(
    call: Call,
    sizes: tuple[int, int, int, int],
    types: tuple[str | None, str | None, str | None],
    *,
    bias_bytes: float | None = None,
    extra_bytes: float = 0,
    strides: tuple[Shape | None, Shape | None] = (None, None),
    bytes_are_fp8: bool = False,
) -> Perf:
    """B, M, N, K and the types of A, B and the result. `bias_bytes`: None without a bias."""
    b, m, n, k = sizes
    of_a, of_b, of_out = (element_bytes(t, few=call.like("D25")) for t in types)
    flops = b * (2 * m * n * k + (m * n if bias_bytes is not None else 0))
    moved = b * (m * k * of_a + k * n * of_b + m * n * of_out) + (bias_bytes or 0) + extra_bytes
    params: dict[str, Any] = {
        "M": m,
        "N": n,
        "K": k,
        "bias": bias_bytes is not None,
        "stride_A": strides[0],
        "stride_B": strides[1],
        "dtype_A_B": (types[0], types[1]),
        "B": b,
    }
    found = transposes(call.kernels)
    if found is not None:
        params["transpose"] = found
    return Perf(flops, moved, precision(types[0], bytes_are_fp8=bytes_are_fp8), params)


def _bias_bytes(call: Call, slot: int, n: int) -> float:
    # TraceLens counts N elements whatever the shape of the bias.
    elements = n if call.like("D27") else prod(call.dims(slot)) if call.maybe(slot) else 1
    return elements * call.size(slot)


def _matrices(call: Call, slot_a: int, slot_b: int) -> tuple[int, int, int, int]:
    a, b = call.dims(slot_a), call.dims(slot_b)
    if len(a) == 3 and len(b) == 3:
        return a[0], a[1], b[2], a[2]
    if len(a) == 2 and len(b) == 2:
        return 1, a[0], b[1], a[1]
    raise NotKnownError(f"operands of {len(a)} and {len(b)} dimensions are no matrix product")


def _strides(call: Call, a: int, b: int) -> tuple[Shape | None, Shape | None]:
    return call.stride(a), call.stride(b)


def plain(call: Call) -> Perf:
    """mm, bmm: A 0, B 1, the result 2 where it is recorded."""
    a = call.dtype(0)
    out = call.dtype(2) if call.is_tensor(2) and not call.tracelens else a
    return product(
        call, _matrices(call, 0, 1), (a, call.dtype(1), out), strides=_strides(call, 0, 1)
    )


def with_bias(call: Call) -> Perf:
    """addmm, baddbmm: the addend 0, A 1, B 2, beta 3; no addend with beta 0."""
    sizes = _matrices(call, 1, 2)
    used = call.is_tensor(0) and (call.like("D27") or call.value(3) != 0)
    return product(
        call,
        sizes,
        (call.dtype(1), call.dtype(2), call.dtype(1)),
        bias_bytes=_bias_bytes(call, 0, sizes[2]) if used else None,
        strides=_strides(call, 1, 2),
    )


def matrix_vector(call: Call) -> Perf:
    """mv: A 0, x 1; addmv: the addend 0, A 1, x 2; dot: two vectors."""
    added = call.name.endswith("addmv")
    a, x = (1, 2) if added else (0, 1)
    shape = call.dims(a)
    m, k = (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])
    of_a = call.dtype(a)
    bias = prod(call.maybe(0) or ()) * call.size(0) if added and call.value(3) != 0 else None
    return product(call, (1, m, 1, k), (of_a, call.dtype(x), of_a), bias_bytes=bias)


def scaled(call: Call) -> Perf:
    """_scaled_mm: A 0, B 1; the bias is the first vector of N elements that is no scale; the
    result has `out_dtype`, else two bytes for operands of one byte."""
    sizes = _matrices(call, 0, 1)
    n = sizes[2]
    current = call.dtype(2) is not None and call.dtype(2) != "" and call.dtype(2) == call.dtype(3)
    slots = (4, 2) if current else (2, 4)
    bias = next((s for s in slots if call.maybe(s) == (n,) and call.dtype(s) != "float"), None)
    number = next((v for s in (6, 3) if isinstance(v := call.value(s), int) and v in SCALAR_TYPES
                   and not isinstance(v, bool)), None)  # fmt: skip
    out = SCALAR_TYPES[number] if number is not None else _narrow_result(call.dtype(0))
    if call.like("D14"):
        bias, out = None, _narrow_result(call.dtype(0))
    return product(
        call,
        sizes,
        (call.dtype(0), call.dtype(1), out),
        bias_bytes=None if bias is None else n * call.size(bias),
        strides=_strides(call, 0, 1),
        bytes_are_fp8=True,
    )


def _narrow_result(operand: str | None) -> str | None:
    """Two bytes where operands have one or less."""
    return "c10::BFloat16" if element_bytes(operand) <= 1 else operand


def whole_numbers(call: Call) -> Perf:
    """_int_mm: A 0, B 1; the result is int32."""
    types = (call.dtype(0), call.dtype(1), "int")
    return product(call, _matrices(call, 0, 1), types, strides=_strides(call, 0, 1))


def linear(call: Call) -> Perf:
    """x Wᵀ of libraries: A (M, K) 0, W (N, K) 1; a bias 2 for vLLM's unquantised operator."""
    a, w = call.dims(0), call.dims(1)
    of_a, of_w = call.dtype(0), call.dtype(1)
    if "Float4" in (of_a or "") or "Float4" in (of_w or ""):
        return narrow(call, (prod(a[:-1]), w[0], 2 * a[-1]), (2, 3))
    m, n, k = prod(a[:-1]), w[0], a[-1]
    unquantised = call.name.endswith("unquantized_gemm")
    bias = call.maybe(2) if unquantised else None
    result = product(
        call,
        (1, m, n, k),
        (of_a, of_w, _narrow_result(of_a)),
        bias_bytes=_bias_bytes(call, 2, n) if bias else None,
        strides=_strides(call, 0, 1),
        bytes_are_fp8=not unquantised,
    )
    if call.tracelens and (unquantised or call.name.endswith("gemm_a16w16")):
        third = call.types[2] if unquantised else _narrow_result(of_a)
        params = dict(result.params) | {"dtype_A_B": (of_a, of_w, third)}
        del params["stride_A"], params["stride_B"]
        return Perf(result.flops, result.bytes, result.precision, params)
    return result


def narrow(call: Call, sizes: tuple[int, int, int], scales: tuple[int, int]) -> Perf:
    """Four-bit operands with a scale for each block: M, N, the logical K; slots of the scales."""
    m, n, k = sizes
    scale = call.size(scales[0]) if call.is_tensor(scales[0]) else 1
    moved = m * k / 2 + n * k / 2 + (m + n) * ceil(k / _BLOCK_OF_SCALES) * scale + 2 * m * n
    params = {"M": m, "N": n, "K": k, "bias": False, "dtype_A_B": (call.dtype(0), call.dtype(1)),
              "B": 1}  # fmt: skip
    return Perf(2 * m * n * k, moved, "fp4", params)


def transformer_engine(call: Call) -> Perf:
    """tex_ts::te_gemm_ts: A 0, transA 4, B 5, transB 9, the result 10, the bias 14."""
    a, b = call.dims(0), call.dims(5)
    m, k = (a[0], a[1]) if call.flag(4, False) else (a[1], a[0])
    n = b[1] if call.flag(9, False) else b[0]
    bias = n * call.size(14) if call.maybe(14) else None
    types = (call.dtype(0), call.dtype(5), call.dtype(10))
    return product(call, (1, m, n, k), types, bias_bytes=bias, bytes_are_fp8=True)


def hipblaslt(call: Call) -> Perf:
    """hipblaslt_gemm_fp8 and _fp4: A 0, its scale 1, B 2, its scale 3, transA, transB, transC
    5 to 7; transC swaps the operands and inverts the flags. The result has two bytes."""
    a, b, (flip_a, flip_b) = 0, 2, (call.flag(5, False), call.flag(6, False))
    if call.flag(7, False):
        a, b, (flip_a, flip_b) = b, a, (not flip_b, not flip_a)
    shape_a, shape_b = call.dims(a), call.dims(b)
    m, k = shape_a[::-1] if flip_a else shape_a
    n = shape_b[0] if flip_b else shape_b[1]
    if call.name.endswith("fp4"):
        return narrow(call, (m, n, 2 * k), (1, 3))
    types = (call.dtype(a), call.dtype(b), "c10::BFloat16")
    return product(call, (1, m, n, k), types, bytes_are_fp8=True)


def grouped(call: Call) -> Perf:
    """X (M, K) by W (G, K, N), each row by the matrix of its group; or, where the groups split K,
    A (M, K) by B (K, N) with a result for each group."""
    x, w = call.dims(0), call.dims(1)
    of_in = call.dtype(0)
    of_out = _narrow_result(of_in)
    b_in, b_out = call.size(0), element_bytes(of_out)
    if len(x) == 2 and len(w) == 3:
        (m, k), (g, _, n) = x, w
        moved = (m * k + g * k * n) * b_in + m * n * b_out
    elif len(x) == 2 and len(w) == 2:
        (m, k), n = x, w[1]
        g = prod(call.maybe(4) or call.maybe(2) or (1,))
        moved = (m * k + k * n) * b_in + g * m * n * b_out
    else:
        raise NotKnownError("the groups of this product are not told by the shapes")
    params = {"M": m, "K": k, "N": n, "G": g, "bpe_in": b_in, "bpe_out": b_out}
    wide = is_float8(of_in or "") or of_in in ("unsigned char", "Byte")
    return Perf(2 * m * k * n, moved, precision(of_in, bytes_are_fp8=wide), params)


def grouped_backward(call: Call) -> Perf:
    """Gradients of both operands of a grouped product."""
    x, w = call.dims(0), call.dims(1)
    (m, k), (g, _, n) = x, w
    b_in, b_out = call.size(0), element_bytes(_narrow_result(call.dtype(0)))
    params = {"M": m, "K": k, "N": n, "G": g, "bpe_in": b_in, "bpe_out": b_out}
    moved = 2 * m * n * b_out + (2 * m * k + 2 * g * k * n) * b_in
    return Perf(4 * m * k * n, moved, call.precision(0, bytes_are_fp8=True), params)
