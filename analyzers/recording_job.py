"""What a job that was recorded came to: over all its files, without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..ingest.recording.chunks import FormatError
from ..ingest.recording.content import Recording, parse
from ..ingest.recording.jax_facts import JaxWindow, jax_window
from ..ingest.recording.kinds import Kind
from ..ingest.recording.own_cost import own_cost_ns
from ..ingest.recording.paths import context_names, own_time


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
    hottest: tuple[str, ...] = ()
    """The context with most time of its own, outermost first; empty when nothing has any."""
    hottest_share: float | None = None
    """Of the own time of all contexts."""
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
    hottest, share = _hottest(recordings)
    return RecordedJob(
        list(files),
        steps=sum(recording.commit["steps"] for recording in recordings),
        events=sum(recording.commit["events"] for recording in recordings),
        contexts=sum(recording.commit["nodes"] for recording in recordings),
        kernels=sum(recording.work.kernels for recording in recordings),
        hottest=hottest,
        hottest_share=share,
        losses={name: count for name, count in losses.items() if count},
        notes=tuple(sorted(notes)),
        incomplete=sum(not recording.complete for recording in recordings),
        jax=tuple(window for r in recordings if (window := jax_window(r)) is not None),
        own_cost_ns=cost,
        own_share=None if cost is None or span_ns <= 0 else cost / span_ns,
    )


def _hottest(recordings: Sequence[Recording]) -> tuple[tuple[str, ...], float | None]:
    total, best = 0, (0, tuple[str, ...]())
    for recording in recordings:
        for thread in recording.threads.values():
            own = own_time(thread)
            total += int(own.sum())
            own = np.where(thread.kind == Kind.THREAD, 0, own)
            node = int(np.argmax(own)) if len(own) else 0
            if len(own) and int(own[node]) > best[0]:
                best = (int(own[node]), context_names(recording, thread, node))
    return best[1], best[0] / total if total and best[0] else None
