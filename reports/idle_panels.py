"""Where the idle time of the GPUs goes: by cause, by length of the gaps, the longest gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.thread_states import IdleClass
from ..ingest.model import GpuKind
from . import format as fmt
from .idle_causes import IDLE_TITLES, UNNAMED, gap_length
from .panel import LISTED, Panel, PanelLine, share_cell, time_cell, unknown_line
from .verdict_card import Lead

if TYPE_CHECKING:
    from ..analyzers.gaps import Gap, Gaps
    from ..analyzers.host_overhead import HostOverhead
    from ..analyzers.idle_blame import IdleBlame
    from ..queries.ops import OpRef

IDLE_HEADING = (
    f"{'of idle':>8} {'time':>9} {'step, GPU':>9}  {'kind':<18} what the launching thread did"
)


def idle_panel(
    blame: IdleBlame | None, iterations: int, thread: str | None = None, copy: str | None = None
) -> Panel:
    """Causes that sum to all idle time, also per step and GPU; `iterations`: the steps it is spread
    over, 0 for none. `thread`: name of the one that launches, where time leads that no context
    has; `copy`: of the copies that take most time."""
    title = "Where the idle time goes (idle: no kernel and no graph runs on a GPU)"
    if blame is None or not blame.devices:
        text = "n/a: no single kernel was recorded in the window"
        return Panel("idle", title, "", (unknown_line(text),))
    total, parts = sum(blame.idle_ns.values()), iterations * len(blame.devices)

    def figures(ns: int, kind: str) -> str:
        each = time_cell(ns / parts if parts else None)
        return f"{share_cell(ns, total)} {time_cell(ns)} {each}  {kind:<18} "

    causes, own_time = blame.top(LISTED), (thread,) if thread else ()
    lines = [
        PanelLine(
            text or UNNAMED.get(kind, IDLE_TITLES[kind]),
            figures(ns, IDLE_TITLES[kind]),
            lead=_copy_lead(copy) if kind is IdleClass.COPY else Lead("paths"),
            names=() if kind is IdleClass.COPY else tuple(filter(None, (text, thread))),
        )
        for kind, text, ns in causes
    ]
    rest = total - sum(ns for _, _, ns in causes)
    if rest:
        lines.append(PanelLine("all other causes", figures(rest, ""), Lead("paths"), own_time))
    lines.append(
        PanelLine(
            "all idle time of all GPUs", figures(total, ""), Lead("paths"), own_time, dim=True
        )
    )
    return Panel("idle", title, IDLE_HEADING, tuple(lines))


def _copy_lead(name: str | None) -> Lead:
    return Lead("kernels", op=None if name is None else (int(GpuKind.MEMCPY), name))


GAP_HEADING = f"{'length':>14} {'count':>8} {'time':>9} {'of idle':>8}  typical cause (a hint)"


def gap_panel(gaps: Gaps | None, thread: str | None = None) -> Panel | None:
    """`thread`: name of the one that launches, where the edges lead."""
    if gaps is None or not gaps.devices:
        return None
    idle = sum(gaps.idle_ns.values())
    lines: list[PanelLine] = []
    inside = 0
    for place, bucket in enumerate(gaps.devices[0].buckets if gaps.devices else ()):
        parts = [table.buckets[place] for table in gaps.devices]
        count, total = sum(p.count for p in parts), sum(p.total_ns for p in parts)
        inside += total
        share = total / idle if idle else 0.0
        lines.append(
            PanelLine(
                bucket.typical_cause,
                f"{gap_length(bucket):>14} {fmt.count(count):>8} "
                f"{time_cell(total)} {share_cell(total, idle)}  ",
                lead=_ops_lead(*(part.after for part in parts)),
                dim=not count,
                share=share,
            )
        )
    edges = idle - inside
    lines.append(
        PanelLine(
            "before the first and after the last kernel of the window",
            f"{'edges':>14} {'':>8} {time_cell(edges)} {share_cell(edges, idle)}  ",
            lead=Lead("paths"),
            names=(thread,) if thread else (),
            dim=True,
            share=edges / idle if idle else 0.0,
        )
    )
    return Panel("gaps", "Idle gaps between kernels of a GPU, by length", GAP_HEADING, tuple(lines))


def _ops_lead(*ops: OpRef | None) -> Lead:
    """The call that launched the first of the operations that is known, else the operation."""
    known = [op for op in ops if op is not None]
    nodes = [op.launch_node for op in known] + [op.node for op in known]
    return Lead("paths", next((node for node in nodes if node is not None), None))


LARGEST_HEADING = (
    f"{'length':>9} {'at':>11}  {'GPU':<6} what the host did most; kernel before > after"
)


def largest_panel(gaps: Gaps | None, result: HostOverhead) -> Panel | None:
    if gaps is None or not gaps.devices:
        return None
    names = {device.device: device.label for device in result.data.devices}
    return Panel(
        "largest",
        "Longest idle gaps",
        LARGEST_HEADING,
        tuple(_gap_line(gap, names) for gap in gaps.largest),
    )


def _gap_line(gap: Gap, names: dict[int, str]) -> PanelLine:
    cause = ""
    if gap.causes:
        kind, text, ns = gap.causes[0]
        what = text or UNNAMED.get(kind, IDLE_TITLES[kind])
        cause = f"{what} {fmt.share(ns / gap.length_ns)}"
    before = "start of the window" if gap.before is None else gap.before.name
    after = "end of the window" if gap.after is None else gap.after.name
    at = f"{gap.start_ns / 1e9:.4f} s"
    return PanelLine(
        f"{cause}; {before} > {after}",
        f"{time_cell(gap.length_ns)} {at:>11}  {names.get(gap.device, str(gap.device)):<6} ",
        lead=_ops_lead(gap.after, gap.before),
    )
