"""What is asked about the operations of one name for the detail pane."""

from dataclasses import dataclass

from ...queries.kernels import (
    Caller,
    Histogram,
    LaunchShape,
    OpSelection,
    OpStat,
    callers,
    duration_histogram,
    launch_shapes,
)
from ...queries.trace import Trace

LISTED = 20


@dataclass(frozen=True, slots=True)
class OpDetail:
    """What is known about operations of one name."""

    op: OpStat
    callers: list[Caller]
    histogram: Histogram | None
    shapes: list[LaunchShape] | None
    """None while the events are being read."""


def op_detail(
    trace: Trace, op: OpStat, device: int | None, nodes: tuple[int, int] | None
) -> OpDetail:
    """Ask for everything the detail pane shows, in a subtree or the whole trace. Queries."""
    selection = OpSelection(op.kind, name_id=op.name_id, nodes=nodes, device=device)
    ready = trace.events_ready
    return OpDetail(
        op,
        callers(trace, op.kind, op.name_id, LISTED, device=device, nodes=nodes),
        duration_histogram(trace, selection) if ready else None,
        launch_shapes(trace, selection, LISTED) if ready else None,
    )
