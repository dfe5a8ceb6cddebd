"""GPUs: streams and their work, the calls that launched it, and spans derived from it."""

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I32, I64, NULL64
from ..model import GpuKind, LaneKind
from ..owners import Device, Lane
from ..timeline import GpuOps, Timeline
from .details import add_configs, copied_bytes
from .host import HostRows, add_args
from .paths import Chains, Paths
from .recording import DEVICE_PREFIX, Recording

_PLANE: Final = re.compile(re.escape(DEVICE_PREFIX) + r"([A-Z]+):(\d{1,4})")
_STREAM: Final = re.compile(r"Stream #(\d{1,18})(?:\(.*\))?")
_COPY: Final = re.compile(r"(?i)memcpy\w*|memory_copy_\w+|__amd_rocclr_copybuffer.*")
_SET: Final = re.compile(r"(?i)memset\w*|__amd_rocclr_fillbuffer.*")
_DIRECTION: Final = re.compile(r"([HDAP])(?:2|to)([HDAP])(?![a-z])")
_WORDS: Final = re.compile(r"MEMORY_COPY_(HOST|DEVICE)_TO_(HOST|DEVICE)")


@dataclass(slots=True)
class DeviceRows:
    """What became of the events of the devices."""

    device: dict[int, int] = field(default_factory=dict[int, int])
    """Device of the timeline by ordinal of a GPU."""
    work: int = 0
    linked: int = 0
    """Of `work`, with the call that launched it."""
    sourced: int = 0
    """Of `work`, with a Python source line from its HLO operation."""
    spans: int = 0
    idle: int = 0
    """GPUs without an event."""
    others: list[str] = field(default_factory=list[str])
    """Planes of devices that are no GPUs, with events."""


def add_devices(
    line: Timeline,
    recording: Recording,
    paths: Paths,
    chains: Chains,
    host: HostRows,
    process: int,
    owner: int | None,
    also: set[int],
) -> DeviceRows:
    """Add the GPUs that did something, those with an ordinal of `also`, and their events.
    `owner`: the process that an ordinal is only known in."""
    out = DeviceRows()
    lane_of = np.full(len(recording.line_plane), -1, np.int32)
    streams: list[int] = []
    spans: list[int] = []
    for plane, name in enumerate(recording.planes):
        if not name.startswith(DEVICE_PREFIX):
            continue
        found = _PLANE.fullmatch(name)
        kind, ordinal = (found[1], int(found[2])) if found else ("", -1)
        is_gpu = kind == "GPU"
        lines = recording.used_lines(plane)
        if not lines and not (is_gpu and ordinal in also):
            out.idle += is_gpu
            continue
        device = None
        if found:
            device = line.add_device(_device(recording.stats[plane], kind, ordinal, owner))
        if is_gpu and device is not None:
            out.device[ordinal] = device
        else:
            out.others.append(name)
        for row in lines:
            lane, is_stream = _lane(recording.line_name[row], process, device)
            lane_of[row] = line.add_lane(lane)
            (streams if is_stream else spans).append(row)
    for ordinal in sorted(also - out.device.keys()):
        out.device[ordinal] = line.add_device(Device(ordinal, "GPU", process=owner))
    _add_work(line, recording, paths, chains, host, recording.events_of(streams), lane_of, out)
    _add_spans(line, recording, recording.events_of(spans), lane_of, out)
    return out


def _lane(name: str, process: int, device: int | None) -> tuple[Lane, bool]:
    """A stream (true), or a line that was derived from the streams, with spans only."""
    found = _STREAM.fullmatch(name)
    if found and device is not None:
        stream = int(found[1])
        lane = Lane(LaneKind.STREAM, process, f"stream {stream}", device=device, stream=stream)
        return lane, True
    return Lane(LaneKind.SPANS, process, name, device=device), False


def _device(
    stats: dict[str, int | float | str], kind: str, ordinal: int, owner: int | None
) -> Device:
    def whole(name: str, times: int = 1, bits: int = 31, least: int = 1) -> int | None:
        value = stats.get(name)
        if not isinstance(value, int) or not least <= value * times < 1 << bits:
            return None
        return value * times

    vendor = stats.get("device_vendor", "")
    return Device(
        ordinal=ordinal,
        name=f"{vendor} {kind}".strip(),
        process=owner,
        sm_count=whole("core_count"),
        clock_hz=whole("clock_rate", 1_000, 63),
        memory_bytes=whole("memory_size", bits=63),
        bandwidth_bytes_per_s=whole("memory_bandwidth", bits=63),
        compute_major=whole("compute_cap_major"),
        compute_minor=whole("compute_cap_minor", least=0),
    )


