"""Imports an export into a store: reads, joins, grows the tree, sums, writes."""

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...native import trim_memory
from ..account import count
from ..arrays import I32, Mask, distinct
from ..background import Background
from ..capabilities import capability_facts
from ..comm import is_communication
from ..errors import shown_path
from ..metrics import HostColumns, OpColumns, outermost
from ..model import GpuKind, HostKind, Severity
from ..progress import Progress
from ..summary import CONFIG_COLUMNS, Summary, write_strings, write_summary
from ..writer import StoreWriter
from .calls import (
    Calls,
    correlated_process,
    count_calls,
    count_graph_launches,
    launches,
    read_calls,
)
from .capture import Capture, read_capture, read_process_names, read_thread_names
from .chains import attach_to_calls, read_chains
from .content import check_content, prepare_clock
from .counters import (
    Counters,
    MemoryUsage,
    device_column,
    memory_devices,
    read_counters,
    read_memory,
)
from .devices import Devices
from .failed_calls import failed_calls_text
from .gpu import join_launches, read_gpu
from .graph_nodes import GraphNodes, read_graph_nodes, write_graph_sites
from .identity import Identity
from .lacking import capabilities
from .notes import Findings, import_notes
from .nvtx import Annotations, Nvtx, read_nvtx
from .other_rows import write_counters, write_intervals, write_memory, write_samples
from .other_sources import joined, read_other_sources
from .paths import ContextTree, HostStack
from .placed import PlacedOps
from .ranks import name_threads_and_ranks
from .reader import TableReader
from .rows import (
    number_host_rows,
    write_annotations,
    write_calls,
    write_loose_annotations,
    write_ops,
    write_thread_events,
)
from .samples import Samples, read_samples, sample_nodes
from .stack import StackRoom
from .streams import Streams
from .strings import Strings
from .threads import (
    OVERHEAD_TABLES,
    Intervals,
    ThreadEvents,
    read_os_calls,
    read_overhead,
    read_schedule,
)
from .times import Clock


@dataclass(slots=True)
class Events:
    """Everything read from an export."""

    room: StackRoom
    calls: Calls | None
    nvtx: Nvtx | None
    ranges: list[Annotations]
    """Intervals outside the call tree: start-end ranges, and what other libraries record."""
    os_calls: ThreadEvents | None
    overhead: list[ThreadEvents]
    samples: Samples | None
    schedule: Intervals | None
    memory: MemoryUsage | None
    graph_nodes: GraphNodes | None
    ops: list[PlacedOps] = field(default_factory=list[PlacedOps])
    counters: Counters | None = None


def load(path: Path, writer: StoreWriter, progress: Progress, salvage: bool = False) -> None:
    """Fill the store from the export at `path`.

    TraceError when it is no export, or damaged and not `salvage`; CancelledError from `progress`.
    """
    with closing(_Import(path, writer, progress, salvage)) as importer:
        importer.run()


