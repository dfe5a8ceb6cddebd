"""The events of a trace over time, read track by track and kept as columns."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...ingest.model import GpuKind, HostKind
from ...native import sort_order
from ...queries.trace import Trace
from ...queries.tracks import EventRun, Table, event_texts, run_columns, time_span
from .line import Line, lines_of
from .seek import place_of
from .step_lanes import step_lanes, step_names
from .track import Sort, Track, Tracks, find_tracks, of_process

if TYPE_CHECKING:
    from ..steps import Steps

FEW_LINES = 3
"""Of a track with many, at least so many are shown before it is unfolded."""
MANY_NAMES = 10_000
"""A track of fewer distinct names has them read with it: windows of it then ask nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line on the screen."""

    track: int
    """-1: the heading of a process."""
    line: int
    """-1: the track is still to be read."""
    label: str
    """Of the first row of a process, or of a lane; empty on the others."""
    hidden: int = 0
    """Further lines of the track that are not shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where an event is."""

    track: int
    line: int
    place: int


class Timeline:
    """Tracks and their lines. Safe from any thread; `load` and `texts` wait for the database.

    An event takes 14 to 24 bytes once its track is read."""

    def __init__(self, trace: Trace) -> None:
        """Reads events: NotReadyError while they are being loaded."""
        self._trace = trace
        self._found: Tracks = find_tracks(trace)
        self.span: tuple[int, int] | None = time_span(trace)
        """First start and last end; None without events."""
        self._lines: dict[int, list[Line]] = {}
        self._texts: dict[int, str] = {-1: ""}
        self._reading = threading.Lock()
        self._communication = [name for (name,) in trace.rows("scope.communication")]
        self._tracks = self._found.tracks
        self.steps: Steps | None = None
        """Of the lanes of steps; None until they are told."""

    @property
    def tracks(self) -> tuple[Track, ...]:
        return self._tracks

    def set_steps(self, steps: Steps) -> None:
        """Add the lanes of steps; the places of the other tracks stay."""
        with self._reading:
            if self.steps is not None:
                return
            lanes = list(step_lanes(steps, self._tracks))
            self._texts |= step_names(steps)
            first = len(self._tracks)
            self._lines |= {first + k: lines for k, (_, lines) in enumerate(lanes)}
            self._tracks = (*self._tracks, *(track for track, _ in lanes))
            self.steps = steps

    # -------------------------------------------------------------- reading --

    def unread(self, process: int | None) -> list[int]:
        """Tracks that are still to be read, in the order they are shown."""
        return [k for k in of_process(self.tracks, process) if k not in self._lines]

    def load(self, track: int) -> Sequence[Line]:
        """The lines of a track, read once."""
        with self._reading:
            if track not in self._lines:
                self._read(self.tracks[track].runs)
                self._read_names(self._lines[track])
            return self._lines[track]

    def _read(self, runs: tuple[EventRun, ...]) -> None:
        """All tracks of these runs: kernels and collectives are told apart by their names."""
        columns = [run_columns(self._trace, run) for run in runs]
        start, end, name = columns[0]
        first_id, end_id = runs[0].first_id, runs[0].end_id
        ids = None
        if len(runs) > 1:
            start = np.concatenate([column for column, _, _ in columns])
            end = np.concatenate([column for _, column, _ in columns])
            name = np.concatenate([column for _, _, column in columns])
            ids = np.concatenate([np.arange(r.first_id, r.end_id, dtype=np.int32) for r in runs])
            order = sort_order([start, -end])
            start, end, name, ids = start[order], end[order], name[order], ids[order]
        sharing = [k for k, track in enumerate(self.tracks) if track.runs == runs]
        if len(sharing) == 1:
            self._lines[sharing[0]] = lines_of(start, end, name, first_id, ids)
            return
        if ids is None:
            ids = np.arange(first_id, end_id, dtype=np.int32)
        talks = np.isin(name, self._communication)
        for k in sharing:
            keep = talks if self.tracks[k].sort is Sort.COLLECTIVES else ~talks
            self._lines[k] = lines_of(start[keep], end[keep], name[keep], 0, ids[keep])

    def _read_names(self, lines: Sequence[Line]) -> None:
        for line in lines:
            names = np.flatnonzero(np.bincount(line.name)) if len(line) else line.name
            if len(names) < MANY_NAMES:
                self.texts(names.tolist())

    def lines(self, track: int) -> Sequence[Line]:
        """The lines of a track as far as they are read."""
        return self._lines.get(track, ())

    def device_lines(self, device: int) -> Sequence[Line] | None:
        """All work on a device; None until all of it is read."""
        own = [k for k, track in enumerate(self.tracks) if track.device == device]
        if any(k not in self._lines for k in own):
            return None
        return [line for k in own for line in self._lines[k]]

    def texts(self, names: Iterable[int]) -> dict[int, str]:
        """Names by string id."""
        wanted = set(names)
        missing = wanted - self._texts.keys()
        if missing:
            self._texts |= event_texts(self._trace, missing)
        return {name: self._texts[name] for name in wanted}

    # ----------------------------------------------------------------- rows --

    def rows(self, process: int | None, unfolded: frozenset[int], room: int = 0) -> list[Row]:
        """What is shown, from top to bottom: all lines of unfolded tracks; of the others few, or
        more as long as all rows find room; nothing of tracks that turned out to be empty."""
        rows = self._rows(process, unfolded, FEW_LINES)
        few = FEW_LINES
        while len(rows) < room and any(row.hidden for row in rows):
            few += 1
            more = self._rows(process, unfolded, few)
            if len(more) > room:
                break
            rows = more
        return rows

    def _rows(self, process: int | None, unfolded: frozenset[int], few: int) -> list[Row]:
        rows: list[Row] = []
        several = process is None and len({t.process for t in self.tracks}) > 1
        headed: set[int | None] = set()
        lane: int | None = None
        for k in of_process(self.tracks, process):
            track, read = self.tracks[k], k in self._lines
            count = len(self._lines[k]) if read else 1
            if not count:
                continue
            if several and track.process not in headed:
                headed.add(track.process)
                rows.append(Row(-1, -1, self._heading(track.process)))
            shown = count if k in unfolded else min(count, few)
            label = "" if track.lane == lane else track.owner
            lane = track.lane
            rows.append(Row(k, 0 if read else -1, label, count - shown))
            rows += [Row(k, line, "") for line in range(1, shown)]
        return rows

    def _heading(self, process: int | None) -> str:
        if process is None:
            return "process not recorded"
        return self._found.processes.get(process, f"process {process}")

    def find(
        self, table: Table, kind: HostKind | GpuKind, lane: int, event: int, at: int
    ) -> Found | None:
        """Where an event is that starts at `at`; its track is read if need be."""
        for k, track in enumerate(self.tracks):
            if any(r.table == table and r.kind == kind and r.lane == lane for r in track.runs):
                for number, line in enumerate(self.load(k)):
                    place = place_of(line, event, at)
                    if place is not None:
                        return Found(k, number, place)
        return None
