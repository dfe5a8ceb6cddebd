"""What one shown row of two traces side by side says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from .change import Status
from .side_by_side import Match

if TYPE_CHECKING:
    from ..queries.pathview import State
    from .side_by_side import MetricChange, SideBySide

_OPPOSITE = {
    Status.REGRESSION: Status.IMPROVED,
    Status.IMPROVED: Status.REGRESSION,
    Status.NEW: Status.REMOVED,
    Status.REMOVED: Status.NEW,
}
_TURNED = {Match.BASE_ONLY: Match.TARGET_ONLY, Match.TARGET_ONLY: Match.BASE_ONLY}


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One shown row. Values are ns or numbers, per step or of the run; None where a side has no
    such row, or there is nothing to tell."""

    node: int
    """Row of the `SideBySide`."""
    depth: int
    state: State
    match: bool
    """Matches the filter."""
    layer: Layer
    name: str
    base_name: str | None
    """Where it differs from `name`, which is the target's."""
    how: Match
    base: float | None
    target: float | None
    delta: float
    percent: float | None
    ratio: float | None
    base_self: float | None
    target_self: float | None
    delta_self: float
    interval: float | None
    """± half of the 95 % confidence interval of the change."""
    within_noise: bool | None
    """No more than chance; None where nothing can tell."""
    status: Status
    note: str
    """`new`, `gone`, `moved`, `was NAME`, or nothing."""
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """How a view shows a row, beside what the row is."""

    depth: int
    state: State
    match: bool
    status: Status
    swapped: bool


def compare_row(sides: SideBySide, change: MetricChange, node: int, shown: Shown) -> CompareRow:
    """A row of the table; with `swapped` base and target change places."""
    ends = [sides.base, sides.target]
    names = [sides.base_names[node] or sides.names[node], sides.names[node]]
    values = [float(change.base[node]), float(change.target[node])]
    own = [float(change.base_self[node]), float(change.target_self[node])]
    how, status = sides.match[node], shown.status
    if shown.swapped:
        for pair in (ends, names, values, own):
            pair.reverse()
        how, status = _TURNED.get(how, how), _OPPOSITE.get(status, status)
    has = [end.frame[node] >= 0 for end in ends]
    name = names[1] if has[1] else names[0]
    was = names[0] if all(has) and names[0] != name else None
    file, line = ends[1 if has[1] else 0].place(node)
    base, target = values
    # What moved below a row of one side only has a cost on the other side too.
    known = [there or value != 0 for there, value in zip(has, values, strict=True)]
    half = float(change.interval[node])
    return CompareRow(
        node=node,
        depth=shown.depth,
        state=shown.state,
        match=shown.match,
        layer=Layer(int(sides.layer[node])),
        name=name,
        base_name=was,
        how=how,
        base=base if known[0] else None,
        target=target if known[1] else None,
        delta=target - base,
        percent=100 * (target - base) / base if base else None,
        ratio=target / base if base else None,
        base_self=own[0] if known[0] else None,
        target_self=own[1] if known[1] else None,
        delta_self=own[1] - own[0],
        interval=half if np.isfinite(half) else None,
        within_noise=None if sides.no_intervals else bool(change.within_noise[node]),
        status=status,
        note=_note(how, was),
        file=file,
        line=line,
    )


def _note(how: Match, was: str | None) -> str:
    match how:
        case Match.BASE_ONLY:
            return "gone"
        case Match.TARGET_ONLY:
            return "new"
        case Match.MOVED:
            return "moved" if was is None else f"moved, was {was}"
        case Match.RENAMED:
            return f"was {was}"
        case Match.REPLACED:
            return f"other kernel, was {was}"
        case Match.SAME | Match.NORMALISED:
            return ""