def _add_work(
    line: Timeline,
    recording: Recording,
    paths: Paths,
    chains: Chains,
    host: HostRows,
    events: I64,
    lane_of: I32,
    out: DeviceRows,
) -> None:
    if not len(events):
        return
    launch = _launches(recording, host, events)
    kind, name = _kinds(line, recording, events, launch)
    operation = paths.operation[events]
    outer = np.where(launch >= 0, paths.operation[launch], -1).astype(np.int32)
    chain = chains.of_pairs(outer, operation, paths.full, paths.full)
    row = np.where(launch >= 0, host.row[launch], -1).astype(np.int32)
    told = np.array([item.args for item in paths.operations] + [-1], np.int32)
    args = add_args(line, np.where(operation >= 0, told[operation], recording.rest[events]))
    kernel = np.where(kind == GpuKind.KERNEL, recording.text("kernel_details")[events], -1)
    config = add_configs(line, kernel.astype(np.int32))
    copy = recording.text("memcpy_details")[events]
    size = copied_bytes(line, np.where(copy >= 0, copy, recording.text("memset_details")[events]))
    correlation = recording.number("correlation_id")[events]
    for code in (GpuKind.KERNEL, GpuKind.MEMCPY, GpuKind.MEMSET):
        part = np.flatnonzero(kind == code)
        rows = events[part]
        line.add_ops(
            GpuOps(
                code,
                lane=lane_of[recording.line[rows]],
                start=recording.start[rows],
                dur=recording.end[rows] - recording.start[rows],
                name=name[part],
                correlation=correlation[part],
                launch=row[part],
                chain=chain[part],
                config=config[part],
                bytes=_known(size[part]),
                args=args[part],
            )
        )
    sourced = np.array([item.sourced for item in paths.operations] + [False])
    out.work = len(events)
    out.linked = int((row >= 0).sum())
    out.sourced = int(sourced[operation].sum())


def _known(size: I64) -> I64 | None:
    """None where no row has one."""
    return size if (size != NULL64).any() else None


def _launches(recording: Recording, host: HostRows, events: I64) -> I32:
    """The event that launched each one: of the calls with its correlation id the latest that
    began before it; where none did, the first. -1 where there is none."""
    correlation = recording.number("correlation_id")
    calls = np.flatnonzero((host.row >= 0) & (correlation != NULL64) & (correlation != 0))
    found = np.full(len(events), -1, np.int32)
    wanted = np.flatnonzero((correlation[events] != NULL64) & (correlation[events] != 0))
    if not len(calls) or not len(wanted):
        return found
    rows = np.concatenate([calls, events[wanted]])
    work = np.arange(len(rows)) >= len(calls)
    key = correlation[rows]
    order = np.lexsort((work, recording.start[rows], key))
    place = np.arange(len(rows))
    seen = np.maximum.accumulate(np.where(work[order], -1, place))
    call = np.where(seen >= 0, rows[order][seen], -1)
    same = (seen >= 0) & (key[order][seen] == key[order])
    latest = np.empty(len(rows), np.int64)
    latest[order] = np.where(same, call, -1)
    latest = latest[len(calls) :]
    late = latest < 0  # no call had begun: clocks that disagree, or an id used again
    if late.any():
        by_key = calls[np.lexsort((recording.start[calls], correlation[calls]))]
        at = np.searchsorted(correlation[by_key], key[len(calls) :][late])
        at = np.minimum(at, len(by_key) - 1)
        fits = correlation[by_key[at]] == key[len(calls) :][late]
        latest[late] = np.where(fits, by_key[at], -1)
    found[wanted] = latest
    return found


def _kinds(line: Timeline, recording: Recording, events: I64, launch: I32) -> tuple[I32, I32]:
    """Kind and name of each operation. ROCm records copies as kernels of the runtime; what they
    copied where is told by the call."""
    pool = line.pool
    call = np.where(launch >= 0, recording.name[launch], -1).astype(np.int32)
    number, first = intern_rows([recording.name[events], call])
    kinds: list[int] = []
    names: list[int] = []
    pairs = zip(recording.name[events[first]].tolist(), call[first].tolist(), strict=True)
    for own, by in pairs:
        text = pool[own]
        if _COPY.fullmatch(text):
            way = _direction(text) or (_direction(pool[by]) if by >= 0 else "")
            kinds.append(GpuKind.MEMCPY)
            names.append(pool.intern(f"memcpy {way}".rstrip()))
        elif _SET.fullmatch(text):
            kinds.append(GpuKind.MEMSET)
            names.append(pool.intern("memset"))
        else:
            kinds.append(GpuKind.KERNEL)
            names.append(own)
    return np.array(kinds, np.int32)[number], np.array(names, np.int32)[number]


def _direction(text: str) -> str:
    """`HtoD` and the like, as far as a name tells."""
    if words := _WORDS.match(text):
        return f"{words[1][0]}to{words[2][0]}"
    found = _DIRECTION.search(text)
    return f"{found[1]}to{found[2]}" if found else ""


def _add_spans(
    line: Timeline, recording: Recording, events: I64, lane_of: I32, out: DeviceRows
) -> None:
    out.spans = len(events)
    if len(events):
        line.add_ops(
            GpuOps(
                GpuKind.SPAN,
                lane=lane_of[recording.line[events]],
                start=recording.start[events],
                dur=recording.end[events] - recording.start[events],
                name=recording.name[events],
                args=add_args(line, recording.rest[events]),
            )
        )
