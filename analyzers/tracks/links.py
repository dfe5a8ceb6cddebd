"""From a launch to the work it started, and back; the call path of an event."""

from __future__ import annotations

from dataclasses import dataclass

from ...ingest.model import GpuKind
from ...queries.ancestry import ancestries
from ...queries.trace import Trace
from ...queries.tracks import gpu_event, host_event, launched_by
from .picture import Picked
from .timeline import Found, Timeline


@dataclass(frozen=True, slots=True)
class Link:
    """The other end of a launch."""

    found: Found
    name: str
    start_ns: int
    end_ns: int
    launched: int
    """Pieces of GPU work that the call launched; 0 on the way from the work to the call."""


@dataclass(frozen=True, slots=True)
class About:
    """What the store tells of an event."""

    node: int | None
    """In the call-path tree."""
    path: tuple[str, ...]
    """Names from below the root to the node."""
    kernel: tuple[GpuKind, str] | None
    """Kind and name of GPU work."""
    link: Link | None
    unlinked: str
    """Why there is no link, where there is none."""
    open: bool = False
    """Its end was not recorded."""


def about(timeline: Timeline, trace: Trace, picked: Picked) -> About:
    """Of an event that was picked. Reads events; looks through the GPU work for what a call
    launched."""
    assert picked.event is not None
    if picked.table == "steps":
        return About(None, (), None, None, "a step is no call")
    if picked.table == "gpu":
        work = gpu_event(trace, picked.event)
        link = None if work.launch is None else _launch(timeline, trace, work.launch)
        unlinked = "" if link is not None else "its launch is not in the trace"
        return About(work.node, _path(trace, work.node), (work.kind, picked.name), link, unlinked)
    event = host_event(trace, picked.event)
    ids = launched_by(trace, picked.event)
    link = _work(timeline, trace, ids) if ids else None
    unlinked = "" if link is not None else "it launched no GPU work itself"
    return About(event.node, _path(trace, event.node), None, link, unlinked, event.open)


def _path(trace: Trace, node: int | None) -> tuple[str, ...]:
    return () if node is None else ancestries(trace, [node])[node].names


def _launch(timeline: Timeline, trace: Trace, event: int) -> Link | None:
    call = host_event(trace, event)
    found = timeline.find("host", call.kind, call.lane, event, call.start_ns)
    return None if found is None else _link(timeline, found, 0)


def _work(timeline: Timeline, trace: Trace, ids: list[int]) -> Link | None:
    first = gpu_event(trace, ids[0])
    found = timeline.find("gpu", first.kind, first.lane, ids[0], first.start_ns)
    return None if found is None else _link(timeline, found, len(ids))


def _link(timeline: Timeline, found: Found, launched: int) -> Link:
    line = timeline.lines(found.track)[found.line]
    name = int(line.name[found.place])
    return Link(found, timeline.texts([name])[name], *line.span(found.place), launched)
