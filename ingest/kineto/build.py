"""From scanned recordings (one per rank) to a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...native import StringPool
from ..errors import shown_path
from ..progress import Progress
from ..timeline import Timeline
from ..writer import StoreWriter
from .args import Arguments
from .facts import Added, describe
from .flows import add_flows
from .gpu import add_gpu
from .host import add_host
from .marks import add_asynchronous
from .other import add_counters, add_loose, add_memory
from .owners import Owners
from .ranges import add_ranges
from .recording import Recording

_JITTER_NS: Final = 1000
"""Scopes open inside __enter__ and close inside __exit__, and clocks of operators differ by less
than this: an event that outlives the one around it by no more is still inside."""


def build(
    recordings: Sequence[Recording], pool: StringPool, writer: StoreWriter, progress: Progress
) -> None:
    """Fill the store. The recordings are spent."""
    timeline = Timeline(shown_path(writer.source.name), pool)
    timeline.tolerance_ns = _JITTER_NS
    origin, start_utc = _align(recordings)
    added: list[Added] = []
    for number, recording in enumerate(recordings):
        progress("Linking events", 0.6 + 0.1 * number / len(recordings))
        recording.rebase(origin[number])
        added.append(_add(recording, timeline, several=len(recordings) > 1))
    timeline.facts["start_utc_ns"] = start_utc
    describe(added, timeline)
    timeline.write(writer, progress)


def _add(recording: Recording, timeline: Timeline, *, several: bool) -> Added:
    owners = Owners(recording, timeline, several=several)
    arguments = Arguments(recording, timeline)
    collectives = arguments.collectives()
    host = add_host(recording, timeline, owners, arguments, collectives)
    gpu = add_gpu(recording, timeline, owners, arguments, host, collectives)
    memory = add_memory(recording, timeline, owners)
    add_counters(recording, timeline)
    add_asynchronous(recording, timeline, owners)
    add_flows(recording, timeline, owners)
    recording.keep_window()
    impossible = add_loose(recording, timeline, owners, arguments)
    ranges, cut = add_ranges(recording, timeline, owners, arguments)
    impossible += cut + host.impossible + gpu.impossible
    recording.left_out["unmatched_end"] = (
        recording.left_out.get("unmatched_end", 0) + host.unmatched
    )
    recording.release()
    return Added(recording, host, gpu, memory, ranges, impossible, collectives is not None)


def _align(recordings: Sequence[Recording]) -> tuple[list[int], int | None]:
    """What to subtract from the times of each recording, and the start of the trace since 1970.

    Recordings with an absolute time are aligned by it; others each begin at 0."""
    earliest = [recording.earliest_ns for recording in recordings]
    bases = [recording.base_ns for recording in recordings]
    starts = [first + base for first, base in zip(earliest, bases, strict=True) if base is not None]
    start_utc = min(starts, default=None)
    origin = [
        first if base is None or start_utc is None else start_utc - base
        for first, base in zip(earliest, bases, strict=True)
    ]
    return origin, start_utc
