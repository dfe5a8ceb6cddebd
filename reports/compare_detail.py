"""What there is to say of one row of two traces side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..analyzers.side_by_side import TIMES
from ..analyzers.step_spread import spread_buckets
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.compare_detail import KernelPair, PairDetail, SourcePlace, Spread
    from ..queries.metric import Metric

T = TypeVar("T")

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
    """Lines: path, what changed in the calls, sources."""
    steps: PairPlot | None
    durations: PairPlot | None
    kernels: tuple[tuple[str, str], ...]
    """Under `KERNEL_HEADING`: figures and name."""


def detail_text(
    detail: PairDetail, metric: Metric, what: str, *, swapped: bool = False
) -> DetailText:
    """`what`: the metric's title. `swapped`: base and target have changed places."""
    turn = _turned if swapped else _same
    sides = turn(("base", "target"))
    old, new = turn(detail.paths)
    lines = [" > ".join(new or old) or "the whole trace"]
    if not (old and new):
        lines.append(f"only in the {sides[1] if new else sides[0]}" if old or new else "")
    if detail.changes:
        arrow = "target → base: " if swapped else ""
        lines.append(f"called differently: {arrow}{', '.join(map(str, detail.changes))}")
    places = [_place(place) for place in turn(detail.sources)]
    if places[0] == places[1] and places[0]:
        lines.append(f"source: {places[0]}")
    else:
        lines += [
            f"source, {name}: {place}"
            for name, place in zip(("base", "target"), places, strict=True)
            if place
        ]
    if detail.no_steps:
        lines.append(f"no steps: {detail.no_steps}")
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
    name = pair.name if pair.base_name is None else f"{pair.name} (was {pair.base_name})"
    return f"{change:>10} {_time(base):>9} {_time(target):>9} {count:>13}  ", name


def _time(ns: float) -> str:
    return fmt.duration(ns) if ns else "-"


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _place(place: SourcePlace | None) -> str:
    if place is None:
        return ""
    line = "" if place.line is None else f":{place.line}"
    return f"{place.file}{line} {place.name}"


def _same(pair: tuple[T, T]) -> tuple[T, T]:
    return pair


def _turned(pair: tuple[T, T]) -> tuple[T, T]:
    return pair[1], pair[0]
