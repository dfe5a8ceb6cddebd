"""The verdict on host overhead as text and Markdown: what is slow, why we think so, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.handoff import prep_confirmed_in
from ..analyzers.verdict import COUNTED, Judgement, Metrics
from . import format as fmt
from .findings import findings_text
from .headline import headline, in_words, nccl_note
from .host_json import HostReport
from .idle_causes import causes_text
from .next_step import next_step
from .step_times import step_times
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.config import Thresholds

SHORT: dict[str, str] = dict(zip(COUNTED, ("M1", "M2", "M3a", "M3b", "M3c", "M4"), strict=True))
_PREP = ("host_prep_exposed_ratio", "host_prep_perf_impact", "host_prep_idle_attribution")


def verdict_text(report: HostReport, *, width: int = 80) -> str:
    """Lines of at most `width` characters."""
    result = report.result
    lines = paragraph(_headline(report), width)
    lines += paragraph(f"window: {_window(report)}", width, indent="  ")
    for condition in result.reliability.conditions:
        text = f"! {condition.code} {condition.trust.name.lower()}: {condition.text}"
        lines += paragraph(text, width, indent="  ")
    lines.append("")
    lines += paragraph(_sentence(report), width)
    lines += table(
        ("signal", "value", "limit", "crossed"), signals(report), width, left=(1, 2, 3), indent=""
    )
    lines += paragraph(_counts(report), width)
    lines += _blocked(report, width)
    lines += paragraph(_devices(report), width, indent="  ")
    for reason, names in _missing(result.measured.metrics).items():
        lines += paragraph(f"n/a: {', '.join(names)} ({reason})", width, indent="  ")
    if result.phases:
        lines += ["", *table(_PHASE_HEADINGS, phases(report), width, indent="",
                             left=(5, 6))]  # fmt: skip
    lines += _guide(report, width)
    lines += ["", *causes_text(report, width)]
    if len(result.steps):
        lines += ["", *step_times(result.steps, width)]
    lines += ["", *findings_text(report.findings, width)] if report.findings else []
    lines += ["", *paragraph(f"Next: {next_step(report)}", width, indent="  ")]
    return "\n".join(lines) + "\n"


def signals(report: HostReport) -> list[tuple[str, str, str, str]]:
    """Three signals, each with its values, limits and the metrics of it that cross."""
    metrics, limits = report.result.measured.metrics, report.result.config.thresholds
    judged = report.result.overall.aggregate
    copies = None
    if metrics.gpu_idle_ratio is not None and metrics.idle_without_copies is not None:
        copies = metrics.gpu_idle_ratio - metrics.idle_without_copies
    idle = (
        f"{_pc(metrics.gpu_idle_ratio)} (busy {_pc(metrics.gpu_utilization)}; copies {_pc(copies)})"
    )
    if metrics.gpu_idle_ratio is None:
        idle = fmt.NA
    launch = report.result.measured.launch
    net = metrics.launch_overhead_ratio
    cost = fmt.NA if net is None else f"{_pc(net)} net, busiest thread"
    if launch is not None and net is not None:
        cost += f" (sum {_pc(launch.sum_ratio)})"
    return [
        (
            "GPU idle",
            idle,
            f">{_limit(limits.gpu_idle_ratio)} / <{_limit(limits.gpu_utilization)}",
            _crossed(judged, ("gpu_idle_ratio", "gpu_utilization")),
        ),
        (
            "Launch",
            cost,
            f">{_limit(limits.launch_overhead_ratio)}",
            _crossed(judged, ("launch_overhead_ratio",)),
        ),
        ("Prep", _prep(metrics), _prep_limit(limits), _crossed(judged, _PREP)),
    ]


_PHASE_HEADINGS = ("phase", "steps", "idle", "launch", "prep a/b/c", "crossed", "verdict")


def phases(report: HostReport) -> list[tuple[str, ...]]:
    """One row a phase."""
    overall = report.result.overall
    rows: list[tuple[str, ...]] = []
    for name, phase in report.result.phases.items():
        judged, metrics = overall.phases[name], phase.measured.metrics
        verdict = judged.answer.value
        if name in overall.elevated_by:
            verdict += "  <- elevates"
        if name == "generation":
            verdict += f" (CUDA graphs: {'yes' if phase.graphs else 'no'})"
        prep = [metrics.value(metric) for metric in _PREP]
        rows.append(
            (
                name,
                fmt.count(phase.iterations),
                _pc(metrics.gpu_idle_ratio),
                _pc(metrics.launch_overhead_ratio),
                fmt.NA if prep[0] is None else "/".join(f"{100 * (v or 0):.1f}" for v in prep),
                f"{judged.crossed_count}/{judged.applicable_count}",
                verdict,
            )
        )
    return rows


def _headline(report: HostReport) -> str:
    result = report.result
    text = f"Host overhead: {result.answer.value}   reliability: "
    return text + result.reliability.level.name.lower()


def _sentence(report: HostReport) -> str:
    text = headline(report.result)
    return f"{text[0].upper()}{text[1:]}."


def _window(report: HostReport) -> str:
    window = report.result.window
    if window is None:
        return fmt.NA
    span = fmt.span(window.start_ns, window.end_ns)
    return f"{span} ({window.kind}: {window.reason})"


def _counts(report: HostReport) -> str:
    result = report.result
    judged, limit = result.overall.aggregate, result.config.thresholds.nccl_ratio
    confirmed = in_words(prep_confirmed_in(result)) or "no"
    nccl = result.measured.metrics.nccl_ratio
    text = (
        f"crossed {judged.crossed_count} of {judged.applicable_count}   "
        f"host prep confirmed: {confirmed}   "
        f"NCCL {_pc(nccl)}{'' if nccl is None else ' of GPU time'} (limit {_limit(limit)})"
    )
    if judged.nccl_caveat:
        text += f"   {nccl_note(judged)}"
    if judged.explained_by_copies:
        text += "   GPU idle is explained by copies"
    return text


def _missing(metrics: Metrics) -> dict[str, list[str]]:
    """Metrics that cannot be known, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in metrics.missing.items():
        reasons.setdefault(reason, []).append(SHORT.get(name, "M5"))
    return {reason: sorted(names) for reason, names in reasons.items()}


