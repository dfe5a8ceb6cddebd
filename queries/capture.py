"""What was captured: facts, notes, devices and how their time was spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ingest.capabilities import Capability, lacking
from ..ingest.model import GpuClass, Severity
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Note:
    """What the user should know about the capture or the import."""

    severity: Severity
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Capture:
    """Facts of the capture. Texts are empty, other values None, where the trace does not tell."""

    path: str
    size_bytes: int | None
    format: str
    producer: str
    producer_version: str
    schema_version: str
    reader: str
    """How the file was read: the page reader, or the library and why."""
    span_ns: int | None
    """Last end in the trace; times count from its start."""
    start_utc_ns: int | None
    gpu_window_ns: tuple[int, int] | None
    """First start and last end of GPU work; None when no GPU work was recorded."""
    rows: Mapping[str, int]
    """Rows of each source table."""
    used: Mapping[str, int]
    """Of them, the rows that went into the store."""
    unused: Mapping[str, int]
    """Rows left out, by `table.reason`."""
    orphans: Mapping[str, int]
    """GPU operations whose launch is not in the trace, by kind."""
    processes: int
    devices: int
    kernels: int | None
    """Kernel executions; None when no GPU work was recorded."""
    notes: tuple[Note, ...]
    """Most severe first."""
    facts: Mapping[str, str]
    """Every stored fact, also those above."""

    @property
    def lacking(self) -> list[tuple[Capability, str]]:
        """What the views will lack and why, most important first."""
        return lacking(self.facts)


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU of the trace. `assumed`: its identity was guessed from the ordinal."""

    device: int
    label: str
    """Unique in the trace: mostly `GPU 0`, with its process where only that tells it apart."""
    name: str
    assumed: bool


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """How a device spent its window, from the first start to the last end of its work. The four
    classes sum to `window_ns` exactly: as `ingest.gpu_split` defines them."""

    device: int
    label: str
    name: str
    assumed: bool
    window_ns: int
    compute_ns: int
    comm_exposed_ns: int
    copy_exposed_ns: int
    idle_ns: int
    busy_ns: int | None
    """Union of kernels and graph replays."""
    kernel_count: int | None
    kernel_sum_ns: int | None
    kernel_window_ns: tuple[int, int] | None
    """First start and last end of the device's kernels and graph replays."""


def capture(trace: Trace) -> Capture:
    """The facts of the capture."""
    facts = _facts(trace)
    notes = tuple(
        Note(Severity(s), source, text) for s, source, text in trace.rows("capture.notes")
    )
    [(processes, devices, kernels)] = trace.rows("capture.counts")
    first, last = _whole(facts, "gpu_window_start_ns"), _whole(facts, "gpu_window_end_ns")
    return Capture(
        path=facts.get("source_path", ""),
        size_bytes=_whole(facts, "source_size_bytes"),
        format=facts.get("format", ""),
        producer=facts.get("producer", ""),
        producer_version=facts.get("producer_version", ""),
        schema_version=facts.get("schema_version", ""),
        reader=facts.get("reader", ""),
        span_ns=_whole(facts, "span_ns"),
        start_utc_ns=_whole(facts, "start_utc_ns"),
        gpu_window_ns=None if first is None or last is None else (first, last),
        rows=_group(facts, "rows."),
        used=_group(facts, "used."),
        unused=_group(facts, "unused."),
        orphans=_group(facts, "orphans."),
        processes=processes,
        devices=devices,
        kernels=kernels,
        notes=notes,
        facts=facts,
    )


def span_ns(trace: Trace) -> int | None:
    """Last end in the trace; times count from its start. None where the trace does not tell."""
    return _whole(_facts(trace), "span_ns")


def _facts(trace: Trace) -> dict[str, str]:
    return dict(trace.rows("capture.facts"))


def devices(trace: Trace) -> list[Device]:
    """The GPUs of the trace, by id."""
    rows = trace.rows("capture.devices")
    labels = [given or f"GPU {ordinal}" for _, ordinal, _, _, given, _ in rows]
    ambiguous = len(set(labels)) < len(labels)
    pids = {p: pid for p, pid, _, _ in trace.rows("capture.processes")} if ambiguous else {}
    found: list[Device] = []
    for (device, _, process, name, _, assumed), label in zip(rows, labels, strict=True):
        if ambiguous and process is not None:
            label += f" of {pids.get(process) or f'process {process}'}"
        found.append(Device(device, label, name, assumed))
    return found


def device_labels(trace: Trace) -> dict[int, str]:
    """What the GPUs are called, by id."""
    return {device.device: device.label for device in devices(trace)}


def device_times(trace: Trace) -> list[DeviceTime]:
    """Split of its window for each device; empty when no GPU work was recorded."""
    labels = device_labels(trace)
    codes = {
        "compute": GpuClass.COMPUTE,
        "comm": GpuClass.COMM_EXPOSED,
        "copy": GpuClass.COPY_EXPOSED,
        "idle": GpuClass.IDLE,
    }
    times: list[DeviceTime] = []
    for row in trace.rows("capture.device_times", {k: int(v) for k, v in codes.items()}):
        device, name, assumed, compute, comm, copy, idle, busy, count, total, first, last = row
        split = [ns or 0 for ns in (compute, comm, copy, idle)]
        times.append(
            DeviceTime(
                device=device,
                label=labels[device],
                name=name,
                assumed=assumed,
                window_ns=sum(split),
                compute_ns=split[0],
                comm_exposed_ns=split[1],
                copy_exposed_ns=split[2],
                idle_ns=split[3],
                busy_ns=busy,
                kernel_count=count,
                kernel_sum_ns=total,
                kernel_window_ns=None if first is None or last is None else (first, last),
            )
        )
    return times


def _whole(facts: Mapping[str, str], key: str) -> int | None:
    text = facts.get(key, "")
    return int(text) if text else None


def _group(facts: Mapping[str, str], prefix: str) -> dict[str, int]:
    return {k.removeprefix(prefix): int(v) for k, v in facts.items() if k.startswith(prefix)}
