"""Loads the files of one ROCm run into a store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from ...native import StringPool
from ..capabilities import Capability, capability_facts
from ..detect import Content
from ..documents import read_document
from ..errors import DamagedTraceError, TraceError, shown_path
from ..inputs import Source, Tell
from ..model import HostKind, Severity
from ..parallel import scan_all
from ..progress import Progress
from ..ranks import assign_ranks
from ..tables import TableReader
from ..timeline import Timeline
from ..writer import StoreWriter
from .document import new_reader
from .document_file import read_processes
from .place import Placer, clock_note, origins
from .recording import Recording
from .rocpd import read_rocpd, suffixes
from .rpd import read_rpd

_GUID: Final = re.compile(r"(?:_[0-9a-fA-F]+){5}$")
_SQLITES_OWN: Final = ".sqlite_"
_PRODUCERS: Final = {
    Content.ROCPD: ("rocprofv3", "rocpd"),
    Content.ROCPROFV3: ("rocprofv3", "rocprofv3 JSON"),
    Content.ROCPROF_CSV: ("rocprofv3", "rocprofv3 CSV"),
    Content.RPD: ("rocmProfileData", "RPD"),
}


def load(
    sources: Sequence[Source], writer: StoreWriter, progress: Progress, salvage: bool = False
) -> None:
    """Fill the store. TraceError for a file that is damaged (and not `salvage`)."""
    line = Timeline(shown_path(writer.source.name))
    tables = [source for source in sources if source.content is Content.ROCPROF_CSV]
    whole = [source for source in sources if source.content is not Content.ROCPROF_CSV]
    reads: list[list[Recording]] = []
    if whole:
        reads = scan_all(
            whole,
            lambda source, tell: _read(source, line.pool, salvage, tell),
            progress,
            "Reading events",
            0.0,
            0.4,
        )
    named, labels = whole, [source.label for source in whole]
    if tables:
        from .csv_runs import read_runs  # loads pyarrow

        runs = read_runs(tables, line.pool, progress)
        named = [*whole, *(run.source for run in runs)]
        labels += [run.found.label for run in runs]
        reads += [[run.found] for run in runs]
    ranks, notes = assign_ranks(named, [None] * len(named))
    line.notes += notes
    recordings: list[Recording] = []
    for label, rank, found in zip(labels, ranks, reads, strict=True):
        for recording in found:
            for process in recording.processes:
                process.rank = rank
                if len(named) > 1:
                    process.name = f"{process.name} · {label}"
        recordings += found
    _place(line, recordings)
    producer, reader = _PRODUCERS[sources[0].content]
    line.facts.update({"producer": producer, "reader": line.facts.get("reader", reader)})
    line.facts.update(capability_facts(_capabilities(recordings, sources[0].content)))
    line.facts.update(_account(recordings))
    line.write(writer, progress)


def _read(source: Source, pool: StringPool, salvage: bool, tell: Tell) -> list[Recording]:
    if source.content is Content.ROCPROFV3:
        return _read_json(source, pool, tell)
    reader = TableReader(source.file or source.path, salvage=salvage)
    recordings: list[Recording] = []
    with closing(reader):
        if source.content is Content.RPD:
            recordings.append(read_rpd(reader, source.label, pool))
        else:
            for number, suffix in enumerate(suffixes(reader.tables)):
                recordings.append(read_rocpd(reader, suffix, source.label, pool))
                tell(number / len(suffixes(reader.tables)))
        reader.count_unread()
        reader.check_unchanged()
        for recording in recordings[:1]:
            recording.notes += reader.notes
            recording.facts["reader"] = reader.reader_name
    return recordings


def _read_json(source: Source, pool: StringPool, tell: Tell) -> list[Recording]:
    document = new_reader()
    damage = read_document(source, document, tell)
    recordings = read_processes(document, source.label, pool)
    if damage and not any(sum(found.account.rows.values()) for found in recordings):
        what = f"the file is {damage}: nothing that ran is in what comes before."
        raise DamagedTraceError(source.path, what, "Copy it again, or record it again.")
    if not recordings:
        what = "the file holds no process of a recording."
        raise TraceError(source.path, what, "Record it again.")
    first = recordings[0]
    if damage:
        text = f"{source.label} is {damage}; what comes before is shown."
        first.notes.append((Severity.ERROR, "import", text))
    if document.repaired:
        text = f"{document.repaired} texts hold bytes that are no UTF-8; each is shown as �."
        first.notes.append((Severity.INFO, "import", text))
        first.facts["repaired_text"] = document.repaired
    return recordings


def _place(line: Timeline, recordings: Sequence[Recording]) -> None:
    begins = origins(recordings)
    if len(begins) > 1:
        text = (
            f"The files come from {len(begins)} machines, whose clocks count from their own boot: "
            "each machine's first event is shown at time 0, so times of different machines do "
            "not compare."
        )
        line.notes.append((Severity.WARNING, "import", text))
    placer = Placer(line)
    for recording in recordings:
        placer.add(recording, begins.get(recording.machine, 0))
        line.facts.update(recording.facts)
        line.notes += recording.notes
    if (note := clock_note(placer.early)) is not None:
        line.notes.append(note)
    ambiguous = sum(recording.ambiguous for recording in recordings)
    if ambiguous:
        text = (
            f"{ambiguous} GPU operations have an id that several calls share: each is linked to "
            "the latest of them that began before it."
        )
        line.notes.append((Severity.INFO, "import", text))


def _account(recordings: Sequence[Recording]) -> dict[str, object]:
    """Rows used and left out, summed over the recordings, by table (without its GUID)."""
    sums: dict[str, int] = {}
    seen: list[int] = []
    for recording in recordings:
        if id(recording.account) in seen:
            continue
        seen.append(id(recording.account))
        for key, value in recording.account.facts().items():
            if _SQLITES_OWN in key:
                continue
            plain = _without_guid(key)
            sums[plain] = sums.get(plain, 0) + int(str(value))
    return dict(sums)


def _without_guid(key: str) -> str:
    """A fact about a table whose name ends in a GUID, as a fact about the table of the format."""
    return ".".join(_GUID.sub("", part) for part in key.split("."))


def _capabilities(recordings: Sequence[Recording], content: Content) -> dict[Capability, str]:
    rocprof = content is not Content.RPD
    work = any(len(part) for recording in recordings for part in recording.work)
    linked = any(
        bool((part.launch >= 0).any()) for recording in recordings for part in recording.work
    )
    marked = any(
        recording.calls is not None and bool((recording.calls.kind == HostKind.ANNOTATION).any())
        for recording in recordings
    )
    called = any(recording.calls is not None for recording in recordings)
    allocated = any(recording.memory is not None for recording in recordings)
    reasons = {
        Capability.GPU_WORK: "recorded without kernels: record with rocprofv3 --kernel-trace "
        "--memory-copy-trace."
        if rocprof
        else "no GPU ran anything while RPD recorded.",
        Capability.LAUNCHES: (
            "no call has the id of a kernel."
            if called
            else "recorded without API calls: record with rocprofv3 --sys-trace, or add "
            "--hip-trace."
        )
        if rocprof
        else "the table rocpd_api_ops links nothing.",
        Capability.PYTHON_FRAMES: "this profiler does not see Python: record with torch.profiler "
        "(with_stack=True) for the lines that launch the work.",
        Capability.ANNOTATIONS: "the program set no ranges, or they were not recorded: use "
        "roctxRangePush and roctxRangePop"
        + (", and record with rocprofv3 --marker-trace." if rocprof else "."),
        Capability.MEMORY: "recorded without allocations: record with rocprofv3 "
        "--memory-allocation-trace."
        if rocprof
        else "RPD records no allocations as events.",
    }
    there = {
        Capability.GPU_WORK: work,
        Capability.LAUNCHES: linked,
        Capability.PYTHON_FRAMES: False,
        Capability.ANNOTATIONS: marked,
        Capability.MEMORY: allocated,
    }
    return {name: "" if there[name] else reason for name, reason in reasons.items()}
