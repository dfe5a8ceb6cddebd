"""Causes of idle time and lengths of idle gaps: what they are called; a table of the causes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzers.thread_states import IdleClass
from . import format as fmt
from .text_table import table

if TYPE_CHECKING:
    from ..analyzers.gap_table import Bucket
    from .host_json import HostReport

IDLE_TITLES = {
    IdleClass.COPY: "copies",
    IdleClass.BLOCKED_LAUNCH: "launch, queue full",
    IdleClass.BLOCKING_CALL: "waiting call",
    IdleClass.API_CALL: "GPU API call",
    IdleClass.SYSTEM_WAIT: "system call",
    IdleClass.GIL: "GIL",
    IdleClass.OFF_CPU: "off CPU",
    IdleClass.CODE: "host code",
    IdleClass.UNATTRIBUTED: "unattributed",
}
"""Kinds of causes of idle time."""
UNNAMED = {
    IdleClass.COPY: "(copies, no kernel)",
    IdleClass.UNATTRIBUTED: "(outside all ranges and calls)",
}
"""Causes that no text of the trace names."""
_CAUSES = 12


def gap_length(bucket: Bucket) -> str:
    """`< 1 µs`, `1 to 5 µs`, `500 µs to 1 ms`, `≥ 5 ms`: the edges of the buckets are round."""

    def edge(ns: int) -> tuple[int, str]:
        return (ns // 1_000_000, "ms") if ns >= 1_000_000 else (ns // 1_000, "µs")

    least, unit = edge(bucket.at_least_ns)
    if bucket.below_ns is None:
        return f"≥ {least} {unit}"
    below, below_unit = edge(bucket.below_ns)
    if not least:
        return f"< {below} {below_unit}"
    return f"{least}{'' if unit == below_unit else f' {unit}'} to {below} {below_unit}"


def causes_text(report: HostReport, width: int) -> Iterator[str]:
    """The largest causes and the rest, which sum to the idle time."""
    blame = report.blame
    if blame is None:
        yield "Idle by cause: n/a, no single kernel was recorded."
        return
    total = sum(blame.idle_ns.values())
    causes = blame.top(_CAUSES)
    steps = report.result.divisor * len(blame.devices)
    rows: list[tuple[str, ...]] = []
    for kind, text, ns in causes:
        name = text or UNNAMED.get(kind, "-")
        rows.append((name, IDLE_TITLES[kind], *_idle_cells(ns, total, steps)))
    rest = total - sum(ns for _, _, ns in causes)
    if rest:
        rows.append(("all other causes", "", *_idle_cells(rest, total, steps)))
    if not total:
        yield "Idle by cause: no GPU idled in the window."
        return
    yield f"Idle by cause (what the launching thread did; sum {fmt.duration(total)})"
    headings = ("", "kind", "share", "time", "µs/step/GPU" if steps else "")
    yield from table(headings, rows, width, left=(1,))


def _idle_cells(ns: int, total: int, steps: int) -> tuple[str, str, str]:
    """Share, time, and mean per step in µs where steps are known."""
    per_step = fmt.number(ns / 1000 / steps) if steps else ""
    return fmt.share(ns / total if total else None), fmt.duration(ns), per_step
