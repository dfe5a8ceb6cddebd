"""The result of a performance model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class NotKnownError(ValueError):
    """The recorded arguments do not tell what a model needs; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Perf:
    """What one call computes and moves."""

    flops: float | None
    """Floating-point operations; None where they cannot be told."""
    bytes: float | None
    """Read and written; None where they cannot be told."""
    precision: str | None
    """bf16, fp32, … of the first operand; None where no rate is known for it."""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the figures follow from, by name: plain literals."""
    note: str = ""
    unit: str = ""
    """matrix or vector where the result differs from what its model says."""
    family: str = ""
    """The same for the sheet."""
    """Why a figure is missing or what it assumes."""
