"""What a kernel does, told by its name."""

from __future__ import annotations

import re
from typing import Final

from .kernel_group import kernel_group

_CONVOLUTION: Final = re.compile(r"conv(?!ert)|winograd|dgrad|wgrad|fprop", re.IGNORECASE)
_ELEMENTWISE: Final = re.compile(r"elementwise|pointwise|triton_poi", re.IGNORECASE)
_FUSED: Final = re.compile(r"multi_tensor|foreach|triton_|fused", re.IGNORECASE)
_LAYOUT: Final = re.compile(
    r"nchw_?to_?nhwc|nhwc_?to_?nchw|transpose|permut|converttensor|im2col|col2im", re.IGNORECASE
)


def is_matrix(name: str) -> bool:
    """A matrix product, attention or a convolution: work that no fusion of small kernels holds."""
    if _LAYOUT.search(name) and "gemm" not in name.lower():
        return False
    if kernel_group(name) in ("matrix product", "attention"):
        return True
    return _CONVOLUTION.search(name) is not None


def is_elementwise(name: str) -> bool:
    """One result for each element, not yet fused with others."""
    return _ELEMENTWISE.search(name) is not None and _FUSED.search(name) is None


def changes_layout(name: str) -> bool:
    """It only moves elements to another order."""
    moves = _LAYOUT.search(name) is not None and not name.startswith("triton_")
    return moves and not is_matrix(name)
