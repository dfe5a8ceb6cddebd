"""Processes and lanes of one recording."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool, intern_rows
from ..arrays import I16, I32, NULL32, NULL64
from ..model import LaneKind
from ..owners import Lane, Process
from ..timeline import Timeline
from .devices import Devices
from .producer import is_torch
from .recording import Recording, Table

_HOST, _GPU, _ASYNC = 0, 1, 2
_WORK: Final = ("op", "launch", "python", "other", "mark")
_LARGEST_PID: Final = 2**31 - 1


class Owners:
    """Turns the scanner's lanes into processes, threads and streams. What a lane is comes from the
    class of its events: threads and GPU streams may carry the same pair of numbers."""

    def __init__(self, recording: Recording, timeline: Timeline, *, several: bool) -> None:
        """`several`: recordings share the timeline; processes and GPUs are then named by theirs."""
        self._timeline = timeline
        self._recording = recording
        self._several = several
        self._pool: StringPool = timeline.pool
        self._lanes: Table = recording.table("lane") or {}
        self._torch = is_torch(recording)
        self._names = _Labels(recording, self._pool)
        self._processes: dict[str, int] = {}
        self._threads: dict[int, int] = {}
        self._streams: dict[tuple[int, int], int] = {}
        self._counters: dict[int, int] = {}
        self._main_pid = self._find_main_pid()
        self.main = self._process(self._main_pid)
        self.devices = Devices(recording, timeline, self.main if several else None)

    def threads(self, lane: I32) -> I32:
        """Lane of the timeline of each event's thread."""
        return self._mapped(lane, self._thread)

    def async_lanes(self, lane: I32) -> I32:
        """Lane of the asynchronous events of each event's process."""
        return self._mapped(lane, self._async_lane)

    def streams(self, table: Table) -> I32:
        """Lane of each GPU event: the stream of its device."""
        lane = table["lane"]
        device = _or_lane(table.get("device"), self._lanes.get("pid_num"), lane)
        stream = _or_lane(table.get("stream"), self._lanes.get("tid_num"), lane)
        index, first = intern_rows([device, stream])
        pairs = zip(device[first].tolist(), stream[first].tolist(), strict=True)
        ids = [self._stream(*pair) for pair in pairs]
        return np.array(ids, np.int32)[index]

    def gpus_by_process(self, lane: I32) -> I16:
        """The GPU of each event that is written as a GPU's process, -1 for those of a process that
        has threads."""
        return self._mapped(lane, self._gpu_by_process).astype(np.int16)

    def counter_lanes(self, device: I16) -> I32:
        """Lane of the counter ranges of each GPU."""
        return self._mapped(device.astype(np.int32), self._counter_lane)

    def _gpu_by_process(self, lane: int) -> int:
        pid, number = self._text("pid", lane), self._number("pid_num", lane)
        if number is None or pid == self._main_pid or pid in self._processes:
            return -1
        return self.devices.device(number)

    def _counter_lane(self, device: int) -> int:
        found = self._counters.get(device)
        if found is None:
            lane = Lane(LaneKind.SPANS, self.main, "counter ranges", device=device)
            found = self._counters[device] = self._timeline.add_lane(lane)
        return found

    def _mapped(self, lane: I32, find: Any) -> I32:
        index, first = intern_rows([lane])
        return np.array([find(row) for row in lane[first].tolist()], np.int32)[index]

    def _find_main_pid(self) -> str:
        """Process id of most host events: threads older than the profile carry 0."""
        counts: dict[str, int] = {}
        for table in map(self._recording.table, _WORK):
            if table is None:
                continue
            rows = np.bincount(table["lane"], minlength=len(self._lanes["pid"]))
            for lane in np.flatnonzero(rows).tolist():
                pid = self._text("pid", lane)
                if pid != "0" and self._lanes["side"][lane] == _HOST:
                    counts[pid] = counts.get(pid, 0) + int(rows[lane])
        return max(counts, key=lambda pid: counts[pid], default="")

    def _text(self, column: str, lane: int) -> str:
        text = int(self._lanes[column][lane])
        return self._pool[text] if text >= 0 else ""

    def _number(self, column: str, lane: int) -> int | None:
        number = int(self._lanes[column][lane])
        return None if number == NULL64 else number

    def _process(self, pid: str) -> int:
        if self._main_pid and (pid in ("0", "", "-1") or (self._torch and not pid.isdecimal())):
            pid = self._main_pid  # "Traces" and "Spans" are no processes
        found = self._processes.get(pid)
        if found is None:
            number = int(pid) if pid.isdecimal() and int(pid) <= _LARGEST_PID else None
            name = self._names.process(pid) or (f"pid {pid}" if pid else "process not recorded")
            if self._several:
                name = f"{self._recording.label} · {name}"
            found = self._timeline.add_process(Process(name, number, self._recording.rank))
            self._processes[pid] = found
        return found

    def _thread(self, lane: int) -> int:
        found = self._threads.get(lane)
        if found is None:
            found = self._threads[lane] = self._timeline.add_lane(self._new_thread(lane))
        return found

    def _new_thread(self, lane: int) -> Lane:
        pid, tid = self._text("pid", lane), self._text("tid", lane)
        process = self._process(pid)
        number = self._number("tid_num", lane)
        if pid == "-1" or (tid == "" and pid in ("", self._main_pid)):
            name = "profiler" if pid == "-1" else "thread not recorded"
            return Lane(LaneKind.THREAD, process, name, number)
        if (pid, tid) == ("0", "0") and self._main_pid not in ("", "0"):
            return Lane(LaneKind.THREAD, process, "threads older than the profile", 0)
        given = self._names.thread(pid, tid)
        main = tid == self._main_pid
        plain = f"main thread {tid}" if main else f"thread {tid}" if tid.isdigit() else tid
        if given and not main:
            plain = given if tid in given else f"{given} ({plain})"
        return Lane(LaneKind.THREAD, process, plain or "thread not recorded", number)

    def _async_lane(self, lane: int) -> int:
        process = self._process(self._text("pid", lane))
        key = -1 - process
        found = self._threads.get(key)
        if found is None:
            found = self._timeline.add_lane(Lane(LaneKind.ASYNC, process, "asynchronous events"))
            self._threads[key] = found
        return found

    def _stream(self, ordinal: int, stream: int) -> int:
        if ordinal < 0:
            ordinal = -1
        found = self._streams.get((ordinal, stream))
        if found is None:
            device = self.devices.device(ordinal)
            known = stream not in (-1, NULL64)
            found = self._timeline.add_lane(
                Lane(
                    LaneKind.STREAM,
                    self.main,
                    f"stream {stream}" if known else "all streams",
                    device=None if device < 0 else device,
                    stream=stream if known else None,
                )
            )
            self._streams[ordinal, stream] = found
        return found


