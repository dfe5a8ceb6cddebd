"""Processes and lanes: which thread, stream or process an event belongs to."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import intern_rows
from .. import owners
from ..arrays import I16, I32, I64, NULL64
from ..model import LaneKind
from ..owners import Lane, enter

_TID_MASK: Final = 0xFFFFFF
_PID_SHIFT: Final = 24
_PROCESS_MASK: Final = ~_TID_MASK
_UNSIGNED: Final = (1 << 64) - 1


def pid_of(global_id: int) -> int:
    """The process id in a globalTid or globalPid."""
    return global_id >> _PID_SHIFT & 0xFFFFFF


def host_of(global_id: int) -> int:
    """Hardware and VM bits of a globalTid or globalPid: one value per host or container."""
    return (global_id & _UNSIGNED) >> 48


@dataclass(slots=True)
class Process:
    """A process that owns events. `key` is its globalPid as a signed 64-bit value."""

    key: int
    name: str
    rank: int | None = None

    @property
    def pid(self) -> int:
        """Process id on its host."""
        return pid_of(self.key)


class Identity:
    """Dense ids of the processes and lanes that own events, in order of first use."""

    def __init__(self, process_names: dict[int, str], thread_names: dict[int, str]) -> None:
        self.processes: list[Process] = []
        self.lanes: list[Lane] = []
        self.named_processes: set[int] = set()
        self.named_threads: set[int] = set()
        self._process_names = process_names
        self._thread_names = thread_names
        self._process_ids: dict[int, int] = {}
        self._thread_ids: dict[int, int] = {}
        self._range_ids: dict[int, int] = {}

    def process(self, global_id: int) -> int:
        """Id of the process of a globalTid or globalPid."""
        key = global_id & _PROCESS_MASK
        found = self._process_ids.get(key)
        if found is None:
            name = self._process_names.get(key)
            if name is None:
                name = f"pid {pid_of(key)}"
            else:
                self.named_processes.add(key)
            process = Process(key, name)
            found = enter(self.processes, process, Process(key, "more processes"))
            self._process_ids[key] = found
        return found

    def known_process(self, global_id: int) -> int | None:
        """Id of a process that owns events, None for another one."""
        return self._process_ids.get(global_id & _PROCESS_MASK)

    def process_column(self, global_ids: I64) -> I16:
        """Process of each globalPid, -1 where NULL."""
        if len(global_ids) == 0:
            return np.empty(0, np.int16)
        dense, first = intern_rows([global_ids])
        ids = [
            -1 if value == NULL64 else self.process(value) for value in global_ids[first].tolist()
        ]
        return np.array(ids, np.int16)[dense]

    def thread(self, global_tid: int) -> int:
        """Lane of a thread. NULL64 and thread 0 mean that the thread is not known."""
        if global_tid != NULL64 and global_tid & _TID_MASK == 0:
            global_tid &= _PROCESS_MASK
        found = self._thread_ids.get(global_tid)
        if found is None:
            found = self._thread_ids[global_tid] = len(self.lanes)
            self.lanes.append(self._new_thread(global_tid))
        return found

    def _new_thread(self, global_tid: int) -> Lane:
        if global_tid == NULL64:
            return Lane(LaneKind.UNKNOWN_THREAD, -1, "thread not recorded")
        process = self.process(global_tid)
        tid = global_tid & _TID_MASK
        if tid == 0:
            return Lane(LaneKind.UNKNOWN_THREAD, process, "thread not recorded")
        given = self._thread_names.get(global_tid)
        if given is not None:
            self.named_threads.add(global_tid)
        return Lane(LaneKind.THREAD, process, self._thread_label(process, tid, given), tid)

    def _thread_label(self, process: int, tid: int, given: str | None) -> str:
        main = tid == self.processes[process].pid
        plain = f"main thread {tid}" if main else f"thread {tid}"
        return f"{given} ({plain})" if given else plain

    def name_thread(self, lane_id: int, name: str) -> None:
        """Give a thread the name its program gave it; unknown threads keep theirs."""
        lane = self.lanes[lane_id]
        if lane.tid is not None:
            lane.name = self._thread_label(lane.process, lane.tid, name)

    def thread_column(self, global_tids: I64) -> I32:
        """Lane of each globalTid."""
        if len(global_tids) == 0:
            return np.empty(0, np.int32)
        dense, first = intern_rows([global_tids])
        ids = [self.thread(value) for value in global_tids[first].tolist()]
        return np.array(ids, np.int32)[dense]

    def ranges(self, process: int) -> int:
        """Lane of the start-end ranges of a process."""
        found = self._range_ids.get(process)
        if found is None:
            found = self._range_ids[process] = len(self.lanes)
            self.lanes.append(Lane(LaneKind.RANGES, process, "start-end ranges"))
        return found

    def add_lane(self, lane: Lane) -> int:
        """A new lane (streams are kept apart by their owner)."""
        self.lanes.append(lane)
        return len(self.lanes) - 1

    def lane_process(self) -> I16:
        """Process of each lane, -1 where not recorded."""
        return np.array([lane.process for lane in self.lanes], np.int16)

    def lane_known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """False for the lanes of unknown threads."""
        return np.array([lane.kind is not LaneKind.UNKNOWN_THREAD for lane in self.lanes], np.bool_)

    def owners(self) -> list[owners.Process]:
        """The processes as the store holds them."""
        return [
            owners.Process(item.name, item.pid, item.rank, item.key & _UNSIGNED)
            for item in self.processes
        ]

    def process_label(self, process: int) -> str:
        """Name of a process for people, distinct within the trace."""
        item = self.processes[process]
        plain = f"pid {item.pid}"
        label = plain if item.name == plain else f"{item.name} ({item.pid})"
        if sum(other.pid == item.pid for other in self.processes) > 1:
            label += f" on host {host_of(item.key):#06x}"
        return label if item.rank is None else f"rank {item.rank} · {label}"
