"""Where steps come from: marked ranges, a repeating CUDA graph, or all-reduces. The first that
gives steps is used, in an order from the most to the least certain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..queries.ops import graph_replays
from ..queries.ranges import Ranges, RangeText, range_texts, ranges_named
from ..queries.recorded_steps import recorded_steps
from ..queries.trace import Trace
from .all_reduce import AllReduce
from .distinct import distinct
from .markers import (
    GENERIC,
    LIKELY,
    PRESETS,
    Marked,
    Method,
    StepText,
    is_library,
    matching,
    of_preset,
)
from .quantities import plural
from .step_columns import (
    Found,
    as_steps,
    by_name,
    counted,
    nothing,
    outermost,
    selected,
    unnamed,
)
from .text_pattern import TextPattern

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

NONE_DETECTED = "no iterations detected"
_FEWEST_GENERIC = 5
_GENERIC_VARIATION = 0.5
"""Standard deviation of the periods over their mean: more is no steady rhythm."""
_FEWEST_REPLAYS = 5


_LONG_PAUSE_NS = 100_000_000
_LONG_PAUSE_PERIODS = 20


def long_pause_ns(median_period_ns: float) -> float:
    """A longer pause separates two runs of steps."""
    return max(_LONG_PAUSE_NS, _LONG_PAUSE_PERIODS * median_period_ns)


@dataclass(frozen=True, slots=True)
class Source:
    """The steps, and how they were found."""

    method: Method
    reason: str
    found: Found
    on_device: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of ranges that may be steps: the program's own, and the domains of libraries."""

    own: tuple[RangeText, ...]
    library_domains: tuple[int, ...]


def read_texts(trace: Trace, *, likely_only: bool) -> Texts:
    """likely_only: leave out texts that no preset knows (there may be millions)."""
    texts = range_texts(trace, LIKELY if likely_only else None)
    libraries = {item.domain_id for item in texts if is_library(item.domain)}
    own = tuple(item for item in texts if item.domain_id not in libraries)
    return Texts(own, tuple(sorted(libraries)))


def find_source(
    trace: Trace, texts: Texts, pattern: TextPattern | None, all_reduce: AllReduce | None
) -> Source:
    """The first source that gives steps. A pattern of the user is the only one that is tried."""
    if pattern is not None:
        own = {item.name for item in texts.own}
        said = {name: text for name, text in pattern.said(trace).items() if name in own}
        found = as_steps(outermost(_ranges(trace, texts, said)), said)
        if not len(found.start_ns):
            return Source(Method.NONE, f"no range has a text with {pattern.text!r}", nothing())
        reason = f"{counted(found)} whose text has {pattern.text!r}"
        return Source(Method.USER, reason, found)
    return (
        _from_recording(trace)
        or _from_presets(trace, texts)
        or _from_generic(trace, texts)
        or _from_graphs(trace)
        or _from_all_reduce(all_reduce)
        or Source(
            Method.NONE,
            f"{NONE_DETECTED}: no range of a known framework, no numbered ranges in a steady "
            "rhythm, no repeating CUDA graph and no all-reduce pattern; only the window as a whole "
            "can be judged",
            nothing(),
        )
    )


def _from_recording(trace: Trace) -> Source | None:
    """Steps that were counted while the program ran. Rows that hold several become as many steps of
    one length: the single ones are not known any more."""
    rows = recorded_steps(trace)
    if not len(rows.lane):
        return None
    row = np.repeat(np.arange(len(rows.lane)), rows.steps)
    within = np.arange(len(row)) - np.repeat(np.cumsum(rows.steps) - rows.steps, rows.steps)
    length = rows.wall_ns // rows.steps
    start = rows.start_ns[row] + within * length[row]
    found = replace(
        unnamed(rows.lane[row], start, start + length[row]), number=rows.number[row] + within
    )
    reason = f"{plural(len(row), 'step')} that were counted while the program ran"
    if bool((rows.steps > 1).any()):
        longest = int(np.argmax(rows.longest_ns))
        first, last = rows.number[longest], rows.number[longest] + rows.steps[longest] - 1
        where = f"step {first}" if first == last else f"one of steps {first} to {last}"
        reason += (
            f", kept as {plural(len(rows.lane), 'row')}: steps of one row are shown with their "
            f"mean; the longest took {rows.longest_ns[longest] / 1e6:,.3f} ms ({where})"
        )
    return Source(Method.RECORDED, reason, found)


