"""A comparison of two traces as text and as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analyzers.causes import causes
from ..analyzers.change import Change, Status
from ..analyzers.conclusion import Outcome
from ..analyzers.quantities import plural
from . import format as fmt
from . import markdown as md
from .findings import findings_markdown, findings_text
from .next_step import next_step
from .steps import short_place
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.conclusion import Conclusion
    from ..analyzers.pairing import Compared
    from ..analyzers.regression import Comparison, TableChange
    from ..analyzers.step_table import Series
    from .host_json import HostReport

_GPU = "GPU work"
_SHOWN = 20
_SHOWN_UNCHANGED = 5
_CAUSES = 5
"""Operations named in a sentence; the table has all."""
_HEADINGS = ("", "name", "base", "target", "change", "%", "where")

_REMEDY = (
    "Record the same work with 20 or more steady steps on both sides; steps that are marked in "
    "another way are named with --step-regex."
)


def compare_text(report: HostReport, *, width: int = 80) -> str:
    """The comparison in lines of at most `width` characters, and the verdict on the target."""
    result = compared(report)
    baseline, target = report.labels
    lines = paragraph(f"Compare: {baseline} (base) → {target} (target)", width)
    comparison, conclusion = result.comparison, result.conclusion
    if comparison is None or conclusion is None:
        lines += paragraph(f"Not comparable: {result.not_comparable}.", width)
        lines += paragraph(_REMEDY, width)
        lines += ["", *paragraph(target_verdict(report), width)]
        return "\n".join(lines) + "\n"
    for sentence in (*conclusion.sentences, *cause_sentences(comparison, conclusion)):
        lines += paragraph(sentence, width)
    lines += paragraph(basis(result, comparison), width)
    for caution in result.cautions:
        lines += paragraph(f"! {caution}", width, indent="  ")
    lines.append("")
    lines += table(
        ("per step and rank", "base", "target", "change", "%", ""), summary(comparison), width,
        left=(5,), indent="",
    )  # fmt: skip
    for title, changed, why in _tables(comparison):
        if title == _GPU:
            lines += [f"  {line}" for line in paragraph(unattributed(comparison), width - 2)]
        lines.append("")
        if changed is None:
            lines += paragraph(f"{title}: n/a, {why}.", width)
            continue
        rows, hidden = _chosen(changed)
        lines.append(f"{title}, µs per step")
        lines += table(_HEADINGS, [_row(changed, row) for row in rows], width, left=(0, 6), name=1)
        lines += paragraph(f"  {_rest(hidden)}", width, indent="  ") if hidden else []
    lines += ["", *paragraph(_LEGEND, width)]
    lines += ["", *findings_text(report.findings, width)] if report.findings else []
    lines += ["", *paragraph(target_verdict(report), width)]
    return "\n".join(lines) + "\n"


def cause_sentences(comparison: Comparison, conclusion: Conclusion) -> list[str]:
    """The operations behind the change, largest first; what the conclusion names is left out."""
    sentences: list[str] = []
    if conclusion.outcome is Outcome.UNCHANGED:
        return sentences
    for what, worse in (("Slower or new", True), ("Faster or gone", False)):
        if worse and conclusion.outcome is Outcome.IMPROVED:
            continue
        found = causes(comparison, worse=worse)
        if found:
            named = ", ".join(f"{name} {_us(ns, sign=True)} µs" for name, ns in found[:_CAUSES])
            more = f" and {len(found) - _CAUSES} more" if len(found) > _CAUSES else ""
            sentences.append(f"{what}, per step: {named}{more}.")
    return sentences


def compare_markdown(report: HostReport) -> str:
    """The same for a pull request; the long tables are folded away."""
    result = compared(report)
    comparison, conclusion = result.comparison, result.conclusion
    lines = [f"### Host overhead: {' → '.join(map(md.cell, report.labels))}", ""]
    if comparison is None or conclusion is None:
        lines += [
            f"Not comparable: {md.plain(str(result.not_comparable))}. {md.plain(_REMEDY)}",
            "",
        ]
        return "\n".join([*lines, md.plain(target_verdict(report)), ""])
    lines += [f"**{md.plain(conclusion.sentences[0])}**"]
    lines += [
        md.plain(sentence)
        for sentence in (*conclusion.sentences[1:], *cause_sentences(comparison, conclusion))
    ]
    lines += ["", md.plain(basis(result, comparison))]
    lines += [f"⚠ {md.plain(caution)}" for caution in result.cautions]
    lines += ["", *md.table(
        ("per step and rank", "base", "target", "change", "%", ""), summary(comparison),
        left=(0, 5),
    ), ""]  # fmt: skip
    for title, changed, why in _tables(comparison):
        if title == _GPU:
            lines += [md.plain(unattributed(comparison)), ""]
        if changed is None:
            lines += [f"{title}: n/a, {md.plain(why)}.", ""]
            continue
        rows, hidden = _chosen(changed)
        cells: list[Sequence[str]] = []
        for row in rows:
            status, name, *figures, place = _row(changed, row)
            cells.append((status, md.cell(name), *figures, place))
        open_ = bool(changed.rows_of(*(s for s in Status if s is not Status.UNCHANGED)))
        lines += [f"<details{' open' if open_ else ''}><summary>{title}, µs per step</summary>", ""]
        lines += md.table(_HEADINGS, cells, left=(0, 1, 6))
        lines += ["", _rest(hidden)] if hidden else []
        lines += ["", "</details>", ""]
    lines += [*findings_markdown(report.findings), ""] if report.findings else []
    lines += [md.plain(target_verdict(report)), ""]
    return "\n".join(lines)


def compared(report: HostReport) -> Compared:
    """The comparison of a report that has one."""
    if report.compared is None:
        raise ValueError("the report is about one trace")
    return report.compared


def target_verdict(report: HostReport) -> str:
    """The target judged by itself."""
    result = report.result
    idle = fmt.share(result.measured.metrics.gpu_idle_ratio)
    return (
        f"Verdict on the target: host overhead {result.answer.value}, GPU idle {idle} "
        f"(reliability: {result.reliability.level.name.lower()}; dctx verdict tells more). "
        f"Next: {next_step(report)}"
    )


_LEGEND = (
    "where: step, gap after it, other = another thread of the process (may overlap the step), "
    "nested = inside another row. + and - mark changes that are certain but small."
)


def basis(result: Compared, comparison: Comparison) -> str:
    """What the figures are means of."""
    old, new = comparison.baseline.iterations, comparison.target.iterations
    steps = f"{plural(old, 'steady step')} on each side"
    if old != new:
        steps = f"{plural(old, 'steady step')} of the base, {new:,} of the target"
    work = ""
    if result.generation is not None:
        work = f", {plural(result.generation, 'generation request')} each"
    return (
        f"Compared: {steps} (those that another one follows), on {_ranks(comparison)}{work}. "
        "Means over steps, then over ranks."
    )


def _ranks(comparison: Comparison) -> str:
    old, new = len(comparison.baseline.ranks), len(comparison.target.ranks)
    return plural(old, "rank") if old == new else f"{old} and {plural(new, 'rank')}"


def summary(comparison: Comparison) -> list[tuple[str, ...]]:
    """Times and counts per step, one row each."""
    old, new = comparison.baseline, comparison.target
    rows = [
        _change("wall per step, µs", comparison.wall),
        _change("step duration, µs", comparison.duration),
        _change("gap to the next step, µs", comparison.gap),
        _plain("gap, median (p50), µs", old.gap.p50_ns, new.gap.p50_ns, 1000),
    ]
    for name, before, after, divisor in (
        ("launched kernels", old.launched_kernels, new.launched_kernels, 1),
        ("kernel time of these, µs", old.launched_ns, new.launched_ns, 1000),
        ("executed kernels", old.executed_kernels, new.executed_kernels, 1),
        ("kernel time, µs", old.gpu_ns, new.gpu_ns, 1000),
        ("time in launch calls, µs", old.launch_ns, new.launch_ns, 1000),
        ("copied, bytes", old.copy_bytes, new.copy_bytes, 1),
    ):
        decimals = 0 if divisor == 1 and "bytes" in name else 1
        rows.append(_plain(name, _mean(before), _mean(after), divisor, decimals))
        if name == "launched kernels" and max(len(old.ranks), len(new.ranks)) > 1:
            rows.append(_plain("  on all ranks", _sum(before), _sum(after), 1))
    return rows


def unattributed(comparison: Comparison) -> str:
    """What the rows do not explain."""
    rest = comparison.unattributed_ns
    if rest is None:
        return "Unattributed: n/a, no operations are known on both sides."
    gap, step = comparison.unattributed_gap_ns, comparison.unattributed_step_ns
    parts = ""
    if gap is not None and step is not None:
        parts = f" (gap {_us(gap, sign=True)}, step {_us(step, sign=True)})"
    return (
        f"Unattributed: {_us(rest, sign=True)} µs per step{parts}: the part of the change that no "
        "range or CUDA call of the step's thread explains."
    )


def _tables(comparison: Comparison) -> tuple[tuple[str, TableChange | None, str], ...]:
    old, new = comparison.baseline, comparison.target
    host = _why(old.host_missing, new.host_missing)
    return (
        ("Operations", comparison.operations, host),
        ("CUDA calls", comparison.calls, host),
        (_GPU, comparison.kernels, _why(old.gpu_missing, new.gpu_missing)),
    )


def _why(baseline: str | None, target: str | None) -> str:
    if baseline is not None:
        return f"base: {baseline}"
    return f"target: {target}" if target is not None else ""


def _chosen(changed: TableChange) -> tuple[list[int], int]:
    """Rows to show, the largest change first, and how many are left out."""
    rows = changed.rows_of(*(status for status in Status if status is not Status.UNCHANGED))
    marked = [row for row in range(len(changed)) if changed.mark(row)]
    rest = [row for row in changed.rows_of(Status.UNCHANGED) if row not in set(marked)]
    shown = sorted([*rows, *marked][:_SHOWN] + rest[:_SHOWN_UNCHANGED])
    return shown, len(changed) - len(shown)


def _rest(hidden: int) -> str:
    return f"… and {hidden} more, smaller or unchanged (all were compared; --json has them)."


def _row(changed: TableChange, row: int) -> tuple[str, ...]:
    status, mark = changed.status[row], changed.mark(row)
    place = changed.place(row)
    percent = changed.delta_percent(row)
    return (
        mark or ("" if status is Status.UNCHANGED else status.value),
        changed.names[row],
        _us(float(changed.baseline_ns[row])) if changed.baseline_row[row] >= 0 else "-",
        _us(float(changed.target_ns[row])) if changed.target_row[row] >= 0 else "-",
        _us(float(changed.delta_ns[row]), sign=True),
        "" if percent is None else fmt.change_percent(percent),
        short_place(place),
    )


def _change(name: str, change: Change) -> tuple[str, ...]:
    return (
        name,
        _us(change.baseline),
        _us(change.target),
        _us(change.delta, sign=True),
        fmt.change_percent(change.percent),
        "" if change.significant else "(cannot tell)" if change.noise is None else "(no change)",
    )


def _plain(
    name: str, old: float | None, new: float | None, divisor: int, decimals: int = 1
) -> tuple[str, ...]:
    if old is None or new is None:
        cells = [fmt.NA if v is None else fmt.number(v / divisor, decimals) for v in (old, new)]
        return (name, *cells, "", "", "")
    return (
        name,
        fmt.number(old / divisor, decimals),
        fmt.number(new / divisor, decimals),
        fmt.number((new - old) / divisor, decimals, sign=True),
        fmt.change_percent(100 * (new - old) / old) if old else "",
        "",
    )


def _mean(series: Series | None) -> float | None:
    return None if series is None else series.mean


def _sum(series: Series | None) -> float | None:
    """Over all ranks."""
    return None if series is None or series.mean is None else series.mean * len(series.values)


def _us(ns: float, *, sign: bool = False) -> str:
    return fmt.number(ns / 1000, sign=sign)
