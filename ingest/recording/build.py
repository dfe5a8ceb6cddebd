"""Loads the recordings of one run: one tree, with what each context cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...native import PathTree, StringPool
from ..arrays import I32, NULL64
from ..called_with import joined
from ..capabilities import Capability, capability_facts
from ..errors import DamagedTraceError, TraceError, shown_path
from ..generated import GeneratedFile
from ..inputs import Source
from ..launched import Launched
from ..model import LaneKind, Layer
from ..owners import Lane, Process
from ..path_memory import PathMemory
from ..profile_values import RAN_ONCE
from ..progress import Done, Progress, part_of
from ..ranks import assign_ranks
from ..stalls import StallSamples
from ..stalls import joined as joined_stalls
from ..tree_only import Profile, write_profile
from ..writer import StoreWriter
from .calls import CallRows
from .chunks import FormatError
from .content import Recording, parse
from .gpu import devices_of, enter_work, launched_of
from .kinds import Kind
from .notes import notes_of
from .once import once_time
from .own_cost import own_cost_ns
from .parts import DURATIONS, Part, costs_of, host_part, others_of, window_part
from .paths import Names, enter_thread, thread_label
from .sampled import Sampled, sampled_nodes, with_samples
from .stalls import stalls_of
from .steps import step_table
from .symbols import find_symbols
from .xla import Windows
from .xla_kernels import KernelOperations

_AGGREGATED: Final = "a recording is summed up while the program runs: it tells no single event."
_FURTHER: Final = {"cpu_ns": "thread CPU ns", "faults": "page faults"}
"""Metrics without a column of their own, measured of scopes only."""


def load(sources: Sequence[Source], writer: StoreWriter, progress: Progress) -> None:
    """Fill the store. TraceError when a file has no complete snapshot."""
    recordings = [
        _read(source, progress, number / len(sources), (number + 1) / len(sources))
        for number, source in enumerate(sources)
    ]
    # Workers of a DataLoader have files too: a process that knew no rank is none.
    told = [_whole(r.meta.get("rank")) for r in recordings]
    ranks, notes = assign_ranks(sources, told, number=False)
    progress("Building call paths", 0.6)
    found = _Contexts(shown_path(writer.source.name))
    for source, recording, rank in zip(sources, recordings, ranks, strict=True):
        found.enter(recording, rank)
        notes += notes_of(source.label if len(sources) > 1 else "The recording", recording)
    progress("Summing up", 0.8)
    notes += found.windows.notes
    steps = step_table(recordings)
    if steps is not None:
        writer.insert("step", steps)
    write_profile(writer, found.profile(), _facts(recordings, found), notes)


def _read(source: Source, progress: Progress, begin: float, end: float) -> Recording:
    def tell(done: Done) -> None:
        progress("Reading the recording", part_of(done, 0.5 * begin, 0.5 * end))

    try:
        return parse(source.read_all(tell))
    except FormatError as error:
        raise DamagedTraceError(source.path, error.what, error.remedy) from error


class _Contexts:
    """The tree over all processes, and who they are."""

    def __init__(self, root_name: str) -> None:
        self.pool, self.tree = StringPool(), PathTree()
        self.tree.frame(Layer.ROOT, self.pool.intern(root_name))
        self.processes: list[Process] = []
        self.lanes: list[Lane] = []
        self._parts: list[Part] = []
        self._stalls: list[StallSamples] = []
        self._launched: list[Launched] = []
        self._calls = CallRows()
        self._memory: list[PathMemory] = []
        self._generated: list[GeneratedFile] = []
        self.windows = Windows(self.tree, self.pool, self.lanes)
        self._sampled: list[Sampled] = []

    def enter(self, recording: Recording, rank: int | None) -> None:
        """Add a process."""
        pid, number = recording.header.pid, len(self.processes)
        name = program_name(recording.meta)
        self.processes.append(Process(name, pid, rank))
        label = f"{name} ({pid})" if rank is None else f"rank {rank} · {name} ({pid})"
        frame = self.tree.frame(Layer.PROCESS, self.pool.intern(label))
        process_node = self.tree.child(0, frame)
        names = Names(self.tree, self.pool)
        nodes: dict[int, I32] = {}
        counters = [str(name) for name in recording.meta.get("counters") or ()]
        recording.processor.symbols.update(find_symbols(recording))
        for thread in recording.threads.values():
            if not len(thread.parent):
                continue
            self.lanes.append(
                Lane(LaneKind.THREAD, number, thread_label(thread), tid=thread.os_thread or None)
            )
            node = nodes[thread.index] = enter_thread(names, recording, thread, process_node)
            metrics, counted = thread.metrics, thread.metrics["count"] > 0
            own, once = once_time(recording, thread)
            columns = {"calls": metrics["count"], "host_ns": own}
            for column, metric in DURATIONS.items():
                columns[column] = np.where(counted, metrics[metric], NULL64)
            moved = metrics["bytes"]
            columns["bytes"] = np.where(moved > 0, moved, NULL64)
            kept = np.flatnonzero(counted | (columns["host_ns"] != 0) | (moved > 0))
            scopes = np.flatnonzero((thread.kind == Kind.SCOPE) & counted)
            further = [
                (node[scopes], self.pool.intern(name), metrics[metric][scopes].astype(np.float64))
                for metric, name in _FURTHER.items()
                if bool(metrics[metric].any())
            ]
            further += [
                (node[own], self.pool.intern(name), values.astype(np.float64))
                for name, own, values in recording.processor.values_of(thread.index, counters)
            ]
            if len(ran := np.flatnonzero(once)):
                name_once = self.pool.intern(RAN_ONCE)
                further.append((node[ran], name_once, once[ran].astype(np.float64)))
            sampled = sampled_nodes(names, recording, thread.index, node)
            if sampled is not None:
                self._sampled.append(sampled)
            columns = {name: values[kept] for name, values in columns.items()}
            self._parts.append(host_part(node[kept], columns, thread.sum_sq[kept], further))
        if len(recording.work):
            self._enter_work(names, recording, nodes, process_node)
        self._calls.enter(recording.calls, recording.strings, nodes, self.pool)
        memory = recording.memory.found(nodes)
        if memory is not None:
            self._memory.append(memory)
        self._generated += recording.sources.files()
        if recording.window:
            self.windows.enter(recording.window, Process(name, pid, rank), number)

    def _enter_work(
        self, names: Names, recording: Recording, nodes: dict[int, I32], process_node: int
    ) -> None:
        device_ids: dict[int, int] = {}
        for ordinal, device in devices_of(recording, len(self.processes) - 1):
            device_ids[ordinal] = len(self.windows.devices)
            self.windows.devices.append(device)
        operations = None
        if len(recording.programs):
            operations = KernelOperations(recording, self.tree, self.pool)
        part = enter_work(names, recording, nodes, process_node, device_ids, operations)
        if operations is not None:
            self.windows.add_kernels(operations, self.processes[-1].name)
        self._parts.append(part)
        self._launched.append(launched_of(recording.work, part))
        stalls = stalls_of(names, recording, nodes, part.node, device_ids)
        self._stalls += [] if stalls is None else [stalls]

    def profile(self) -> Profile:
        """All of it, for the writer of the store."""
        parts = [*self._parts, *(window_part(window) for window in self.windows.rows)]
        if not parts:
            raise TraceError("the recording", "it holds no thread.", "Record it again.")
        costs = costs_of(parts)
        work_name = np.concatenate([part.name for part in parts])
        work_kind = np.concatenate([part.kind for part in parts])
        if self._sampled:
            costs, work_name = with_samples(costs, work_name, self._sampled)
            sampled = len(work_name) - len(work_kind)
            work_kind = np.concatenate([work_kind, np.zeros(sampled, np.uint8)])
        return Profile(
            self.tree,
            self.pool,
            self.windows.devices,
            costs,
            work_name,
            others_of(parts),
            self.processes,
            self.lanes,
            memory=self._memory,
            stalls=joined_stalls(self._stalls),
            work_kind=work_kind,
            launched=self._launched,
            generated=self._generated,
            called_with=joined([*self._calls.found(), *self.windows.called_with()]),
        )


def program_name(meta: Mapping[str, Any]) -> str:
    """What ran, without its arguments."""
    program = meta.get("program")
    return program if isinstance(program, str) and program else "python"


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _facts(recordings: Sequence[Recording], found: _Contexts) -> dict[str, object]:
    first = recordings[0]
    kinds = {
        kind
        for recording in recordings
        for thread in recording.threads.values()
        for kind in np.unique(thread.kind).tolist()
    }
    costs = [own_cost_ns(recording) for recording in recordings]
    contexts = sum(r.commit["nodes"] for r in recordings)
    facts: dict[str, object] = {
        "producer": "dctx record",
        "producer_version": first.meta.get("dctx"),
        "schema_version": f"1.{first.header.minor}",
        "reader": "recording",
        "start_utc_ns": min(r.header.start_utc_ns for r in recordings),
        "span_ns": max(r.span_ns for r in recordings),
        "rows.node": contexts,
        "used.node": contexts,
        "recording.events": sum(r.commit["events"] for r in recordings),
        "recording.steps": sum(r.commit["steps"] for r in recordings),
        "recording.top_level_ns": sum(r.commit["top_level_ns"] for r in recordings),
        "recording.own_cost_ns": None if None in costs else sum(c for c in costs if c is not None),
        "recording.complete": int(all(r.complete for r in recordings)),
        "option.sources": ",".join(map(str, first.meta.get("sources") or [])) or None,
        "host.name": first.meta.get("host"),
    }
    for recording in recordings:
        for name, count in recording.losses.items():
            key = f"loss.{name}"
            facts[key] = int(str(facts.get(key, 0))) + count
    lacking = {
        Capability.GPU_WORK: ""
        if any(len(recording.work) for recording in recordings) or found.windows.devices
        else "this recording has CPU contexts only.",
        Capability.CPU_OPERATORS: ""
        if kinds & {Kind.OP, Kind.BACKWARD_OP} or found.windows.operations
        else "no operator of torch or JAX ran while it was recorded.",
        Capability.PYTHON_FRAMES: ""
        if Kind.PYTHON in kinds or found.windows.python_lines
        else "not among the sources that were recorded.",
        Capability.ANNOTATIONS: ""
        if Kind.SCOPE in kinds
        else 'the program opened no scope: name parts of it with dctx.scope("name").',
        Capability.SHAPES: ""
        if any(len(r.calls.sets) for r in recordings)
        else "not asked for when it was recorded: dctx record --shapes.",
        Capability.MEMORY: "a recording keeps no single allocation; "
        + (
            "Memory and Call paths tell the sums of each context."
            if any(r.memory.rows for r in recordings)
            else "dctx record --memory sums them up by context."
        ),
        Capability.EVENTS: _AGGREGATED,
    }
    return {**facts, **capability_facts(lacking)}
