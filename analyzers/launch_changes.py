"""What pairs of rows were called with: shapes, types and launch configurations that changed.

A side has a value where more than half of its calls were made with it; without one on both sides
there is nothing to name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..queries.launch_variants import argument_variants, launch_variants
from ..queries.pathview import GPU_LAYERS
from .data_types import argument_type, kernel_types

if TYPE_CHECKING:
    from ..queries.launch_variants import ArgumentTypes, LaunchConfig, Variants
    from ..queries.trace import Trace
    from .side_by_side import Side, SideBySide

T = TypeVar("T", bound=Hashable)

_TOLD = 2
"""Shapes of so many arguments are written out."""
_HALF = 0.5
_MOSTLY = 0.995
"""From this share on, `most` goes without saying."""

Ways = dict[int, Counter[int]]
"""By row: calls by way."""

Texts = Mapping[str, Mapping[int, str | None]]
"""By property and way; None: not recorded."""


@dataclass(frozen=True, slots=True)
class WayChange:
    """One property of the calls of a row."""

    what: str
    """`grid`, `block`, `registers`, `shared memory`, `shape`, or `` for types and arguments."""
    base: str
    target: str
    share: float
    """Of the calls, on the side where it is less: how many were made like this."""

    def __str__(self) -> str:
        mostly = "" if self.share >= _MOSTLY else f" (most calls, {100 * self.share:.0f} %)"
        return f"{self.what} {self.base}→{self.target}{mostly}".strip()


def named_changes(
    base: Trace, target: Trace, sides: SideBySide, rows: Collection[int] | None = None
) -> dict[int, tuple[WayChange, ...]]:
    """By row: what changed in how its calls were made; rows without such a change are left out.

    rows: those to look at; None: all. Collectives, which are no contexts, are left out. Reads
    events.
    """
    wanted = range(len(sides)) if rows is None else rows
    both = [row for row in wanted if sides.base_node[row] >= 0 and sides.target_node[row] >= 0]
    if not both or not len(sides.base.costs.node_of):
        return {}
    on_gpu = np.isin(sides.layer, sorted(GPU_LAYERS))
    chosen = np.zeros(len(sides), np.bool_)
    chosen[both] = True
    found: dict[int, list[WayChange]] = {row: [] for row in both}
    if (on_gpu & chosen).any():
        (old, old_ways), (new, new_ways) = (launch_variants(trace) for trace in (base, target))
        before = _by_row(old, sides.base, on_gpu & chosen)
        after = _by_row(new, sides.target, on_gpu & chosen)
        was, now = _texts(old_ways), _texts(new_ways)
        for row in before.keys() & after.keys():
            found[row] += _launches(before[row], after[row], was, now)
        for row in np.flatnonzero(on_gpu & chosen).tolist():
            found[row] += _kernel_types(sides.base_names[row], sides.names[row])
    if (chosen & ~on_gpu).any():
        (calls, called), (changed, meant) = (argument_variants(trace) for trace in (base, target))
        before = _by_row(calls, sides.base, chosen & ~on_gpu)
        after = _by_row(changed, sides.target, chosen & ~on_gpu)
        for row in before.keys() & after.keys():
            found[row] += _arguments(before[row], after[row], called, meant)
    return {row: tuple(changes) for row, changes in found.items() if changes}


def _by_row(variants: Variants, side: Side, chosen: np.ndarray[Any, Any]) -> Ways:
    node = side.costs.node_of[variants.node]
    row = np.where(node >= 0, side.row_of[node], -1)
    kept = np.flatnonzero((row >= 0) & chosen[row])
    found: Ways = {}
    columns = (row[kept].tolist(), variants.way[kept].tolist(), variants.calls[kept].tolist())
    for at, way, calls in zip(*columns, strict=True):
        found.setdefault(at, Counter())[way] += calls
    return found


def _most(ways: Counter[int], of: Mapping[int, T | None]) -> tuple[T, float] | None:
    """The value of more than half of the calls that have one, and the share of these."""
    values: Counter[T] = Counter()
    for way in sorted(ways):
        value = of.get(way)
        if value is not None:
            values[value] += ways[way]
    if not values:
        return None
    [(value, calls)] = values.most_common(1)
    share = calls / values.total()
    return (value, share) if share > _HALF else None


def _launches(before: Counter[int], after: Counter[int], old: Texts, new: Texts) -> list[WayChange]:
    found: list[WayChange] = []
    for what, texts in old.items():
        was, now = _most(before, texts), _most(after, new[what])
        if was is not None and now is not None and was[0] != now[0]:
            found.append(WayChange(what, was[0], now[0], min(was[1], now[1])))
    return found


def _texts(ways: Mapping[int, LaunchConfig]) -> Texts:
    parts: tuple[tuple[str, Callable[[LaunchConfig], str | None]], ...] = (
        ("grid", lambda config: _sizes(config.grid)),
        ("block", lambda config: _sizes(config.block)),
        ("registers", lambda config: _whole(config.registers)),
        ("shared memory", lambda config: _bytes(config.shared_bytes)),
    )
    return {what: {way: text(config) for way, config in ways.items()} for what, text in parts}


def _sizes(size: tuple[int, int, int] | None) -> str | None:
    """`128`, or `(16,16,1)` where more than the first one counts."""
    if size is None:
        return None
    return str(size[0]) if size[1:] == (1, 1) else f"({','.join(map(str, size))})"


def _whole(number: int | None) -> str | None:
    return None if number is None else str(number)


def _bytes(size: int | None) -> str | None:
    if size is None:
        return None
    return f"{size / 1024:g} KiB" if size >= 1024 else f"{size} B"


def _kernel_types(was: str | None, name: str) -> list[WayChange]:
    if was is None:
        return []
    old, new = kernel_types(was), kernel_types(name)
    if not old - new or not new - old:
        return []
    return [WayChange("", "+".join(sorted(old - new)), "+".join(sorted(new - old)), 1.0)]


def _arguments(
    before: Counter[int],
    after: Counter[int],
    old: Mapping[int, ArgumentTypes],
    new: Mapping[int, ArgumentTypes],
) -> list[WayChange]:
    was, now = _most(before, old), _most(after, new)
    if was is None or now is None or was[0] == now[0]:
        return []
    share = min(was[1], now[1])
    types, changed_types = _list(was[0].types), _list(now[0].types)
    found = [
        WayChange("", a, b, share)
        for a, b in dict.fromkeys(
            (argument_type(str(a)), argument_type(str(b)))
            for a, b in zip(types, changed_types, strict=False)
            if a != b and a and b
        )
    ]
    shapes, changed = _list(was[0].shapes), _list(now[0].shapes)
    if len(shapes) != len(changed):
        return [*found, WayChange("arguments", str(len(shapes)), str(len(changed)), share)]
    differing = dict.fromkeys(
        (_shape(a), _shape(b)) for a, b in zip(shapes, changed, strict=True) if a != b
    )
    return found + [WayChange("shape", a, b, share) for a, b in list(differing)[:_TOLD]]


def _list(text: str | None) -> list[Any]:
    if text is None:
        return []
    try:
        value: object = json.loads(text)
    except ValueError:
        return []
    return list(cast("Any", value)) if isinstance(value, list) else []


def _shape(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
