"""Sizes of element types, and the precision in which hardware computes with them."""

from __future__ import annotations

from typing import Final

from .perf import NotKnownError


def _names(sizes: dict[float, tuple[str, ...]]) -> dict[str, float]:
    return {name: size for size, names in sizes.items() for name in names}


_SIZES: Final = _names(
    {
        16: ("c10::complex<double>", "ComplexDouble"),
        8: ("double", "long int", "long", "c10::complex<float>", "unsigned long", "Double", "Long",
            "UInt64", "ComplexFloat"),
        4: ("float", "int", "unsigned int", "Scalar", "Float", "Int", "UInt32"),
        2: ("c10::Half", "c10::BFloat16", "short int", "short", "unsigned short", "Half",
            "BFloat16", "Short", "UInt16"),
        1: ("unsigned char", "signed char", "bool", "Byte", "Char", "Bool", "fp8"),
        0.5: ("Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "fp4", "mxfp4"),
    }
)  # fmt: skip
_FLOAT8: Final = ("Float8_e4m3fn", "Float8_e4m3fnuz", "Float8_e5m2", "Float8_e5m2fnuz",
                  "Float8_e8m0fnu")  # fmt: skip
_UNKNOWN_TO_TRACELENS: Final = frozenset(
    {"bool", "Bool", "short int", "short", "Short", "long", "c10::complex<float>",
     "c10::complex<double>", "c10::Float8_e5m2fnuz"}
)  # fmt: skip
_PRECISIONS: Final = {
    "double": "fp64", "Double": "fp64", "float": "fp32", "Float": "fp32", "c10::Half": "fp16",
    "Half": "fp16", "c10::BFloat16": "bf16", "BFloat16": "bf16", "fp8": "fp8",
    "signed char": "int8", "Char": "int8", "fp4": "fp4", "mxfp4": "fp4",
}  # fmt: skip
_BYTE: Final = frozenset({"unsigned char", "Byte"})

SCALAR_TYPES: Final = {
    0: "unsigned char", 1: "signed char", 3: "int", 4: "long int", 5: "c10::Half", 6: "float",
    7: "double", 11: "bool", 15: "c10::BFloat16", 23: "c10::Float8_e5m2",
    24: "c10::Float8_e4m3fn", 25: "c10::Float8_e5m2fnuz", 26: "c10::Float8_e4m3fnuz",
}  # fmt: skip
"""PyTorch's numbers of element types, as recorded for `out_dtype`."""


def is_float8(name: str) -> bool:
    """One of the eight-bit floating-point types."""
    return name.removeprefix("c10::") in _FLOAT8 or name == "fp8"


def element_bytes(name: str | None, *, few: bool = False) -> float:
    """Bytes of an element; half a byte where two values share one. NotKnownError for a name that
    is not in the table. `few`: only for names that TraceLens knows."""
    known = name is not None and not (few and name in _UNKNOWN_TO_TRACELENS)
    if name is not None and known:
        if is_float8(name):
            return 1
        if name in _SIZES:
            return _SIZES[name]
    raise NotKnownError(f"the size of elements of type {name or 'unknown'} is not known")


def precision(name: str | None, *, bytes_are_fp8: bool = False) -> str | None:
    """Precision of computations with a type; None where hardware has no rate of its own for it.

    Bytes without a sign are `fp8` for operators that keep such values in them, else `int8`.
    """
    if name is None:
        return None
    if is_float8(name):
        return "fp8"
    if "Float4" in name:
        return "fp4"
    if name in _BYTE:
        return "fp8" if bytes_are_fp8 else "int8"
    return _PRECISIONS.get(name)
