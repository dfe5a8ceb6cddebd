"""The verdict in one sentence, with the figures that it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.handoff import WINDOW
from ..analyzers.verdict import Answer
from . import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analyzers.host_overhead import HostOverhead
    from ..analyzers.verdict import Judgement, Metrics

_WINDOWS = {
    "trace": "the time from first to last kernel",
    "steady": "the steady state",
}


def headline(result: HostOverhead) -> str:
    """What the answer means, with the figure of the rule that fired."""
    answer, overall = result.answer, result.overall
    metrics, where = result.measured.metrics, window_name(result)
    idle = f"idle (no kernel running) {fmt.share(metrics.gpu_idle_ratio)} of {where}"
    if answer is Answer.NOT_APPLICABLE:
        return "it cannot be told whether the GPUs wait for the host"
    if overall.elevated_by:
        first = overall.elevated_by[0]
        own = result.phases[first].measured.metrics
        says = _waiting(overall.phases[first], own, "it")
        if overall.phases[first].crossed.get("gpu_idle_ratio"):
            says += f", {fmt.share(metrics.gpu_idle_ratio)} of {where}"
        return f"in {' and '.join(overall.elevated_by)} {says}"
    if answer is Answer.YES:
        return _waiting(overall.aggregate, metrics, where)
    if overall.aggregate.explained_by_copies:
        copies = (metrics.gpu_idle_ratio or 0.0) - (metrics.idle_without_copies or 0.0)
        return (
            f"no kernel runs in {fmt.share(metrics.gpu_idle_ratio)} of {where}, but copies do in "
            f"{fmt.share(copies)} of it"
        )
    return f"the host does not hold the GPUs up: {idle}"


def _waiting(judged: Judgement, metrics: Metrics, where: str) -> str:
    """For a YES: how the GPUs are kept waiting, by the signals that cross."""
    if judged.crossed.get("gpu_idle_ratio"):
        idle = fmt.share(metrics.gpu_idle_ratio)
        return f"the GPUs wait for the host: idle (no kernel running) {idle} of {where}"
    parts: list[str] = []
    if any(judged.crossed.get(name) for name in _PREP):
        exposed = fmt.share(metrics.host_prep_perf_impact)
        parts.append(f"inputs are prepared while the GPUs idle, in {exposed} of {where}")
    if judged.crossed.get("launch_overhead_ratio"):
        parts.append(f"launching takes {fmt.share(metrics.launch_overhead_ratio)} of {where}")
    return " and ".join(parts)


_PREP = ("host_prep_exposed_ratio", "host_prep_perf_impact", "host_prep_idle_attribution")


def window_name(result: HostOverhead) -> str:
    """A short name of what was judged."""
    window = result.window
    if window is None:
        return "the trace"
    if window.kind == "auto":
        return "the benchmark phase" if result.steps.benchmark is not None else _WINDOWS["trace"]
    return _WINDOWS.get(window.kind, "the chosen span")


def nccl_note(judged: Judgement) -> str:
    """What much NCCL time may mean. Where preparation is most of the idle time, the rest of the
    waiting is inside the NCCL kernels, which count as busy."""
    if judged.crossed.get("host_prep_idle_attribution"):
        return "NCCL time may be waiting for other ranks"
    return "idle time may be communication"


def in_words(places: Sequence[str]) -> str:
    """`in the whole window, in context and generation`."""
    phases = [place for place in places if place != WINDOW]
    parts = ["in the whole window"] if WINDOW in places else []
    parts += [f"in {' and '.join(phases)}"] if phases else []
    return ", ".join(parts)
