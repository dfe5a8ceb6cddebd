"""What a job that was recorded came to: over all its files, without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..ingest.recording.chunks import FormatError
from ..ingest.recording.content import Recording, parse
from ..ingest.recording.jax_facts import JaxWindow, jax_window
from ..ingest.recording.once import Context, own_times
from ..ingest.recording.own_cost import own_cost_ns


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """One file of the job."""

    path: Path
    size_bytes: int
    recording: Recording | None
    failure: str = ""
    """Why nothing of it can be read."""


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """Sums over the files that can be read."""

    files: list[RecordedFile]
    steps: int = 0
    events: int = 0
    contexts: int = 0
    kernels: int = 0
    """Kernels that GPUs ran."""
    hottest: Context | None = None
    """With most time of its own, what the program did once aside; None when there is none."""
    once: Context | None = None
    """With most of what it did once: imports, set-up, first calls; None where there is none."""
    once_ns: int = 0
    """All of that."""
    own_ns: int = 0
    """Own time of all contexts."""
    losses: dict[str, int] = field(default_factory=dict[str, int])
    notes: tuple[str, ...] = ()
    """What was not captured and why, as each process told it."""
    incomplete: int = 0
    """Files that their process did not end: it was killed."""
    jax: tuple[JaxWindow, ...] = ()
    """Of the processes that recorded operations of JAX."""
    own_cost_ns: int | None = None
    own_share: float | None = None
    """Of the time that the processes were recorded, summed; an estimate."""


def read_files(paths: Sequence[Path]) -> list[RecordedFile]:
    """The recordings that are there: a process without events made none."""
    found: list[RecordedFile] = []
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        try:
            found.append(RecordedFile(path, len(data), parse(data)))
        except FormatError as error:
            found.append(RecordedFile(path, len(data), None, error.what))
    return found


def recorded_job(files: Sequence[RecordedFile]) -> RecordedJob:
    """Sum up the files of a job."""
    recordings = [file.recording for file in files if file.recording is not None]
    if not recordings:
        return RecordedJob(list(files))
    losses: dict[str, int] = {}
    for recording in recordings:
        for name, count in recording.losses.items():
            losses[name] = losses.get(name, 0) + count
    costs = [own_cost_ns(recording) for recording in recordings]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if len(known) == len(costs) else None
    span_ns = sum(recording.span_ns for recording in recordings)
    notes = {
        str(note)
        for recording in recordings
        for note in recording.meta.get("notes") or ()  # written by dctx itself
    }
    own = own_times(recordings)
    return RecordedJob(
        list(files),
        steps=sum(recording.commit["steps"] for recording in recordings),
        events=sum(recording.commit["events"] for recording in recordings),
        contexts=sum(recording.commit["nodes"] for recording in recordings),
        kernels=sum(recording.work.kernels for recording in recordings),
        hottest=own.hottest,
        once=own.once,
        once_ns=own.once_ns,
        own_ns=own.total_ns,
        losses={name: count for name, count in losses.items() if count},
        notes=tuple(sorted(notes)),
        incomplete=sum(not recording.complete for recording in recordings),
        jax=tuple(window for r in recordings if (window := jax_window(r)) is not None),
        own_cost_ns=cost,
        own_share=None if cost is None or span_ns <= 0 else cost / span_ns,
    )