def _blocked(report: HostReport, width: int) -> list[str]:
    """The part of the launch time that does not count; nothing where there is none."""
    launch = report.result.measured.launch
    if launch is None or not launch.blocked_share:
        return []
    text = (
        f"launch: {_pc(launch.gross_ratio)} with the time blocked in it, which is "
        f"{_pc(launch.blocked_share)} of all launch time (told by {launch.blocked_by})"
    )
    return paragraph(text, width, indent="  ")


def _devices(report: HostReport) -> str:
    """What idle means, and each device."""
    devices = report.result.measured.devices
    if not devices:
        return "no device did GPU work in the window"
    listed, more = fmt.limited(devices, "GPUs", "--json")
    parts = ", ".join(
        [
            *(
                f"{d.label} {_pc(d.idle_ratio)}{'' if d.takes_part else ' (takes no part)'}"
                for d in listed
            ),
            *more,
        ]
    )
    return f"idle (no kernel or graph running): {parts}"


def _guide(report: HostReport, width: int) -> list[str]:
    result = report.result
    if result.guide.answer is result.answer:
        return []
    guide = result.guide.aggregate
    return [
        "",
        *paragraph(
            f"By the published guide's own count (copies as idle, blocked launches as overhead): "
            f"{result.guide.answer.value}, {guide.crossed_count} of {guide.applicable_count}.",
            width,
        ),
    ]


def _crossed(judged: Judgement, names: tuple[str, ...]) -> str:
    short = [SHORT[name] for name in names if judged.crossed.get(name)]
    if len(short) > 1 and names == _PREP:
        return "M3" + ",".join(name.removeprefix("M3") for name in short)
    return " ".join(short) or "-"


def _prep(metrics: Metrics) -> str:
    exposed, impact, of_idle = (metrics.value(name) for name in _PREP)
    if exposed is None:
        return fmt.NA
    return f"exposed {_pc(exposed)}, impact {_pc(impact)}, of idle {_pc(of_idle)}"


def _prep_limit(limits: Thresholds) -> str:
    values = (getattr(limits, name) for name in _PREP)
    return " ".join(f">{100 * value:g}" for value in values) + " %"


def _limit(ratio: float) -> str:
    return f"{100 * ratio:g} %"


def _pc(ratio: float | None) -> str:
    return fmt.share(ratio)
