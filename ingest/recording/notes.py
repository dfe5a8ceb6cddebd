"""What the reader of a recording should know about it."""

from __future__ import annotations

from typing import Final

from ..model import Severity
from .content import Recording
from .cubin_lines import can_read_lines
from .jax_facts import compilations, jax_window
from .once import own_times
from .own_cost import cost_not_known, own_cost_ns, own_share

Note = tuple[Severity, str, str]

_ONCE_SHARE: Final = 0.25
"""Of the own time; more that ran once is told."""
_DRIFT_NS: Final = 1_000_000
_DRIFT_SHARE: Final = 1e-3
"""More than this, and this of the run, is told."""
_LOSSES: Final = {
    "orphans": (
        Severity.WARNING,
        "pieces of GPU work whose launch was not seen: under [launch not recorded]",
    ),
    "drops": (
        Severity.WARNING,
        "events or pieces of GPU work are not counted: a buffer was full, or their times unknown",
    ),
    "association_misses": (
        Severity.INFO,
        "backward operators whose forward operator was not found: they stand where they ran",
    ),
    "detached": (
        Severity.INFO,
        "events whose Python stack did not meet that of the event around them "
        "(generators, greenlets): they hang from their thread",
    ),
    "elided": (Severity.INFO, "events below more than 1,024 Python frames: the outer ones are cut"),
    "folded": (
        Severity.WARNING,
        "events beyond the limit of contexts (--max-nodes): they are under [other]",
    ),
    "late_ends": (Severity.INFO, "ends of events that began before the recording"),
    "clamped_self": (
        Severity.INFO,
        "scopes that overlap others: their own time is counted as 0, not below",
    ),
    "too_deep": (Severity.WARNING, "events nested too deeply: they are not counted"),
    "samples_dropped": (
        Severity.WARNING,
        "samples of the CPU were refused by a full buffer: they are not counted",
    ),
    "instructions_dropped": (
        Severity.WARNING,
        "samples of instructions that the device or its driver lost",
    ),
    "threads_refused": (Severity.WARNING, "threads beyond the limit: they are not recorded"),
}

_SERIAL: Final = {
    "serialized": "kernels ran one after the other",
    "per-launch": "one launch in ten of each kernel ran alone",
}
"""What sampling of instructions did to the program, by its mode."""


def notes_of(label: str, recording: Recording) -> list[Note]:
    """Notes about one recording; `label` is what to call it."""
    notes: list[Note] = []
    if recording.lost:
        text = f"{label} is damaged ({recording.lost}): all up to its last whole snapshot is shown."
        notes.append((Severity.ERROR, "import", text))
    elif not recording.complete:
        text = (
            f"{label} was not ended by its program, which was killed or still runs: "
            "what came after its last snapshot is missing."
        )
        notes.append((Severity.WARNING, "capture", text))
    cost, share = own_cost_ns(recording), own_share(recording)
    if untold := cost_not_known(recording):
        text = f"{label}: what recording cost is not known: {untold}."
        notes.append((Severity.INFO, "capture", text))
    if cost is not None and share is not None:
        events = recording.commit["events"]
        text = (
            f"{label} cost about {100 * share:.1f} % of the run: an estimate, from {events:,} "
            f"events and {recording.commit['recorder_cpu_ns'] / 1e6:,.1f} ms of snapshots."
        )
        notes.append((Severity.INFO, "capture", text))
    work = recording.work
    if len(work):
        pieces = recording.commit["work_records"]
        teller = recording.meta.get("gpu")
        text = f"{label}: {pieces:,} pieces of GPU work{f', told by {teller}' if teller else ''}"
        if (replayed := int(work.columns["count"][work.in_graph].sum())) > 0:
            text += f"; {replayed:,} ran in replays of graphs and stand where these were captured"
        if (unmade := int(work.columns["count"][work.in_unknown_graph].sum())) > 0:
            text += f"; {unmade:,} ran in graphs that were captured before the recording"
        notes.append((Severity.INFO, "capture", f"{text}."))
    notes += [(Severity.INFO, "capture", text) for text in _of_samples(label, recording)]
    if (waiting := _SERIAL.get(str(recording.meta.get("samples")))) is not None:
        text = f"{label}: {waiting} to sample their instructions: their times are of this run only."
        notes.append((Severity.WARNING, "capture", text))
    notes += [(Severity.INFO, "capture", text) for text in _of_jax(label, recording)]
    notes += [(Severity.INFO, "capture", text) for text in _of_once(label, recording)]
    drift_ns = recording.commit["clock_drift_ns"]
    if abs(drift_ns) > max(_DRIFT_NS, _DRIFT_SHARE * recording.span_ns):
        text = (
            f"{label}: the processor's counter, which events are timed with, went "
            f"{abs(drift_ns) / 1e6:,.1f} ms {'ahead of' if drift_ns > 0 else 'behind'} the "
            "system's clock: durations are as wrong as that."
        )
        notes.append((Severity.WARNING, "capture", text))
    told = _texts(recording.meta.get("notes"))
    notes += [(Severity.INFO, "capture", f"{label}: {text}.") for text in told]
    for name, count in recording.losses.items():
        if count:
            severity, text = _LOSSES.get(name, (Severity.INFO, f"losses of the kind {name}"))
            notes.append((severity, "capture", f"{label}: {count:,} {text}."))
    return notes


def _of_once(label: str, recording: Recording) -> list[str]:
    times = own_times([recording])
    if times.once is None or times.once_ns < _ONCE_SHARE * times.total_ns:
        return []
    return [
        f"{label}: {times.once_ns / 1e9:,.2f} s, {100 * times.once_ns / times.total_ns:.0f} % of "
        f"the own time, ran once: imports, set-up, first calls; most of it in "
        f"{' > '.join(times.once.names[-2:])}. A longer run, or a part of it (--start-step 5, "
        "--delay), shows better what a step costs."
    ]


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [str(item) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _of_jax(label: str, recording: Recording) -> list[str]:
    """The window of a JAX program, and what its compilations took."""
    texts: list[str] = []
    window = jax_window(recording)
    if window is not None:
        held = "" if window.steps is None else f"{window.steps} steps in "
        texts.append(
            f"{label}: operations of JAX are those of {held}{window.ns / 1e9:,.2f} s of the run; "
            "scopes and operators of torch are those of all of it."
        )
    parts = [f"{verb} {n:,} in {ns / 1e9:,.2f} s" for verb, n, ns in compilations(recording)]
    if parts:
        texts.append(f"{label}: programs of JAX: {', '.join(parts)}.")
    return texts


def _of_samples(label: str, recording: Recording) -> list[str]:
    samples = recording.samples
    if not len(samples):
        return []
    told = f"{label}: {int(samples.columns['samples'].sum()):,} samples of instructions"
    unplaced = int(samples.columns["samples"][samples.columns["thread"] < 0].sum())
    if unplaced:
        told += f"; {unplaced:,} are of their kernel alone: its contexts share them by GPU time"
    notes = [f"{told}."]
    if samples.code and not can_read_lines():
        notes.append(
            f"{label}: sampled instructions have no source lines: reading them needs pyelftools "
            "(pip install 'dctx[source]')."
        )
    return notes
