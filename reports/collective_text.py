"""Collectives for people: who is late, and what the collectives cost."""

from __future__ import annotations

from math import isnan
from statistics import median
from typing import TYPE_CHECKING, Final

from ..analyzers.collective_stragglers import Straggler, stragglers
from ..analyzers.quantities import plural
from . import format as fmt
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.collective_report import CollectiveReport
    from ..analyzers.collective_timing import Timed

_MOST_RANKS: Final = 16
_MOST_CALLS: Final = 16


def collective_text(report: CollectiveReport, width: int) -> str:
    """The verdict, the ranks and the collectives, in lines of at most `width` characters."""
    of = report.timed
    if not len(of.found):
        return "The trace holds no communication kernels.\n"
    found = stragglers(of)
    counts, verdict = _counts(of), _verdict(found)
    if report.scope is not None:
        counts = f"{counts[:-1]} launched in {report.scope.label}."
    lines = paragraph(counts, width)
    for note in report.notes:
        lines += paragraph(f"! {note}", width, "  ")
    lines += ["", *paragraph(verdict, width)]
    if any(one.collectives for one in found):
        lines += ["", *_ranks(of, found, width)]
    return "\n".join([*lines, "", *_calls(of, width), "", *paragraph(_LEGEND, width)]) + "\n"


def summary_lines(report: CollectiveReport, found: list[Straggler]) -> list[str]:
    """How much there is, who is late, and what to know before trusting a figure; none without
    communication."""
    if not len(report.timed.found):
        return []
    notes = [f"! {note}" for note in report.notes]
    return [f"{_counts(report.timed)} {_verdict(found)}", *notes]


def _counts(of: Timed) -> str:
    ranks = sum(member.rank is not None for member in of.found.members)
    return (
        f"{plural(ranks, 'rank')}, {plural(len(of.first), 'collective')}, "
        f"{plural(len(of.found), 'communication kernel')}."
    )


_LEGEND: Final = (
    "comm: time of all communication kernels, waits included. wait: from a rank's start to the "
    "last rank's. latency: the shortest duration of a collective over the ranks. --sheet, --csv "
    "and --xlsx give every collective and rank."
)


def _verdict(found: list[Straggler]) -> str:
    if not any(one.collectives for one in found):
        return "There are no other ranks in the trace: name the files of all to see who waits."
    late, others = found[0], found[1:]
    if not late.often_last or not others:
        return "No rank is late in most collectives."
    if not late.stands_out:
        return (
            f"No rank is late by much: rank {late.rank} comes last in "
            f"{fmt.count(late.times_last)} of {fmt.count(late.collectives)} collectives, but by "
            f"{fmt.duration(late.late_ns)} in the median."
        )
    waits = sorted(one.judged_wait_ns for one in others)
    least, most = fmt.duration(waits[0]), fmt.duration(waits[-1])
    span = least if least == most else f"{least} to {most}"
    return (
        f"Rank {late.rank} is late: the last in {fmt.count(late.times_last)} of "
        f"{fmt.count(late.collectives)} collectives. The others wait {span} in all, it waits "
        f"{fmt.duration(late.judged_wait_ns)}. Look at what this rank does before its collectives: "
        "more work, a slower GPU, or a busy host."
    )


def _ranks(of: Timed, found: list[Straggler], width: int) -> list[str]:
    wait = fmt.time_column(max(one.total_wait_ns for one in found))
    comm = fmt.time_column(max(one.total_dur_ns for one in found))
    shown = found[:_MOST_RANKS]
    rows = [
        (
            f"rank {one.rank}",
            wait.text(one.total_wait_ns),
            wait.text(one.wait_est_ns),
            fmt.count(one.times_last),
            fmt.count(one.times_first),
            fmt.count(one.collectives),
            comm.text(one.total_dur_ns),
        )
        for one in shown
    ]
    headings = (
        "", f"wait {wait.unit}", f"by duration {wait.unit}", "last", "first", "of",
        f"comm {comm.unit}",
    )  # fmt: skip
    lines = list(table(headings, rows, width))
    more = len(found) - len(shown)
    return [*lines, f"  {more} more ranks"] if more > 0 else lines


def _calls(of: Timed, width: int) -> list[str]:
    """Collectives by what they were called with, longest first."""
    found = of.found
    groups: dict[tuple[str, str, int, int], list[int]] = {}
    for i, event in enumerate(of.first.tolist()):
        name = found.name_at(event) or found.text(int(found.work.name[event])) or "?"
        dtype = found.text(int(found.dtype[event])) or ""
        key = (name, dtype, int(found.in_elements[event]), int(found.group[event]))
        groups.setdefault(key, []).append(i)
    _, bus = of.bandwidth()
    sizes, skews = of.full_bytes(), of.skew_start_ns()
    ordered = sorted(groups.items(), key=lambda g: -sum(int(of.latency_ns[i]) for i in g[1]))
    rows: list[tuple[str, ...]] = []
    for (name, dtype, _, _), members in ordered[:_MOST_CALLS]:
        rates = [float(bus[i]) for i in members if not isnan(bus[i])]
        skew = [float(skews[i]) for i in members if not isnan(skews[i])]
        whole = float(sizes[members[0]])
        rows.append(
            (
                f"{name} {dtype}".strip(),
                fmt.NA if isnan(whole) else fmt.size(round(whole)),
                fmt.count(of.traits[members[0]].group_size),
                fmt.count(len(members)),
                fmt.duration(median(int(of.latency_ns[i]) for i in members)),
                fmt.duration(max(skew, default=None)),
                fmt.number(median(rates)) if rates else fmt.NA,
            )
        )
    headings = ("collective", "size", "ranks", "count", "latency", "most skew", "bus GB/s")
    lines = list(table(headings, rows, width))
    more = len(ordered) - len(rows)
    return [*lines, f"  {more} more"] if more > 0 else lines
