"""Operators, their arguments and rooflines in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..analyzers.quantities import plural
from ..analyzers.roofline import COMPUTE_BOUND, MEMORY_BOUND
from . import format as fmt
from .arguments import listed_arguments

if TYPE_CHECKING:
    from ..analyzers.architecture import Architecture
    from ..analyzers.op_hierarchy import UniqueCall

BOUNDS: Final = {COMPUTE_BOUND: "compute", MEMORY_BOUND: "memory"}


def arguments_of(call: UniqueCall) -> str:
    """`bf16[8192,1024], bf16[1024,4096]`; empty where none are recorded."""
    return listed_arguments(call.shapes, call.types, call.strides, call.concrete)


def architecture_line(device: str, found: Architecture | None, *, asked: bool) -> str:
    """Whose limits the rooflines are, and how that is known."""
    if found is None:
        name = f"{device} is not known" if device else "the trace does not name the GPU"
        return f"no roofline: {name}; start with --arch NAME or FILE"
    how = "asked for by --arch" if asked else "detected from the trace"
    return f"roofline {found.name}, {how}"


def limits_line(found: Architecture, spec: str | None) -> str:
    """`matrix_bf16 989 TFLOP/s (peak) · 3.35 TB/s · ridge 295 FLOP/byte`."""
    parts: list[str] = []
    rate = None if spec is None else found.rate(spec)
    if rate is not None:
        parts.append(f"{rate.spec} {rate.tflops:,.0f} TFLOP/s ({rate.basis})")
    parts.append(f"{found.bandwidth_gbps / 1000:.2f} TB/s")
    if rate is not None:
        parts.append(f"ridge {found.ridge[rate.spec]:.0f} FLOP/byte")
    return " · ".join(parts)


def call_lines(call: UniqueCall, found: Architecture | None) -> list[str]:
    """What one set of arguments computes, moves, reaches, and what that says."""
    lines = [call.name, arguments_of(call) or "no arguments recorded"]
    times = (
        f"{plural(call.count, 'call')} · {fmt.duration(call.gpu_ns)} on the GPU · mean "
        f"{fmt.duration(call.mean_ns)} · {fmt.duration(call.min_ns)} to "
        f"{fmt.duration(call.max_ns)}"
    )
    lines.append(times)
    of = call.figures
    if of is not None and of.flops is not None:
        moved = fmt.NA if of.bytes is None else fmt.size(round(of.bytes))
        lines.append(
            f"a call: {fmt.count_short(round(of.flops))} FLOP, {moved} moved, "
            f"{fmt.number(call.intensity)} FLOP/byte"
        )
    if call.tflops is not None or call.tbytes is not None:
        lines.append(
            f"reached: {fmt.number(call.tflops)} TFLOP/s, {fmt.number(call.tbytes, 2)} TB/s"
        )
    line = call.roofline
    if line is not None and found is not None:
        lines.append(
            f"roofline: {fmt.duration(line.time_us * 1000)} at least, bound by "
            f"{BOUNDS[line.bound]}; {fmt.number(call.percent)} % reached"
        )
        lines.append(limits_line(found, None if of is None else of.spec))
        lines.append(advice(call))
    else:
        lines.append(f"no roofline: {call.note or 'the limits of this GPU are not known'}")
        return lines
    if call.note:
        lines.append(f"note: {call.note}")
    return [text for text in lines if text]


_NEAR: Final = 70.0
"""Percent of the roofline from which on little is left to win."""


def advice(call: UniqueCall) -> str:
    """What to try; empty where the figures tell nothing."""
    percent, line = call.percent, call.roofline
    if percent is None or line is None:
        return ""
    if percent > 100:
        return (
            "Above the roofline: the caches serve part of the data, or the model counts more "
            "than the kernel does."
        )
    memory = line.bound == MEMORY_BOUND
    if percent >= _NEAR:
        what = "moving less data (fusion, smaller types)" if memory else "fewer or smaller FLOPs"
        return f"Near its limit: only {what} makes it faster."
    if memory:
        return "Far below the bandwidth: small sizes, strided access or several passes. Try fusion."
    return (
        "Far below the rate: small or misaligned sizes, or a slow kernel. Try larger batches, "
        "or sizes that are multiples of 64."
    )
