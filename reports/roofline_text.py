"""Where a kernel stands on the roofline, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.quantities import plural
from ..analyzers.roofline import COMPUTE_BOUND
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.kernel_roofline import MeasuredPoint, RooflinePoint

_OPERATORS = 3


def roofline_sentence(found: RooflinePoint | str) -> str:
    """By the models of its operators; or why it is not known."""
    if isinstance(found, str):
        return f"Roofline: n/a, {found}."
    bound = "computation" if found.bound == COMPUTE_BOUND else "memory"
    names = [fmt.clean(name) for name in found.operators]
    more = f" and {len(names) - _OPERATORS} more" if len(names) > _OPERATORS else ""
    at = "" if found.intensity is None else f" at {fmt.number(found.intensity)} FLOP/byte"
    return (
        f"Roofline: {fmt.share(found.share)} of what {found.architecture} allows, bound by "
        f"{bound}: "
        f"{fmt.number(found.flops_per_s / 1e12, 2)} TFLOP/s{at}, "
        f"{fmt.number(found.bytes / found.ns / 1000, 2)} TB/s, by the arguments of "
        f"{', '.join(names[:_OPERATORS])}{more} ({plural(found.launches, 'launch', 'launches')})."
    )


def measured_sentence(found: MeasuredPoint) -> str:
    """By the counters of Nsight Compute."""
    return (
        f"Counted: {fmt.number(found.flops_per_s / 1e12, 2)} TFLOP/s {found.precision} outside the "
        f"tensor cores ({fmt.share(found.flops_per_s / found.peak_flops_per_s)} of the peak), "
        f"{fmt.number(found.bytes_per_s / 1e12, 2)} TB/s of memory "
        f"({fmt.share(found.bytes_per_s / found.peak_bytes_per_s)}), "
        f"{fmt.number(found.intensity, 2)} FLOP/byte."
    )
