"""What there is to say of one row of two traces side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..analyzers.side_by_side import TIMES
from ..analyzers.step_spread import spread_buckets
from . import format as fmt
from .kernel_label import kernel_label
from .source_lines import source_lines

if TYPE_CHECKING:
    from ..analyzers.compare_detail import KernelPair, PairDetail, SourcePlace, Spread
    from ..queries.metric import Metric

T = TypeVar("T")
_PATH_LENGTH = 220
"""Characters: more would push what is below out of sight."""
_SOURCES = ("source, base", "source, target")

KERNEL_HEADING = f"{'change':>10} {'base':>9} {'target':>9} {'count':>13}  name"


@dataclass(frozen=True, slots=True)
class PairPlot:
    """Two distributions in the same buckets, base first."""

    title: str
    counts: tuple[tuple[int, ...], tuple[int, ...]]
    edges: tuple[str, str]
    figures: tuple[str, str]


@dataclass(frozen=True, slots=True)
class DetailText:
    """A row's detail, ready to be shown."""

    heading: str
    """Lines: path, what changed in the calls, sources with the lines around."""
    steps: PairPlot | None
    durations: PairPlot | None
    kernels: tuple[tuple[str, str], ...]
    """Under `KERNEL_HEADING`: figures and name."""


def detail_text(
    detail: PairDetail, metric: Metric, what: str, *, swapped: bool = False
) -> DetailText:
    """`what`: the metric's title. `swapped`: base and target have changed places. Reads the lines
    of sources that are on this machine."""
    turn = _turned if swapped else _same
    sides = turn(("base", "target"))
    old, new = turn(detail.paths)
    lines = [fmt.path(new or old, _PATH_LENGTH, keep_first=True) or "the whole trace"]
    if not (old and new):
        lines.append(f"only in the {sides[1] if new else sides[0]}" if old or new else "")
    if detail.changes:
        arrow = "target → base: " if swapped else ""
        lines.append(f"called differently: {arrow}{', '.join(map(str, detail.changes))}")
    if detail.no_steps:
        lines.append("no steps: the whole runs are compared")
    lines += _sources(turn(detail.sources))
    return DetailText(
        heading="\n".join(line for line in lines if line),
        steps=_steps(detail, metric, what, swapped=swapped),
        durations=_durations(detail, swapped=swapped),
        kernels=tuple(_kernel(pair, swapped=swapped) for pair in detail.kernels),
    )


def _steps(detail: PairDetail, metric: Metric, what: str, *, swapped: bool) -> PairPlot | None:
    if detail.steps is None:
        return None
    buckets = spread_buckets(detail.steps[0].values, detail.steps[1].values)
    if buckets is None:
        return None
    turn = _turned if swapped else _same
    text = fmt.duration if metric in TIMES else _number
    return PairPlot(
        title=f"{what} in each step",
        counts=turn((buckets.base_counts, buckets.target_counts)),
        edges=(text(buckets.edges[0]), text(buckets.edges[-1] - 1)),
        figures=turn((_figures(detail.steps[0], text), _figures(detail.steps[1], text))),
    )


def _figures(spread: Spread, text: Callable[[float], str]) -> str:
    if not len(spread.values):
        return fmt.NA
    quantiles = " · ".join(f"p{100 * q:.0f} {text(spread.quantile(q))}" for q in (0.1, 0.5, 0.9))
    return f"mean {text(spread.mean)} · {quantiles}"


def _durations(detail: PairDetail, *, swapped: bool) -> PairPlot | None:
    histogram = detail.histogram
    if histogram is None:
        return None
    turn = _turned if swapped else _same
    counts = (histogram.base_counts, histogram.target_counts)
    medians = (histogram.base_p50_ns, histogram.target_p50_ns)
    figures = [
        f"p50 {fmt.duration(median)} · {fmt.count(sum(side))} in the recording"
        for median, side in zip(medians, counts, strict=True)
    ]
    return PairPlot(
        title="duration of each kernel",
        counts=turn(counts),
        edges=(fmt.duration(histogram.edges_ns[0]), fmt.duration(histogram.edges_ns[-1])),
        figures=turn((figures[0], figures[1])),
    )


def _kernel(pair: KernelPair, *, swapped: bool) -> tuple[str, str]:
    base, target = (pair.target, pair.base) if swapped else (pair.base, pair.target)
    calls = [pair.base_calls, pair.target_calls]
    if swapped:
        calls.reverse()
    delta = target - base
    change = f"{'+' if delta > 0 else ''}{fmt.duration(delta)}" if delta else "0"
    count = f"{_number(calls[0])}→{_number(calls[1])}"
    name = kernel_label(pair.name)
    if pair.base_name is not None and (was := kernel_label(pair.base_name)) != name:
        name = f"{name} (was {was})"
    return f"{change:>10} {_time(base):>9} {_time(target):>9} {count:>13}  ", name


def _time(ns: float) -> str:
    return fmt.duration(ns) if ns else "-"


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _sources(places: tuple[SourcePlace | None, SourcePlace | None]) -> list[str]:
    """Where both sides stand in the program, with the lines there."""
    names = ("source", "") if _place(places[0]) == _place(places[1]) else _SOURCES
    found: list[str] = []
    for name, place in zip(names, places, strict=True):
        if not name or place is None:
            continue
        text = source_lines(place.file, place.line, since_utc_ns=place.since_utc_ns)
        if isinstance(text, str):
            found.append(f"{name}: {_place(place)} ({text})")
        else:
            note = " (written after the recording)" if text.changed else ""
            found += [f"{name}: {_place(place)}{note}", *text.numbered()]
    return found


def _place(place: SourcePlace | None) -> str:
    if place is None:
        return ""
    line = "" if place.line is None else f":{place.line}"
    return f"{place.file}{line} {place.name}"


def _same(pair: tuple[T, T]) -> tuple[T, T]:
    return pair


def _turned(pair: tuple[T, T]) -> tuple[T, T]:
    return pair[1], pair[0]
