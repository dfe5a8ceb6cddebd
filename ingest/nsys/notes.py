"""What the user should know about a capture: what is wrong with it, and what was assumed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..model import GpuKind, Severity
from ..owners import too_many
from . import calls as call_tables
from .content import has_events
from .devices import Devices
from .identity import Identity
from .reader import TableReader
from .strings import Strings

Note = tuple[Severity, str, str]

_UNRELIABLE_ORPHANS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Findings:
    """What the import counted. Graph launches count calls, the others events."""

    calls: int
    annotations: int
    memory: int
    graph_launches: int
    ops: dict[GpuKind, int]
    orphans: dict[GpuKind, int]
    graph_kernels: bool
    """Kernels that belong to a graph were recorded one by one."""
    partial_overlaps: int
    idle_processes: Sequence[str]
    """Processes with CUDA calls but without GPU work."""


def import_notes(
    reader: TableReader,
    strings: Strings,
    identity: Identity,
    devices: Devices,
    found: Findings,
) -> list[Note]:
    """Notes about missing tables, missing columns and corrections, most serious first."""
    if not has_events(reader):
        text = "The file holds no events: it only describes the capture. Export the report again."
        return [(Severity.WARNING, "import", text)]
    notes = [
        *_gpu_notes(found),
        *_table_notes(reader, strings),
        *_identity_notes(identity, devices, found),
    ]
    return sorted(((s, "import", text) for s, text in notes), key=lambda note: -note[0])


def _gpu_notes(found: Findings) -> list[tuple[Severity, str]]:
    notes: list[tuple[Severity, str]] = []
    work = found.ops.get(GpuKind.KERNEL, 0) + found.ops.get(GpuKind.GRAPH, 0)
    if not work and found.calls:
        text = (
            "No GPU work was recorded although CUDA was called: the capture has a problem. "
            "GPU idle time is not known."
        )
        notes.append((Severity.WARNING, text))
    if found.graph_launches and not found.ops.get(GpuKind.GRAPH) and not found.graph_kernels:
        text = (
            f"{found.graph_launches} CUDA graph launches, but no replay was recorded: their GPU "
            "work is invisible. Record with --cuda-graph-trace=node (or graph)."
        )
        notes.append((Severity.WARNING, text))
    total = sum(found.ops[kind] for kind in found.orphans)
    orphans = sum(found.orphans.values())
    if orphans:
        share = orphans / total
        text = f"{orphans} of {total} GPU operations have no launch in the trace."
        if share > _UNRELIABLE_ORPHANS:
            text += " Call paths cover only a part of the GPU time."
        notes.append((Severity.WARNING if share > _UNRELIABLE_ORPHANS else Severity.INFO, text))
    return notes


def _table_notes(reader: TableReader, strings: Strings) -> list[tuple[Severity, str]]:
    notes: list[tuple[Severity, str]] = []
    if not strings.recorded:
        notes.append((Severity.WARNING, "The file holds no string table: names are ids."))
    elif strings.lost:
        text = f"{len(strings.lost)} names are missing from the string table: shown by id."
        notes.append((Severity.WARNING, text))
    calls = reader.find(call_tables.TABLE, call_tables.REQUIRED)
    if calls is not None and not reader.has_column(calls, "eventClass"):
        notes.append((Severity.INFO, "Calls carry no class: all are taken as runtime calls."))
    kernels = reader.find("CUPTI_ACTIVITY_KIND_KERNEL", ("start", "deviceId"))
    if kernels is not None and not reader.has_column(kernels, "globalPid"):
        notes.append((Severity.INFO, "GPU work does not name its process."))
    for table, counts in reader.account.remarks.items():
        if counts["bad_time"]:
            text = (
                f"{table}: {counts['bad_time']} rows end before they start, have no end, or have "
                "times that cannot be."
            )
            notes.append((Severity.WARNING, text))
    return notes


def _identity_notes(
    identity: Identity, devices: Devices, found: Findings
) -> list[tuple[Severity, str]]:
    notes = [
        (Severity.WARNING, text)
        for text in (
            *too_many("processes", identity.processes),
            *too_many("GPUs", devices.items),
        )
    ]
    if any(device.assumed for device in devices.items):
        text = (
            "Several processes use the same GPU number and the file does not tell the GPUs "
            "apart: each process is taken to have its own."
        )
        notes.append((Severity.WARNING, text))
    if found.idle_processes and found.ops:
        names = ", ".join(found.idle_processes)
        notes.append((Severity.INFO, f"CUDA calls but no GPU work: {names}."))
    if found.partial_overlaps:
        text = f"{found.partial_overlaps} host events outlive the range they began in."
        notes.append((Severity.INFO, text))
    return notes
