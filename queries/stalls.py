"""Sampled instructions of a kernel, as the trace itself recorded them."""

from __future__ import annotations

from dataclasses import dataclass

from .trace import Trace


@dataclass(frozen=True, slots=True)
class StallRow:
    """Samples of one instruction with one reason, over all contexts asked for. None: not known."""

    module: str | None
    function: str | None
    offset_bytes: int | None
    text: str | None
    file: str | None
    line: int | None
    reason: str | None
    """None: recorded without reasons."""
    samples: int
    not_issued: int | None
    """Of them, when the scheduler issued nothing."""
    spread: bool
    """Some of them were shared out over contexts by GPU time."""


def stall_rows(
    trace: Trace,
    kernel: int,
    *,
    device: int | None = None,
    nodes: tuple[int, int] | None = None,
) -> list[StallRow]:
    """Of the kernel with this name (id of string), on a device and in a subtree (node ids first to
    last), by default of all. In the order of the instructions. Reads summary tables only."""
    first, last = (None, None) if nodes is None else nodes
    parameters = {"kernel": kernel, "device": device, "first": first, "last": last}
    return [StallRow(*row) for row in trace.rows("stalls.rows", parameters)]


def sampled_kernels(trace: Trace) -> dict[int, int]:
    """Samples by kernel (id of string) of all kernels that have some. Reads summary tables only."""
    return dict(trace.rows("stalls.kernels"))