def _or_lane(
    column: NDArray[Any] | None, of_lane: NDArray[Any] | None, lane: I32
) -> NDArray[np.int64]:
    """A column as int64, where it is NULL the number of the lane."""
    fallback = np.full(len(lane), NULL64) if of_lane is None else of_lane[lane].astype(np.int64)
    if column is None:
        return fallback
    null = NULL32 if column.dtype == np.int32 else NULL64
    return np.where(column == null, fallback, column.astype(np.int64))


class _Labels:
    """Names that the file gives to processes and threads. The last one counts."""

    def __init__(self, recording: Recording, pool: StringPool) -> None:
        self._processes: dict[str, str] = {}
        self._threads: dict[tuple[str, str], str] = {}
        meta = recording.table("meta")
        if meta is None:
            return
        kinds = {kind: pool.intern(kind) for kind in ("process_name", "thread_name")}
        for kind, name in kinds.items():
            rows = np.flatnonzero((meta["name"] == name) & (meta["value"] >= 0))
            # Of many repeats of one row only the last is looked at.
            index, first = intern_rows([meta["pid"][rows][::-1], meta["tid"][rows][::-1]])
            del index
            for row in rows[::-1][first].tolist():
                pid, tid, value = (
                    pool[int(meta[column][row])] if meta[column][row] >= 0 else ""
                    for column in ("pid", "tid", "value")
                )
                if kind == "process_name":
                    self._processes.setdefault(pid, value)
                else:
                    self._threads.setdefault((pid, tid), value)

    def process(self, pid: str) -> str:
        """Name of a process, empty when none is given."""
        return self._processes.get(pid, "")

    def thread(self, pid: str, tid: str) -> str:
        """Name of a thread, empty when none is given."""
        return self._threads.get((pid, tid), "")
