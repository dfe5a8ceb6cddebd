"""What to do now, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.handoff import FirstTarget, first_target
from ..analyzers.reliability import Trust
from ..analyzers.verdict import Answer
from . import format as fmt

if TYPE_CHECKING:
    from .host_json import HostReport


def next_step(report: HostReport) -> str:
    """What to do now, in one sentence."""
    result = report.result
    if result.answer is Answer.NOT_APPLICABLE:
        reasons = {c.text for c in result.reliability.conditions if c.trust.name == "UNRELIABLE"}
        return "record again with a timeline of the GPU work" + (
            f" ({'; '.join(sorted(reasons))})." if reasons else "."
        )
    text = _advice(report)
    if result.reliability.level is Trust.UNRELIABLE:
        text = f"record a longer or complete run first, this one cannot be relied on; then {text}"
    return text


def _advice(report: HostReport) -> str:
    result = report.result
    if result.answer is Answer.NO and result.overall.aggregate.explained_by_copies:
        return (
            "look at the copies first (Kernels view): they run while no kernel does, and the host "
            "is not what limits this run."
        )
    if result.answer is Answer.NO:
        return (
            "look at the GPU's own time, the kernels first (dctx overview, or the Kernels view): "
            "the host is not what limits this run."
        )
    comparison = None if report.compared is None else report.compared.comparison
    target = first_target(report.judged, comparison)
    if target is None:
        return "look at what the launching threads do while the GPU idles (Call paths view)."
    over = len(result.measured.taking_part)
    whole = ", with what it calls" if target.nested else ""
    return f"start with {target.name}{_source(target)}: {target.why}{_time(target, over)}{whole}."


def _source(target: FirstTarget) -> str:
    return "" if target.source is None or target.source == target.name else f" ({target.source})"


def _time(target: FirstTarget, devices: int) -> str:
    if target.ns is None:
        return ""
    return f", {fmt.duration(target.ns)}{f' over {devices} GPUs' if devices > 1 else ''}"
