"""A kernel by what a person types."""

from __future__ import annotations

from ..ingest.model import GpuKind
from .kernels import OpStat, op_stats
from .trace import Trace


def named_kernels(trace: Trace, text: str) -> list[OpStat]:
    """The kernel of exactly this name, else all that hold the text, whatever the case, most time
    first. Reads summary tables only."""
    known = op_stats(trace, kinds=(GpuKind.KERNEL,))
    exact = [op for op in known if op.name == text]
    return exact or [op for op in known if text.casefold() in op.name.casefold()]
