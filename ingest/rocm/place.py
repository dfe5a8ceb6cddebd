"""Brings the recordings of a run together on one timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...native import sort_order
from ..account import count
from ..arrays import I16, I32, I64, NULL64, U8, Mask, distinct
from ..interner import Interner
from ..model import GpuKind, HostKind, LaneKind, Layer, Severity
from ..overrun import cut_overruns
from ..owners import Lane
from ..stalls import StallSamples
from ..timeline import Counters, GpuOps, HostEvents, MemoryEvents, Timeline
from .recording import Allocations, Calls, PcSamples, Recording, Values, Work

_LOOSE = (HostKind.MARK, HostKind.RANGE, HostKind.OVERHEAD)


def origins(recordings: Sequence[Recording]) -> dict[str, int]:
    """Start of the first call or GPU work of each machine."""
    found: dict[str, int] = {}
    for recording in recordings:
        parts = [part for part in (recording.calls, *recording.work) if part and len(part)]
        for part in parts:
            first = int(part.start.min())
            found[recording.machine] = min(first, found.get(recording.machine, first))
    return found


class Placer:
    """Adds recordings to a timeline. `early`: GPU work that began before the call it belongs to."""

    def __init__(self, line: Timeline) -> None:
        self.early = 0
        self._line = line
        self._devices: dict[tuple[str, int], int] = {}

    def add(self, recording: Recording, origin: int) -> None:
        """Add all of a recording; its times then count from `origin`."""
        _Placing(self._line, recording, origin, self._devices, self).run()


class _Placing:
    def __init__(
        self,
        line: Timeline,
        recording: Recording,
        origin: int,
        devices: dict[tuple[str, int], int],
        placer: Placer,
    ) -> None:
        self._line, self._found, self._origin = line, recording, origin
        self._known_devices = devices
        self._placer = placer
        self._process_of = np.array(
            [line.add_process(process) for process in recording.processes] + [-1], np.int32
        )
        self._device_of: dict[int, int] = {}
        self._threads = Interner()
        self._thread_lanes: list[int] = []
        self._crossing: dict[int, int] = {}

    def run(self) -> None:
        found = self._found
        host_row = np.empty(0, np.int32)
        if found.calls is not None:
            host_row = self._add_calls(found.calls)
        by_stream = any(
            bool((part.stream[part.stream != NULL64] != 0).any()) for part in found.work
        )
        kernels = [self._add_work(part, host_row, by_stream) for part in found.work]
        for samples in found.samples:
            self._add_samples(samples, found.work[0], kernels[0])
        if found.memory is not None:
            self._add_memory(found.memory)
        for values in found.counters:
            self._add_counters(values)

    # -------------------------------------------------------------------- host --

    def _thread(self, process: I32, tid: I64) -> I32:
        """Lane of each event's thread."""
        ids = self._threads.ids([process, tid])
        for owner, thread in self._threads.values[len(self._thread_lanes) :]:
            self._thread_lanes.append(self._line.add_lane(self._thread_lane(owner, thread)))
        return np.array(self._thread_lanes, np.int32)[ids]

    def _thread_lane(self, owner: int, tid: int) -> Lane:
        process = int(self._process_of[owner])
        if tid == NULL64:
            return Lane(LaneKind.UNKNOWN_THREAD, process, "thread not recorded")
        main = process >= 0 and self._line.processes[process].pid == tid
        plain = f"main thread {tid}" if main else f"thread {tid}"
        given = self._found.thread_names.get((owner, tid))
        return Lane(LaneKind.THREAD, process, f"{given} ({plain})" if given else plain, tid)

    def _add_calls(self, calls: Calls) -> I32:
        """Returns the timeline's row of each call, -1 for those outside the call tree."""
        line = self._line
        loose = np.isin(calls.kind, np.array(_LOOSE, np.uint8))
        lane = self._thread(calls.process, calls.tid)
        crossing = calls.kind == HostKind.RANGE
        if crossing.any():
            owners = np.unique(calls.process[crossing]).tolist()
            table = np.full(len(self._process_of), -1, np.int32)
            for owner in owners:
                process = int(self._process_of[owner])
                table[owner] = line.add_lane(Lane(LaneKind.RANGES, process, "start-end ranges"))
            lane[crossing] = table[calls.process[crossing]]
        nested = np.flatnonzero(~loose)
        row = np.full(len(calls), -1, np.int32)
        events = self._events(calls, nested, lane)
        first = line.add_host(events)
        row[nested] = first + np.arange(len(nested), dtype=np.int32)
        events.frame = self._frames(events.kind, events.name)
        parent = calls.parent[nested]
        events.preferred = np.where(parent >= 0, row[parent], -1).astype(np.int32)
        line.add_loose(self._events(calls, np.flatnonzero(loose), lane))
        return row

    def _events(self, calls: Calls, rows: I64, lane: I32) -> HostEvents:
        return HostEvents(
            kind=calls.kind[rows],
            lane=lane[rows],
            start=calls.start[rows] - self._origin,
            end=calls.end[rows] - self._origin,
            name=calls.name[rows],
            correlation=calls.correlation[rows],
        )

    def _frames(self, kind: U8, name: I32) -> I32:
        annotation = kind == HostKind.ANNOTATION
        frames = np.empty(len(name), np.int32)
        frames[annotation] = self._line.frames(Layer.ANNOTATION, name[annotation])
        frames[~annotation] = self._line.frames(Layer.API, name[~annotation])
        return frames

    # --------------------------------------------------------------------- GPU --

    def _devices(self, ids: I32) -> I16:
        """The timeline's device of each of the recording's. Those that did nothing get none."""
        table = np.full(len(self._found.devices) + 1, -1, np.int16)
        places: list[int] = distinct(ids, len(self._found.devices)).tolist()
        for used in places:
            number, device = self._found.devices[used]
            key = (self._found.machine, number)
            if key not in self._known_devices:
                self._known_devices[key] = self._line.add_device(device)
            table[used] = self._known_devices[key]
        return table[ids]

    def _add_work(self, work: Work, host_row: I32, by_stream: bool) -> I32:
        """Returns the timeline's row of each kernel, -1 for other work."""
        line, found = self._line, self._found
        kernel = np.full(len(work), -1, np.int32)
        if not len(work):
            return kernel
        device = self._devices(work.device)
        number = (
            work.stream if by_stream else np.where(work.queue != NULL64, work.queue, work.stream)
        )
        word = "stream" if by_stream else "queue"
        streams = Interner()
        ids = streams.ids([work.process, device.astype(np.int64), number])
        lanes = [
            line.add_lane(
                Lane(
                    LaneKind.STREAM,
                    int(self._process_of[owner]),
                    f"{word} not recorded" if stream == NULL64 else f"{word} {stream}",
                    device=None if where < 0 else where,
                    stream=None if stream == NULL64 else stream,
                )
            )
            for owner, where, stream in streams.values
        ]
        lane = np.array(lanes, np.int32)[ids]
        launch = (
            np.where(work.launch >= 0, host_row[work.launch], -1)
            if len(host_row)
            else (np.full(len(work), -1, np.int32))
        )
        executor = Interner().ids([work.process, device.astype(np.int64), work.queue, work.stream])
        cut = cut_overruns(executor, work.start, work.end - work.start, work.launch)
        if (note := cut.note()) is not None:
            found.notes.append(note)
        if found.calls is not None:
            linked = np.flatnonzero(work.launch >= 0)
            began = found.calls.start[work.launch[linked]]
            self._placer.early += count(work.start[linked] < began)
        config = self._configs(work)
        for kind in np.unique(work.kind).tolist():
            rows = work.kind == kind
            first = line.add_ops(
                GpuOps(
                    kind=GpuKind(kind),
                    lane=lane[rows],
                    start=work.start[rows] - self._origin,
                    dur=cut.dur[rows],
                    recorded_dur=None if cut.recorded is None else cut.recorded[rows],
                    name=work.name[rows],
                    correlation=work.correlation[rows],
                    launch=launch[rows].astype(np.int32),
                    config=None if config is None else config[rows],
                    bytes=_known(work.bytes, rows),
                )
            )
            if kind == GpuKind.KERNEL:
                kernel[rows] = first + np.arange(count(rows), dtype=np.int32)
        return kernel

    def _add_samples(self, samples: PcSamples, work: Work, kernel: I32) -> None:
        """Those of copies and fills, which the runtime does by kernels of its own, are no stalls
        of a kernel."""
        row = kernel[samples.dispatch]
        used = row >= 0
        dispatch = samples.dispatch[used]
        rows = len(dispatch)
        self._line.add_stalls(
            StallSamples(
                kernel=work.name[dispatch],
                module=samples.code_object[used],
                function=np.full(rows, -1, np.int32),
                offset=samples.offset[used],
                text=samples.text[used],
                file=samples.file[used],
                line=samples.line[used],
                node=row[used],
                device=self._devices(work.device)[dispatch],
                reason=samples.reason[used],
                samples=samples.samples[used],
                not_issued=np.full(rows, NULL64),
                spread=np.zeros(rows, np.bool_),
            )
        )

    def _configs(self, work: Work) -> I32 | None:
        if not work.config:
            return None
        shapes = Interner()
        ids = shapes.ids(list(work.config.values()))
        columns = shapes.columns(len(work.config))
        return self._line.add_configs(dict(zip(work.config, columns, strict=True))) + ids

    # --------------------------------------------------------- memory, counters --

    def _add_memory(self, memory: Allocations) -> None:
        self._line.add_memory(
            MemoryEvents(
                time=memory.time - self._origin,
                bytes=memory.bytes,
                device=self._devices(memory.device),
                process=self._process_of[memory.process].astype(np.int16),
                lane=self._thread(memory.process, memory.tid),
                address=memory.address,
            )
        )

    def _add_counters(self, values: Values) -> None:
        order = sort_order([values.time])
        self._line.add_counters(
            Counters(
                device=self._devices(values.device)[order],
                name=values.name[order],
                time=values.time[order] - self._origin,
                value=values.value[order],
            )
        )


def _known(values: I64 | None, rows: Mask) -> I64 | None:
    """The rows of a column; None when none of them has a value."""
    if values is None or bool((values[rows] == NULL64).all()):
        return None
    return values[rows]


def clock_note(early: int) -> tuple[Severity, str, str] | None:
    """Work cannot begin before its launch: say so, move nothing."""
    if not early:
        return None
    text = (
        f"{early} GPU operations begin before the call that launched them: the clocks of the CPU "
        "and the GPU disagree in this recording. Times are shown as recorded."
    )
    return Severity.WARNING, "import", text
