"""What is told of the recordings: facts, what they lack, what was dropped or corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..capabilities import Capability, capability_facts
from ..comm import is_communication
from ..model import GpuKind, HostKind, Severity
from ..timeline import Timeline
from .gpu import GpuFound
from .host_parts import HostRows
from .producer import facts_of, is_torch, pytorch_version
from .recording import Recording, as_list
from .scan_notes import scan_notes

_WORK: Final = (GpuKind.KERNEL, GpuKind.MEMCPY, GpuKind.MEMSET)
_UNRELIABLE_SHARE: Final = 0.05
_GRAPH_SHARE: Final = 0.3
_MOST_LOG_LINES: Final = 20
_MOST_LOG_TEXT: Final = 500

_LEFT_OUT: Final = frozenset({"no_ts", "bad_phase"})
"""Of what the scanner reports, events which are not used."""


_ONLY_CPU: Final = (
    "only CPU events: record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
)
_ONLY_COUNTERS: Final = (
    "counters of kernels, but not when these ran (see the table `counter`): record a second time "
    "without profiler metrics."
)
_GENERIC: Final = {
    Capability.GPU_WORK: "a Chrome trace of another program does not tell work of a GPU from that "
    "of a thread, so all its events are shown as host events. Open the profiler's own file where "
    "there is one (.rpd, rocpd .db, .xplane.pb, .pt.trace.json, .sqlite)."
}
"""What Chrome traces lack that the PyTorch profiler did not write."""


@dataclass(slots=True)
class Added:
    """What one recording brought in."""

    recording: Recording
    host: HostRows
    gpu: GpuFound
    memory: int
    ranges: int
    """Ranges of a GPU with its counters."""
    impossible: int
    collectives: bool


def describe(added: Sequence[Added], timeline: Timeline) -> None:
    """Add the facts and notes of all recordings to the timeline."""
    facts = timeline.facts
    torch = any(is_torch(item.recording) for item in added)
    first = added[0].recording
    facts["producer"] = "PyTorch profiler (Kineto)" if torch else "Chrome trace"
    if torch:
        facts["producer_version"] = pytorch_version(first) or None
    capable = _capabilities(added, timeline) if torch else _GENERIC
    facts.update(capability_facts(capable))
    facts["reader"] = "event scanner"
    facts.update(facts_of(first))
    facts["ts_precision_ns"] = {0: 1000, 1: 250}.get(
        max(item.recording.scan.ts_fraction for item in added), 1
    )
    windows = [item.recording.window for item in added if item.recording.window is not None]
    if windows:
        facts["window_start_ns"] = min(start for start, _ in windows)
        facts["window_end_ns"] = max(end for _, end in windows)
    _count_events(added, facts)
    without = sum(item.recording.base_ns is None for item in added)
    if len(added) > 1 and without:
        facts["files_without_base_time"] = without
    notes = [
        *scan_notes([item.recording for item in added]),
        *_link_notes(added),
        *_time_notes(added),
    ]
    if timeline.empty:
        text = "The file holds no events with a time: there is nothing to show."
        notes.append((Severity.WARNING, text))
    timeline.notes += sorted(
        ((severity, "import", text) for severity, text in notes), key=lambda note: -note[0]
    )
    for item in added:
        timeline.notes += _log(item.recording)


def _count_events(added: Sequence[Added], facts: dict[str, object]) -> None:
    """Events by phase and category, what was not used and why, and what links to its launch."""
    counts: Counter[str] = Counter()
    unused: Counter[str] = Counter()
    for item in added:
        scan = item.recording.scan
        counts["events"] += scan.events
        for prefix, values in (("phase", scan.phases), ("category", scan.categories)):
            for key, count in values.items():
                counts[f"events.{prefix}.{key or '(none)'}"] += count
        for category, count in scan.flows_dropped.items():
            unused[f"flow_{category}"] += count
        for reason, (count, _) in scan.report.items():
            counts[f"report.{reason}"] += count
            if reason in _LEFT_OUT:
                unused[reason] += count
        unused.update(item.recording.left_out)
        counts["linked.gpu"] += item.gpu.linked
        counts["linked.flow"] += item.gpu.flow_linked
        counts["linked.backward"] += item.host.forwards
        counts["backward"] += item.host.backwards
    facts.update(counts)
    facts["rows.events"] = counts["events"]
    facts["used.events"] = counts["events"] - unused.total()
    facts.update({f"unused.events.{reason}": count for reason, count in unused.items() if count})
    facts["external_id_is_correlation"] = int(
        any(item.gpu.external_is_correlation for item in added)
    )


def _capabilities(added: Sequence[Added], timeline: Timeline) -> dict[Capability, str]:
    kinds: Counter[HostKind] = Counter()
    work = 0
    counted = any(item.ranges for item in added)
    for item in added:
        kinds.update(item.host.kinds)
        work += sum(item.gpu.ops.get(kind, 0) for kind in _WORK)
    calls = kinds[HostKind.RUNTIME] + kinds[HostKind.DRIVER]
    stack = "recorded without with_stack: re-record with profile(with_stack=True)."
    there = {
        Capability.GPU_WORK: (
            work,
            _ONLY_COUNTERS if counted else _ONLY_CPU,
        ),
        Capability.CPU_OPERATORS: (
            kinds[HostKind.OP],
            "recorded without ProfilerActivity.CPU: record with both activities.",
        ),
        Capability.PYTHON_FRAMES: (
            kinds[HostKind.PYTHON] or any(item.host.stacks for item in added),
            stack,
        ),
        Capability.MODULES: (
            any(item.host.modules for item in added),
            "no torch.nn.Module ran, or recorded without with_stack: re-record with "
            "profile(with_stack=True)."
            if kinds[HostKind.PYTHON]
            else stack,
        ),
        Capability.ANNOTATIONS: (
            kinds[HostKind.ANNOTATION],
            "none recorded: mark phases with torch.profiler.record_function().",
        ),
        Capability.STEPS: (
            sum(item.host.steps for item in added),
            "no ProfilerStep: call prof.step() after each iteration.",
        ),
        Capability.SHAPES: (
            any(item.host.shapes for item in added),
            "recorded without record_shapes: re-record with profile(record_shapes=True).",
        ),
        Capability.MEMORY: (
            sum(item.memory for item in added),
            "recorded without profile_memory: re-record with profile(profile_memory=True).",
        ),
    }
    if work:
        text = "no runtime calls are in the trace: record with ProfilerActivity.CPU too."
        there[Capability.LAUNCHES] = (calls, text)
    collectives = any(item.collectives for item in added)
    if collectives or _communicates(timeline):
        text = "communication kernels carry no arguments: record with PyTorch 2.1 or later."
        there[Capability.COLLECTIVES] = (collectives, text)
    return {name: "" if found else reason for name, (found, reason) in there.items()}


def _communicates(timeline: Timeline) -> bool:
    return any(is_communication(timeline.pool[name]) for name in timeline.kernel_names())


def _link_notes(added: Sequence[Added]) -> list[tuple[Severity, str]]:
    notes: list[tuple[Severity, str]] = []
    total = sum(item.gpu.ops.get(kind, 0) for item in added for kind in _WORK)
    orphans = total - sum(item.gpu.linked for item in added)
    if orphans:
        text = (
            f"{orphans} of {total} GPU operations have no launch in the trace: launched before "
            "the recording began, or the call was lost."
        )
        serious = orphans > _UNRELIABLE_SHARE * total
        if serious:
            text += " Call paths cover only a part of the GPU time."
        notes.append((Severity.WARNING if serious else Severity.INFO, text))
    gpu_ns = sum(item.gpu.total_ns for item in added)
    graph_ns = sum(item.gpu.graph_ns for item in added)
    if gpu_ns and graph_ns > _GRAPH_SHARE * gpu_ns:
        text = (
            f"{100 * graph_ns / gpu_ns:.0f} % of the GPU time was launched by graphs: it belongs "
            "to the call that replayed the graph, not to the operators that were captured."
        )
        notes.append((Severity.INFO, text))
    ambiguous = sum(item.gpu.ambiguous for item in added)
    if ambiguous:
        text = (
            f"{ambiguous} GPU operations share their correlation id with others: linked to the "
            "latest call before them."
        )
        notes.append((Severity.INFO, text))
    if any(item.gpu.by_external_id for item in added):
        text = "The file has no correlation ids: GPU work is linked to operators by External id."
        notes.append((Severity.INFO, text))
    unsure = sum(item.host.ambiguous for item in added)
    if unsure:
        text = (
            f"{unsure} backward operators have a sequence number that several threads use: they "
            "are shown on their own thread, not below a forward operator."
        )
        notes.append((Severity.INFO, text))
    return notes


def _time_notes(added: Sequence[Added]) -> list[tuple[Severity, str]]:
    notes: list[tuple[Severity, str]] = []
    impossible = sum(item.impossible for item in added)
    if impossible:
        text = f"{impossible} events last longer than 7 days: shown with no duration."
        notes.append((Severity.WARNING, text))
    cuts = [item.gpu.cut for item in added if item.gpu.cut is not None]
    notes += [(severity, text) for severity, _, text in cuts]
    early = sum(item.gpu.before_launch for item in added)
    if early:
        text = (
            f"{early} GPU operations start before the call that launched them: the clocks of the "
            "host and the GPU differ."
        )
        notes.append((Severity.WARNING, text))
    open_ = sum(item.host.open for item in added)
    unmatched = sum(item.recording.left_out.get("unmatched_end", 0) for item in added)
    if open_:
        text = f"{open_} begin marks have no end: they last until the end of their thread."
        notes.append((Severity.INFO, text))
    if unmatched:
        notes.append((Severity.INFO, f"{unmatched} end marks have no begin: left out."))
    if len(added) > 1:
        without = sum(item.recording.base_ns is None for item in added)
        if without:
            text = (
                f"{without} of {len(added)} files do not tell when they were recorded: they are "
                "shown from the start, not aligned with the others."
            )
            notes.append((Severity.WARNING, text))
    return notes


def _log(recording: Recording) -> list[tuple[Severity, str, str]]:
    """The profiler's own warnings and errors."""
    notes: list[tuple[Severity, str, str]] = []
    for key, severity in (("ERROR", Severity.ERROR), ("WARNING", Severity.WARNING)):
        lines = as_list(recording.metadata.get(key))[-_MOST_LOG_LINES:]
        notes += [
            (severity, "profiler", line[:_MOST_LOG_TEXT]) for line in lines if isinstance(line, str)
        ]
    return notes
