"""Two traces side by side, row against row: text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyzers.change_rows import telling
from ..analyzers.side_by_side import Match
from ..ingest.model import Layer
from ..queries.metric import Metric
from ..queries.pathview import GPU_LAYERS
from . import format as fmt
from . import markdown as md
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.compare_parts import Part
    from ..analyzers.side_by_side import MetricChange, SideBySide

Json = dict[str, Any]

_SHOWN = 24
_TIMES = ((Metric.HOST, "host time"), (Metric.GPU, "GPU time"))
_UNITS = {Metric.HOST: "host_us", Metric.GPU: "gpu_us"}
_NOTES = {
    Match.BASE_ONLY: "gone",
    Match.TARGET_ONLY: "new",
    Match.MOVED: "moved",
    Match.REPLACED: "other kernel",
}


def side_by_side_text(parts: Mapping[str, Part], width: int) -> str:
    """A table for each part and time, in lines of at most `width` characters."""
    lines: list[str] = []
    for title, part in parts.items():
        sides = part.sides
        if sides.lacking is not None:
            lines += ["", *paragraph(f"{title}: {sides.lacking}.", width)]
        for metric, what in told_times(sides):
            heading = f"{title}, {what}, {_unit(sides)}"
            lines.append("")
            if metric not in sides.metrics:
                lines += paragraph(f"{heading}: n/a, {sides.missing[metric]}.", width)
                continue
            rows, left_out = _chosen(sides, metric)
            if not rows:
                lines += paragraph(f"{heading}: no change beyond {_floor(sides)} µs.", width)
                continue
            lines += paragraph(heading, width)
            cells = _rows(sides, metric, rows, lambda text: text)
            lines += table(_headings(sides), cells, width, left=_left(sides), name=_name(sides))
            for line in _called(part, rows, lambda text: fmt.shorten_middle(text, 48)):
                lines += paragraph(f"  {line}", width, "    ")
            lines += paragraph(f"  {_rest(left_out)}", width, "  ") if left_out else []
    return "\n".join([*lines, "", *paragraph(_legend(parts), width)]) + "\n"


def side_by_side_markdown(parts: Mapping[str, Part]) -> str:
    """The same, for a comment on a pull request."""
    lines: list[str] = []
    for title, part in parts.items():
        sides = part.sides
        if sides.lacking is not None:
            lines += [f"{title}: {sides.lacking}.", ""]
        for metric, what in told_times(sides):
            heading = f"{title}, {what}, {_unit(sides)}"
            if metric not in sides.metrics:
                lines += [f"{heading}: n/a, {md.plain(sides.missing[metric])}.", ""]
                continue
            rows, left_out = _chosen(sides, metric)
            if not rows:
                lines += [f"{heading}: no change beyond {_floor(sides)} µs.", ""]
                continue
            lines += [f"<details open><summary>{heading}</summary>", ""]
            cells = _rows(sides, metric, rows, md.cell)
            lines += md.table(_headings(sides), cells, left=_left(sides))
            lines += [f"- {line}" for line in _called(part, rows, md.cell)] or []
            lines += ["", _rest(left_out)] if left_out else []
            lines += ["", "</details>", ""]
    return "\n".join([*lines, _legend(parts), ""])


def told_times(sides: SideBySide) -> list[tuple[Metric, str]]:
    """The times to tell: those of GPU work are on the GPU only, those of calls by name are their
    own, without what they call; without any row none."""
    if not len(sides):
        return []
    on_gpu = np.isin(sides.layer, sorted(GPU_LAYERS)).all()
    own = "" if on_gpu or _is_tree(sides) else "own "
    return [
        (metric, f"{own}{what}")
        for metric, what in _TIMES
        if not (on_gpu and metric is Metric.HOST)
    ]


def _called(part: Part, rows: Sequence[int], name: Callable[[str], str]) -> list[str]:
    """What changed in how the calls of the shown rows were made."""
    return [
        f"{name(part.sides.names[row])}: {', '.join(map(str, part.changes[row]))}"
        for row in rows
        if row in part.changes
    ]


def side_by_side_json(part: Part) -> Json:
    """All rows, unchanged ones too; parents are positions in the list of rows."""
    sides = part.sides
    within = {m: change.within_noise.tolist() for m, change in sides.metrics.items()}
    times = [metric for metric in _UNITS if metric in sides.metrics]
    status = {m: sides.status(m) if sides.per_step else None for m in times}
    sure = {m: sides.sure(m).tolist() for m in times}
    rows: list[Json] = []
    for row, name in enumerate(sides.names):
        found: Json = {
            "name": name,
            "base_name": sides.base_names[row],
            "layer": Layer(int(sides.layer[row])).name.lower(),
            "parent": int(sides.parent[row]) if sides.parent[row] >= 0 else None,
            "base_node": int(sides.base_node[row]) if sides.base_node[row] >= 0 else None,
            "target_node": int(sides.target_node[row]) if sides.target_node[row] >= 0 else None,
            "match": sides.match[row].value,
        }
        for metric, change in sides.metrics.items():
            scale = 1000 if metric in _UNITS else 1
            values = _values(change, row, scale)
            values["within_noise"] = None if sides.no_intervals else within[metric][row]
            if metric in times:
                of = status[metric]
                values["beyond_noise"] = sure[metric][row] if sides.per_step else None
                values["status"] = None if of is None else of[row].value
            found[_UNITS.get(metric, metric.value)] = values
        found["changes"] = [asdict(change) for change in part.changes.get(row, ())]
        rows.append(found)
    return {
        "per": "step" if sides.per_step else "run",
        "floor_us": sides.floor_ns / 1000,
        "lacking": sides.lacking,
        "no_intervals": sides.no_intervals,
        "missing": {metric.value: why for metric, why in sides.missing.items()},
        "rows": rows,
    }


def _values(change: MetricChange, row: int, scale: int) -> Json:
    half = float(change.interval[row])
    base, target = float(change.base[row]) / scale, float(change.target[row]) / scale
    return {
        "base": base,
        "target": target,
        "delta": float(change.delta[row]) / scale,
        "ratio": target / base if base else None,
        "base_self": float(change.base_self[row]) / scale,
        "target_self": float(change.target_self[row]) / scale,
        "delta_self": float(change.delta_self[row]) / scale,
        "interval_95": half / scale if np.isfinite(half) else None,
    }


def _chosen(sides: SideBySide, metric: Metric) -> tuple[list[int], int]:
    """Rows beyond the floor, most change first (paths: in the order of the tree), and the rest."""
    rows = telling(sides, metric, sides.beyond_floor(metric))
    shown, rest = rows[:_SHOWN], max(0, len(rows) - _SHOWN)
    return (_tree_order(sides, shown) if _is_tree(sides) else shown), rest


def _shown_above(sides: SideBySide, rows: Sequence[int]) -> dict[int, int]:
    """By row: the nearest shown row above it, -1 without one."""
    shown = set(rows)
    found: dict[int, int] = {}
    for row in rows:
        at = int(sides.parent[row])
        while at >= 0 and at not in shown:
            at = int(sides.parent[at])
        found[row] = at
    return found


def _tree_order(sides: SideBySide, rows: Sequence[int]) -> list[int]:
    """Rows below the one that holds them; of one holder as they come."""
    above = _shown_above(sides, rows)
    below: dict[int, list[int]] = {}
    for row in rows:
        below.setdefault(above[row], []).append(row)
    ordered: list[int] = []
    pending = list(reversed(below.get(-1, [])))
    while pending:
        row = pending.pop()
        ordered.append(row)
        pending += reversed(below.get(row, []))
    return ordered


def _rows(
    sides: SideBySide, metric: Metric, rows: Sequence[int], name: Callable[[str], str]
) -> list[tuple[str, ...]]:
    change = sides.metrics[metric]
    sure, above = sides.sure(metric), _shown_above(sides, rows)
    depth = {-1: -1}
    cells: list[tuple[str, ...]] = []
    for row in rows:
        depth[row] = depth[above[row]] + 1
        match = sides.match[row]
        percent = change.percent(row)
        note = _NOTES.get(match, "")
        if sides.per_step and not sure[row]:
            note = f"{note} noise".strip()
        was = sides.base_names[row]
        text = sides.names[row]
        if match in (Match.RENAMED, Match.REPLACED) and was is not None:
            text = f"{text} (was {was})"
        half = float(change.interval[row])
        spread = (f"±{_us(half)}" if np.isfinite(half) else fmt.NA,) if sides.per_step else ()
        cells.append(
            (
                _us(float(change.delta[row]), sign=True),
                *spread,
                "-" if match is Match.TARGET_ONLY and not change.base[row]
                else _us(float(change.base[row])),
                "-" if match is Match.BASE_ONLY and not change.target[row]
                else _us(float(change.target[row])),
                "" if percent is None else fmt.change_percent(percent),
                note,
                "· " * depth[row] + name(text),
            )
        )  # fmt: skip
    return cells


def _headings(sides: SideBySide) -> tuple[str, ...]:
    spread = ("±95 %",) if sides.per_step else ()
    return ("change", *spread, "base", "target", "%", "", "path" if _is_tree(sides) else "name")


def _name(sides: SideBySide) -> int:
    return len(_headings(sides)) - 1


def _left(sides: SideBySide) -> tuple[int, int]:
    return _name(sides) - 1, _name(sides)


def _is_tree(sides: SideBySide) -> bool:
    return bool((sides.parent >= 0).any())


def _unit(sides: SideBySide) -> str:
    return "µs per step" if sides.per_step else "µs in the whole run"


def _floor(sides: SideBySide) -> str:
    return fmt.number(sides.floor_ns / 1000)


def _rest(rows: int) -> str:
    return f"… and {rows} more beyond the floor (--json has all rows)."


def _legend(parts: Mapping[str, Part]) -> str:
    sides = next(iter(parts.values())).sides
    text = (
        f"Rows that changed by {_floor(sides)} µs or more. A path has the cost of all below it; "
        "rows that hand their change to one row below are left out. moved: below another caller; "
        "the cost counts at the nearest caller common to both."
    )
    if sides.per_step:
        return f"{text} noise: no more than the steps vary by chance."
    return f"{text} Without comparable steps nothing tells a change from chance."


def _us(ns: float, *, sign: bool = False) -> str:
    return fmt.number(ns / 1000, sign=sign)