class _Import:
    """One import: the state that its stages share."""

    def __init__(self, path: Path, writer: StoreWriter, progress: Progress, salvage: bool) -> None:
        self._writer = writer
        self._progress = progress
        self._reader = TableReader(path, salvage=salvage)
        self._notes: list[tuple[Severity, str, str]] = []

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def run(self) -> None:
        """All stages in order."""
        progress, reader = self._progress, self._reader
        check_content(reader)
        progress("Reading names", 0.02)
        capture = read_capture(reader)
        self._strings = Strings(reader)
        self._identity = Identity(
            read_process_names(reader), read_thread_names(reader, self._strings)
        )
        self._clock = Clock(reader.account, capture.start_utc_ns)
        prepare_clock(self._clock, reader)
        events = self._read()
        self._finish_times(events)
        self._begin("Building call paths", 0.25)
        host, tree, sampled = self._grow(events)
        self._begin("Summing up", 0.4)
        self._summarise(events, host, tree, sampled, capture)
        self._writer.summary_ready()
        self._begin("Writing events", 0.55)
        self._write_events(events, host, sampled)
        reader.check_unchanged()

    def _begin(self, stage: str, fraction: float) -> None:
        """Tell the next large stage; what the last one left behind goes back to the system."""
        trim_memory()
        self._progress(stage, fraction)

    def _read(self) -> Events:
        reader, strings, identity, clock = (
            self._reader,
            self._strings,
            self._identity,
            self._clock,
        )
        self._progress("Reading annotations", 0.04)
        gpu_clock = clock.beside()
        with Background(lambda: read_gpu(reader, strings, gpu_clock)) as gpu:
            events = self._read_host()
            self._progress("Reading GPU work", 0.14)
            readings = gpu.result()
        clock.join(gpu_clock)
        calls = events.calls
        owner = correlated_process(calls, identity)
        ops = [part for part in (r.finish(identity, owner) for r in readings) if len(part)]
        self._devices = Devices(reader)
        extra = [] if events.memory is None else memory_devices(events.memory)
        streams = Streams(ops, extra, self._devices, identity, reader)
        for part, launch in zip(ops, join_launches(ops, calls, identity), strict=True):
            device_of, lane_of = streams.place(part)
            events.ops.append(PlacedOps(part, device_of, lane_of, launch))
        events.counters = read_counters(reader, strings, clock, self._devices)
        nvtx = events.nvtx
        name_threads_and_ranks(reader, identity, {} if nvtx is None else nvtx.thread_names)
        return events

    def _read_host(self) -> Events:
        reader, strings, identity, clock = (
            self._reader,
            self._strings,
            self._identity,
            self._clock,
        )
        nvtx = read_nvtx(reader, strings, identity, clock)
        self._progress("Reading CUDA calls", 0.1)
        room = StackRoom(None if nvtx is None else nvtx.stack, count_calls(reader))
        calls = read_calls(reader, strings, identity, clock, room)
        overhead = (
            read_overhead(reader, table, strings, identity, clock) for table in OVERHEAD_TABLES
        )
        ranges = [] if nvtx is None else [nvtx.ranges]
        return Events(
            room=room,
            calls=calls,
            nvtx=nvtx,
            ranges=[*ranges, *read_other_sources(reader, strings, identity, clock)],
            os_calls=read_os_calls(reader, strings, identity, clock),
            overhead=[part for part in overhead if part is not None],
            samples=read_samples(reader, identity, clock),
            schedule=read_schedule(reader, identity, clock),
            memory=read_memory(reader, identity, clock),
            graph_nodes=read_graph_nodes(reader, identity, clock),
        )

    def _finish_times(self, events: Events) -> None:
        """Now that the trace's end is known, let open events last until then."""
        stack = None if events.nvtx is None else events.nvtx.stack
        for part in (stack, events.calls, events.os_calls, *events.overhead, *events.ranges):
            if part is not None:
                self._clock.close(part.span)

    def _grow(self, events: Events) -> tuple[HostStack, ContextTree, I32 | None]:
        """Enter all events in the tree; the third value is the node of each sample."""
        tree = ContextTree(shown_path(self._writer.source.name), self._strings, self._identity)
        stack = None if events.nvtx is None else events.nvtx.stack
        chains = call_chain = None
        if events.calls is not None and events.calls.chain is not None:
            chains = read_chains(self._reader, "CUDA_CALLCHAINS", self._strings, tree.tree)
            if chains is not None:
                call_chain = attach_to_calls(
                    chains, events.calls, self._strings, self._reader, self._note
                )
        host = tree.nest_host(events.room, stack, events.calls, chains, call_chain)
        for part in events.ops:
            if part.ops.kind is not GpuKind.SYNC:
                launch = np.where(part.launch < 0, part.launch, part.launch + host.annotations)
                part.node = tree.enter_ops(part.ops, launch, host)
        sampled: I32 | None = None
        if events.samples is not None and len(events.samples):
            base = tree.sample_bases(events.samples, host)
            sampled = sample_nodes(events.samples, base, self._reader, self._strings, tree.tree)
        if events.graph_nodes is not None:
            events.graph_nodes.place(host, self._reader)
        host.turn_ends_into_durations()
        new_ids = tree.tree.renumber()
        host.node = new_ids[host.node]
        for part in events.ops:
            if part.node is not None:
                part.node = new_ids[part.node]
        if events.calls is not None:
            failed = failed_calls_text(events.calls, host, tree.tree, self._strings)
            if failed is not None:
                self._notes.append((Severity.WARNING, "import", failed))
        return host, tree, None if sampled is None else new_ids[sampled]

    def _note(self, text: str) -> None:
        self._notes.append((Severity.INFO, "import", text))

    def _summarise(
        self,
        events: Events,
        host: HostStack,
        tree: ContextTree,
        sampled: I32 | None,
        capture: Capture,
    ) -> None:
        strings, reader, writer = self._strings, self._reader, self._writer
        communicates = self._communication_names(events)
        columns: list[OpColumns] = []
        configs: list[I32] = []
        for part in events.ops:
            columns.append(part.columns(communicates))
            configs = configs or part.ops.configs
        launch_rows = np.empty(0, np.int64)
        graph_launches = 0
        if events.calls is not None:
            launch_rows = host.annotations + np.flatnonzero(launches(events.calls, strings))
            graph_launches = count_graph_launches(events.calls, strings)
        facts = write_summary(
            writer,
            Summary(
                tree=tree.tree,
                processes=self._identity.owners(),
                lanes=self._identity.lanes,
                devices=self._devices.items,
                host=HostColumns(
                    host.node,
                    host.nesting.self_ns,
                    host.end,
                    host.open,
                    outermost(launch_rows, host.nesting.parent),
                ),
                ops=columns,
                sample_node=sampled,
                configs=dict(zip(CONFIG_COLUMNS, configs, strict=True)) if configs else {},
            ),
        )
        write_strings(writer, strings.pool)
        strings.release()
        reader.count_unread()
        found = self._findings(events, host, graph_launches)
        orphans = {f"orphans.{kind.name.lower()}": n for kind, n in found.orphans.items()}
        notes = import_notes(reader, strings, self._identity, self._devices, found)
        writer.notes([*reader.notes, *capture.notes, *notes, *self._notes])
        writer.facts(
            {
                "producer": "NVIDIA Nsight Systems",
                **capability_facts(capabilities(reader, found)),
                **capture.facts,
                "reader": reader.reader_name,
                "span_ns": self._clock.end_ns,
                "start_utc_ns": self._clock.start_utc_ns,
                **facts,
                **orphans,
                **reader.account.facts(),
            }
        )

    def _communication_names(self, events: Events) -> Mask:
        """By pool id: is it the name of a kernel that communicates."""
        pool = self._strings.pool
        table = np.zeros(len(pool), np.bool_)
        for part in events.ops:
            if part.ops.kind is GpuKind.KERNEL:
                for name in part.ops.name_of.tolist():
                    table[name] = is_communication(pool[name])
        return table

    def _findings(self, events: Events, host: HostStack, graph_launches: int) -> Findings:
        owners = {owner.process for part in events.ops for owner in part.ops.owners}
        callers: set[int] = set()
        nvtx = events.nvtx
        if events.calls is not None:
            lanes: list[int] = distinct(events.calls.lane, len(self._identity.lanes)).tolist()
            callers = {self._identity.lanes[lane].process for lane in lanes} - {-1}
        return Findings(
            calls=0 if events.calls is None else len(events.calls),
            annotations=host.annotations + (0 if nvtx is None else len(nvtx.ranges)),
            memory=0 if events.memory is None else len(events.memory),
            graph_launches=graph_launches,
            ops={part.ops.kind: len(part.ops) for part in events.ops},
            orphans={
                part.ops.kind: count(part.launch < 0)
                for part in events.ops
                if part.ops.kind is not GpuKind.SYNC
            },
            graph_kernels=any(part.ops.graph_node is not None for part in events.ops),
            partial_overlaps=host.nesting.partial_overlaps,
            idle_processes=[
                self._identity.process_label(process) for process in sorted(callers - owners)
            ],
        )

    def _write_events(self, events: Events, host: HostStack, sampled: I32 | None) -> None:
        writer, calls, nvtx = self._writer, events.calls, events.nvtx
        rows = number_host_rows(None if nvtx is None else nvtx.stack, calls)
        call_ids = rows.ids[host.annotations :]
        first, total = 0, sum(len(part.ops) for part in events.ops)
        for part in events.ops:
            first = write_ops(writer, part, call_ids, first)
            self._progress("Writing events", 0.55 + 0.2 * first / total)
        events.ops.clear()
        self._begin("Writing events", 0.75)
        if nvtx is not None:
            write_annotations(writer, nvtx.stack, host, rows)
        if calls is not None:
            write_calls(writer, calls, host, rows)
        first = len(host)
        if events.os_calls is not None:
            first = write_thread_events(writer, [events.os_calls], first)
        first = write_thread_events(writer, events.overhead, first)
        ranges = joined(events.ranges)
        if ranges is not None:
            first = write_loose_annotations(writer, HostKind.RANGE, ranges, first)
        if nvtx is not None:
            write_loose_annotations(writer, HostKind.MARK, nvtx.marks, first)
        self._progress("Writing events", 0.95)
        if events.samples is not None and sampled is not None:
            write_samples(writer, events.samples, sampled)
        if events.schedule is not None:
            write_intervals(writer, events.schedule)
        if events.graph_nodes is not None:
            write_graph_sites(writer, events.graph_nodes, host)
        if events.memory is not None:
            write_memory(writer, events.memory, device_column(events.memory, self._devices))
        if events.counters is not None:
            write_counters(writer, events.counters)