def _from_presets(trace: Trace, texts: Texts) -> Source | None:
    marked = [m for m in (of_preset(preset, texts.own) for preset in PRESETS) if m is not None]
    best: tuple[Marked, Found] | None = None
    for candidate in marked:
        ranges = outermost(_ranges(trace, texts, candidate.texts))
        found = as_steps(ranges, candidate.texts)
        if len(found.start_ns) and (best is None or len(found.start_ns) > len(best[1].start_ns)):
            best = candidate, found
    if best is None:
        return None
    chosen, found = best
    return Source(chosen.method, f"{counted(found)} that {chosen.method.value} writes", found)


def _from_generic(trace: Trace, texts: Texts) -> Source | None:
    """Numbered ranges of one text: those that cover most time, where they have a rhythm."""
    said = matching(texts.own, GENERIC)
    if not said:
        return None
    family_of = {i.name: re.sub(r"\d+", "#", i.text) for i in texts.own if i.name in said}
    ranges = _ranges(trace, texts, said)
    families = sorted(set(family_of.values()))
    index = {family: position for position, family in enumerate(families)}
    family = by_name(ranges.name, {name: index[text] for name, text in family_of.items()})
    best: tuple[int, str, Found] | None = None
    for position, text in enumerate(families):
        here = _steady_lanes(selected(ranges, family == position))
        covered = int((here.end_ns - here.start_ns).sum())
        if len(here.lane) and (best is None or covered > best[0]):
            best = covered, text, as_steps(here, said)
    if best is None:
        return None
    _, text, found = best
    reason = f"{counted(found)} “{text}” in a steady rhythm (no framework known)"
    return Source(Method.GENERIC, reason, found)


def _steady_lanes(ranges: Ranges) -> Ranges:
    """The lanes with enough ranges, not overlapping, at nearly the same distance."""
    keep = np.zeros(len(ranges.lane), np.bool_)
    for lane in distinct(ranges.lane).tolist():
        rows = np.flatnonzero(ranges.lane == lane)
        start, end = ranges.start_ns[rows], ranges.end_ns[rows]
        periods = np.diff(start)
        if len(rows) < _FEWEST_GENERIC or bool((start[1:] < end[:-1]).any()):
            continue
        periods = periods[periods <= long_pause_ns(float(np.median(periods)))]
        if float(periods.std()) < _GENERIC_VARIATION * float(periods.mean()):
            keep[rows] = True
    return selected(ranges, keep)


def _from_graphs(trace: Trace) -> Source | None:
    """Replays of the graph that each device spends most time in, where it repeats."""
    replays = graph_replays(trace)
    keep = np.zeros(len(replays.device), np.bool_)
    end = replays.end_ns.copy()
    for device in distinct(replays.device).tolist():
        rows = np.flatnonzero(replays.device == device)
        graphs, which, count = np.unique(
            replays.graph[rows], return_inverse=True, return_counts=True
        )
        time = np.bincount(which, (replays.end_ns - replays.start_ns)[rows], len(graphs))
        time[count < _FEWEST_REPLAYS] = -1.0
        if time.max() < 0:
            continue
        chosen = rows[which == int(np.argmax(time))]
        keep[chosen] = True
        end[chosen[:-1]] = replays.start_ns[chosen[1:]]  # a step lasts until the next replay
    if not keep.any():
        return None
    rows = np.flatnonzero(keep)
    found = unnamed(replays.device[rows], replays.start_ns[rows], end[rows])
    devices = len(distinct(found.lane))
    reason = (
        f"{plural(len(rows), 'replay')} of a repeating CUDA graph on {plural(devices, 'GPU')}, "
        "each step lasting until the next replay"
    )
    return Source(Method.GRAPH_CADENCE, reason, found, on_device=True)


def _from_all_reduce(pattern: AllReduce | None) -> Source | None:
    if pattern is None or not any(len(device) for device in pattern.devices):
        return None
    found = unnamed(
        np.concatenate([np.full(len(d), d.device, np.int32) for d in pattern.devices]),
        np.concatenate([d.start_ns for d in pattern.devices]),
        np.concatenate([d.end_ns for d in pattern.devices]),
        np.concatenate([d.common for d in pattern.devices]),
    )
    reason = (
        f"groups of {pattern.size} all-reduces per GPU ({pattern.total} in all); a span from the "
        "first to the last all-reduce is shorter than the step"
    )
    return Source(Method.ALL_REDUCE, reason, found, on_device=True)


def _ranges(trace: Trace, texts: Texts, said: Mapping[int, StepText]) -> Ranges:
    return ranges_named(trace, list(said), without_domains=texts.library_domains)
