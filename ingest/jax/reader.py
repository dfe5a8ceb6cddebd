"""Reads recordings, one of each host, into one timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...native import StringPool
from ..account import RowAccount
from ..capabilities import capability_facts
from ..detect import Content
from ..errors import shown_path
from ..inputs import Source, Tell
from ..model import Severity
from ..owners import Process
from ..parallel import scan_all
from ..progress import Progress
from ..ranks import assign_ranks
from ..timeline import Timeline
from ..writer import StoreWriter
from .device import DeviceRows, add_devices
from .export import read_export
from .host import HostRows, add_host
from .memory import add_memory, ordinals
from .modules import Modules
from .paths import Chains, find_paths
from .recording import HOST_PLANE, MODULE_PLANE, Recording, decode
from .report import capabilities, damage_notes, notes_of

_ENVIRONMENT: Final = "Task Environment"
_ABSOLUTE_NS: Final = 10**17
"""Times beyond it are no time since the start of a recording: they count from 1970."""


@dataclass(slots=True)
class Found:
    """What one recording held."""

    label: str
    recording: Recording
    modules: Modules
    host: HostRows
    device: DeviceRows


def load(sources: Sequence[Source], writer: StoreWriter, progress: Progress) -> None:
    """Decode every recording, align their clocks, and write the store."""
    pool = StringPool()

    def read(source: Source, tell: Tell) -> Recording:
        if source.content is Content.JAX_TRACE:
            return read_export(source.chunks(tell), pool)
        return decode(source.read_all(tell), pool)

    recordings = scan_all(sources, read, progress, "Reading events", 0.0, 0.35)
    line = Timeline(shown_path(writer.source.name), pool)
    ranks, notes = assign_ranks(sources, [None] * len(sources))
    writer.notes(notes)
    start = _align(line, recordings)
    account = RowAccount()
    progress("Finding source lines", 0.36)
    chains = Chains()
    found = [
        _add(line, recording, chains, source.label if len(sources) > 1 else "", rank, account)
        for recording, source, rank in zip(recordings, sources, ranks, strict=True)
    ]
    chains.add_to(line)
    line.facts.update(_producer(found))
    reader = "event scanner" if any(item.is_export for item in recordings) else "wire format"
    line.facts.update({"reader": reader, "start_utc_ns": "" if start is None else start})
    line.facts.update(account.facts())
    capable = capabilities([item.host for item in found], [item.device for item in found])
    line.facts.update(capability_facts(capable))
    for item in found:
        where = f"{item.label}: " if item.label else ""
        told = [
            *damage_notes(item.recording, item.modules),
            *notes_of(item.modules, item.host, item.device, item.recording.is_export),
        ]
        line.notes += [(severity, "import", where + text) for severity, text in told]
    line.write(writer, progress)


def _producer(found: Sequence[Found]) -> dict[str, object]:
    version = next(
        (told for item in found if (told := item.recording.stat(MODULE_PLANE, "jax_version"))), ""
    )
    by_jax = any(item.modules.by_jax or item.recording.is_export for item in found)
    if version or by_jax:
        return {"producer": "JAX", "producer_version": version}
    if any(len(item.modules) for item in found):
        return {"producer": "XLA", "producer_version": ""}
    return {"producer": "XLA profiler (no version told)", "producer_version": ""}


def _count(
    account: RowAccount,
    recording: Recording,
    host: HostRows,
    device: DeviceRows,
    without_size: int,
) -> None:
    """Every event is used, or left out for a reason."""
    on_device = device.work + device.spans
    faults = recording.faults
    left_out = {
        "end_of_a_thunk": host.twins,
        "allocation_without_size": without_size,
        **faults.left_out,
    }
    rows = account.rows
    on_host = len(recording) - on_device + sum(faults.left_out.values())
    rows["host_events"] = rows.get("host_events", 0) + on_host
    rows["device_events"] = rows.get("device_events", 0) + on_device
    account.read |= {"host_events", "device_events"}
    for reason, count in left_out.items():
        account.leave_out("host_events", reason, count)
    account.remark("host_events", "bad_time", faults.negative_dur)


def _align(line: Timeline, recordings: list[Recording]) -> int | None:
    """Shift all to the clock of the first that began. Returns its start, ns since 1970."""
    bases: list[int | None] = []
    for recording in recordings:
        first = int(recording.start.min()) if len(recording) else 0
        told = recording.stat(_ENVIRONMENT, "profile_start_time")
        if first > _ABSOLUTE_NS:
            recording.shift(-first)
            bases.append(first)
        else:
            bases.append(told if isinstance(told, int) and told > 0 else None)
    known = [base for base in bases if base is not None]
    if len(known) < len(bases):
        if len(bases) > 1:
            text = "Not every file tells when it began: their times are not aligned."
            line.notes.append((Severity.WARNING, "import", text))
        return known[0] if len(bases) == 1 and known else None
    start = min(known)
    for recording, base in zip(recordings, known, strict=True):
        recording.shift(base - start)
    return start


def _add(
    line: Timeline,
    recording: Recording,
    chains: Chains,
    label: str,
    rank: int | None,
    account: RowAccount,
) -> Found:
    """`label` is empty where there is only one recording."""
    hosts = recording.hostnames
    pid = recording.stat(HOST_PLANE, "process_id")
    name = label or (hosts[0] if hosts and hosts[0] else "process")
    process = line.add_process(Process(name, pid=pid if isinstance(pid, int) else None, rank=rank))
    return add_recording(line, recording, chains, process, account, label)


def add_recording(
    line: Timeline,
    recording: Recording,
    chains: Chains,
    process: int,
    account: RowAccount,
    label: str = "",
) -> Found:
    """Add the events of a recording to a process of the timeline. With a `label` GPUs are those of
    this process alone."""
    modules = Modules(recording.blobs, recording.pool, line.tree)
    paths = find_paths(recording, modules)
    host = add_host(line, recording, paths, chains, process)
    ordinal, used = ordinals(recording, host.memory)
    owner = process if label else None  # GPU numbers of two hosts are not the same GPUs
    device = add_devices(line, recording, paths, chains, host, process, owner, used)
    without_size = add_memory(
        line, recording, host.memory, ordinal, device.device, host.lane, process
    )
    _count(account, recording, host, device, without_size)
    return Found(label, recording, modules, host, device)
