"""Names of number types, as frameworks and kernel names write them."""

from __future__ import annotations

import re

_OF_ARGUMENTS = {
    "c10::bfloat16": "bf16",
    "c10::half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "short int": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
}
_OF_KERNELS = (
    ("bf16", r"bf16|bfloat16"),
    ("fp16", r"fp?16|half|(?<![a-z])h(?=gemm|884|16816)"),
    ("tf32", r"tf32"),
    ("fp32", r"fp?32|float32|float(?![a-z0-9])|(?<![a-z])s(?=gemm)"),
    ("fp64", r"fp?64|double|(?<![a-z])d(?=gemm)"),
    ("fp8", r"fp8|f8|e4m3\w*?|e5m2\w*?|float8"),
    ("int8", r"int8|[is]8"),
    ("fp4", r"fp4|e2m1|nvfp4"),
)
_TOKEN = re.compile(
    r"(?<![a-z0-9])(?:" + "|".join(f"(?P<{name}>{text})" for name, text in _OF_KERNELS) + ")"
    r"(?=$|[^a-z]|gemm|f\d|bf\d|tf\d|s8|i8|u8)"
)
_PACKED = re.compile(r"(?<=\d)(?=(?:bf|tf|fp|f|s|i)\d)")
"""cuBLAS and CUTLASS write input, accumulator and output in one word: bf16f32."""


def argument_type(text: str) -> str:
    """`c10::BFloat16` → `bf16`; a type with no shorter name as it is."""
    found = _OF_ARGUMENTS.get(text.lower())
    if found is None and text.startswith("c10::Float8"):
        return "fp8" + text.removeprefix("c10::Float8").removesuffix("fn").lower()
    return found or text


def kernel_types(name: str) -> frozenset[str]:
    """The number types that a kernel's name tells, none where it tells none."""
    lowered = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    text = _PACKED.sub(" ", lowered)
    return frozenset(match.lastgroup or "" for match in _TOKEN.finditer(text))
