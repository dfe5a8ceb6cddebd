"""What a recording says: the tree of each thread, its costs, and the facts around it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np

from ..arrays import I64
from .calls import ArgumentCalls
from .checks import check, damaged, follows, grown, within
from .chunks import Chunk, FormatError, Header, read_chunks
from .hlo_programs import HloPrograms
from .kinds import MODULE_SHIFT, NAMELESS, Kind
from .memory import MemoryRows
from .packed import unpacked
from .processor import KINDS, SYMBOLS, Processor
from .samples import SampleTable
from .sources import SourceRows
from .table import Table
from .work import WorkTable

METRICS: Final = (
    "count", "sum_ns", "self_ns", "min_ns", "max_ns", "", "host_gap_ns", "cpu_ns", "faults",
    "bytes",
)  # fmt: skip
"""Columns 1 to 10 of MET; column 6 holds floating-point numbers."""
_COMMIT: Final = (
    "number", "utc_ns", "monotonic_ns", "last", "threads", "nodes", "events", "strings", "codes",
    "modules", "top_level_ns", "steps", "steps_begin_ns", "recorder_cpu_ns", "hook_calls",
    "hook_ns", "clock_drift_ns", "work_rows", "work_records",
)  # fmt: skip


@dataclass(slots=True)
class ThreadTree:
    """The nodes of one thread, parents first, and their values; arrays by node."""

    index: int
    name: str = ""
    os_thread: int = 0
    top_level_ns: int = 0
    parent: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    alternate: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    kind: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    label: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    line: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    metrics: dict[str, I64] = field(default_factory=dict[str, I64])
    sum_sq: Any = None


@dataclass(slots=True)
class Recording:
    """One process' recording up to its last complete snapshot."""

    header: Header
    lost: str
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    strings: list[str] = field(default_factory=list[str])
    codes: I64 = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    """By code: string of the file, string of the function, first line."""
    modules: I64 = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """By module: string of the path, string of the build id."""
    threads: dict[int, ThreadTree] = field(default_factory=dict[int, ThreadTree])
    calls: ArgumentCalls = field(default_factory=ArgumentCalls)
    """What operators were called with; empty unless it was asked for."""
    memory: MemoryRows = field(default_factory=MemoryRows)
    """What contexts allocated; empty unless it was asked for."""
    window: bytes = b""
    """Of a JAX program: an XSpace message; empty without one."""
    programs: HloPrograms = field(default_factory=HloPrograms)
    """Of XLA, whose kernels were recorded by name."""
    sources: SourceRows = field(default_factory=SourceRows)
    """Code that was generated while the program ran."""
    steps: I64 = field(default_factory=lambda: np.zeros((0, 13), np.int64))
    """By row the columns of STEP, see `steps.STEP_COLUMNS`; -1 in the last three: not told."""
    processor: Processor = field(default_factory=Processor)
    losses: dict[str, int] = field(default_factory=dict[str, int])
    work: WorkTable = field(default_factory=WorkTable)
    samples: SampleTable = field(default_factory=SampleTable)
    """Of instructions; empty unless it was asked for."""
    commit: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def span_ns(self) -> int:
        """From the start of the recording to its last snapshot."""
        return self.commit["monotonic_ns"] - self.header.start_monotonic_ns

    @property
    def complete(self) -> bool:
        """The program ended the recording; else it was killed, or still runs."""
        return bool(self.commit["last"]) and not self.lost


def parse(data: bytes) -> Recording:
    """Read a recording. FormatError when nothing of it can be used."""
    chunks = read_chunks(data)
    found = _Parser(Recording(chunks.header, chunks.lost))
    for chunk in chunks.chunks:
        found.take(chunk)
    found.check()
    return found.recording


class _Parser:
    """Takes chunks in their order; of what is told again, the last counts."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._takers = {
            b"META": self._meta,
            b"STR ": self._strings,
            b"CODE": self._codes,
            b"MODU": self._modules,
            b"THRD": self._threads,
            b"NODE": self._nodes,
            b"MET ": self._metrics,
            b"GMET": self.recording.work.take,
            b"STEP": self._steps,
            **dict.fromkeys(KINDS, self._processor),
            b"LOSS": self._losses,
            b"COMM": self._commit,
        }

    def take(self, chunk: Chunk) -> None:
        """Chunks of kinds that are not known are skipped: a newer dctx may add some."""
        taker = self._takers.get(chunk.type)
        if taker is not None:
            taker(chunk)
        else:
            self._take_further(chunk)

    def _take_further(self, chunk: Chunk) -> None:
        """Chunks that only some recordings have."""
        found, good = self.recording, True
        match chunk.type:
            case b"ARGS":
                table = Table(chunk)
                follows(chunk, table, len(found.calls.sets))
                good = found.calls.take_sets(table, len(found.strings))
            case b"CALL":
                table = Table(chunk)
                good = found.calls.take_counts(table, len(self._thread(table.owner).parent))
            case b"MEM ":
                table = Table(chunk)
                good = found.memory.take(table, len(self._thread(table.owner).parent))
            case b"PCS ":
                found.samples.take(chunk)
            case b"CUBN":
                found.samples.take_code(chunk)
            case b"SRC ":
                found.sources.take_files(Table(chunk))
            case b"LMAP":
                good = found.sources.take_lines(Table(chunk))
            case b"XHLO":
                good = found.programs.take(Table(chunk))
            case b"XPLN":
                data = unpacked(chunk.content)
                if data is None:
                    raise damaged(chunk, "cannot be unpacked")
                found.window = data
            case _:
                pass
        check(chunk, good)

    def _meta(self, chunk: Chunk) -> None:
        try:
            found = json.loads(bytes(chunk.content))
        except (ValueError, RecursionError) as error:
            raise damaged(chunk, "is no JSON") from error
        if not isinstance(found, dict):
            raise damaged(chunk, "is no JSON object")
        self.recording.meta = cast("dict[str, Any]", found)

    def _strings(self, chunk: Chunk) -> None:
        table = Table(chunk)
        follows(chunk, table, len(self.recording.strings))
        self.recording.strings += table.texts(0)

    def _codes(self, chunk: Chunk) -> None:
        table = Table(chunk)
        follows(chunk, table, len(self.recording.codes))
        rows = np.stack([table.integers(column) for column in range(3)], axis=1)
        within(chunk, rows[:, :2], len(self.recording.strings))
        self.recording.codes = np.concatenate([self.recording.codes, rows])

    def _modules(self, chunk: Chunk) -> None:
        table = Table(chunk)
        follows(chunk, table, len(self.recording.modules))
        rows = np.stack([table.integers(column) for column in range(2)], axis=1)
        within(chunk, rows, len(self.recording.strings))
        self.recording.modules = np.concatenate([self.recording.modules, rows])

    def _threads(self, chunk: Chunk) -> None:
        table = Table(chunk)
        names = table.integers(1)
        within(chunk, names, len(self.recording.strings))
        rows = zip(
            table.integers(0).tolist(),
            names.tolist(),
            table.integers(2).tolist(),
            table.integers(3).tolist(),
            strict=True,
        )
        for index, name, os_thread, top_level_ns in rows:
            thread = self._thread(index)
            thread.name = self.recording.strings[name]
            thread.os_thread, thread.top_level_ns = os_thread, top_level_ns

    def _thread(self, index: int) -> ThreadTree:
        return self.recording.threads.setdefault(index, ThreadTree(index))

    def _nodes(self, chunk: Chunk) -> None:
        table = Table(chunk)
        thread = self._thread(table.owner)
        known = len(thread.parent)
        follows(chunk, table, known)
        parent, alternate, kind, label, line = (table.integers(c) for c in range(5))
        own: I64 = np.arange(known, known + table.rows, dtype=np.int64)
        check(chunk, bool(((parent >= 0) & (parent < own) | (own == 0) & (parent == -1)).all()))
        check(chunk, bool(((alternate >= -1) & (alternate < known + table.rows)).all()))
        check(chunk, bool(((kind == Kind.THREAD) == (own == 0)).all()))
        kind = np.where((kind < 0) | (kind > max(Kind)), Kind.OTHER, kind)
        self._check_labels(chunk, kind, label)
        for name, values in (
            ("parent", parent),
            ("alternate", alternate),
            ("kind", kind),
            ("label", label),
            ("line", np.clip(line, -1, 2**31 - 1)),
        ):
            setattr(thread, name, np.concatenate([getattr(thread, name), values]))

    def _check_labels(self, chunk: Chunk, kind: I64, label: I64) -> None:
        code, native = kind == Kind.PYTHON, kind == Kind.NATIVE
        within(chunk, label[code], len(self.recording.codes))
        within(chunk, label[native] >> MODULE_SHIFT, len(self.recording.modules))
        text = ~code & ~native & ~np.isin(kind, NAMELESS)
        within(chunk, label[text], len(self.recording.strings))

    def _metrics(self, chunk: Chunk) -> None:
        table = Table(chunk)
        thread = self._thread(table.owner)
        size, node = len(thread.parent), table.integers(0)
        within(chunk, node, size)
        for column, name in enumerate(METRICS, 1):
            if name:
                values = grown(thread.metrics.get(name), size)
                values[node] = table.integers(column)
                thread.metrics[name] = values
        squares = np.zeros(size)
        if thread.sum_sq is not None:
            squares[: len(thread.sum_sq)] = thread.sum_sq
        squares[node] = table.numbers(6)
        thread.sum_sq = squares

    def _steps(self, chunk: Chunk) -> None:
        table = Table(chunk)
        columns = [table.integers(column) for column in range(10)]
        for column in (10, 11, 12):
            told = table.has(column)
            columns.append(table.integers(column) if told else np.full(table.rows, -1))
        self.recording.steps = np.stack(columns, axis=1)
        check(chunk, bool((self.recording.steps[:, 0] > 0).all()))

    def _processor(self, chunk: Chunk) -> None:
        table, of_thread = Table(chunk), chunk.type != SYMBOLS
        nodes = len(self._thread(table.owner).parent) if of_thread else 0
        taken = self.recording.processor.take(chunk.type, table, nodes, len(self.recording.modules))
        check(chunk, taken)

    def _losses(self, chunk: Chunk) -> None:
        table = Table(chunk)
        counts: list[int] = table.integers(1).tolist()
        self.recording.losses = dict(zip(table.texts(0), counts, strict=True))

    def _commit(self, chunk: Chunk) -> None:
        table = Table(chunk)
        check(chunk, table.rows == 1)
        self.recording.commit = {
            name: int(table.integers(column)[0]) for column, name in enumerate(_COMMIT)
        }

    def check(self) -> None:
        """Fill what was never told, and compare with the totals of the last COMMIT."""
        found, commit = self.recording, self.recording.commit
        for thread in found.threads.values():
            size = len(thread.parent)
            for name in METRICS:
                if name:
                    thread.metrics[name] = grown(thread.metrics.get(name), size)
            squares = np.zeros(size)
            if thread.sum_sq is not None:
                squares[: len(thread.sum_sq)] = thread.sum_sq
            thread.sum_sq = squares
        nodes = sum(len(thread.parent) for thread in found.threads.values())
        if nodes != commit["nodes"] or len(found.strings) != commit["strings"]:
            raise FormatError(
                f"it holds {nodes} contexts and {len(found.strings)} names where its last snapshot "
                f"tells {commit['nodes']} and {commit['strings']}."
            )
        sizes = {index: len(thread.parent) for index, thread in found.threads.items()}
        found.work.check(sizes, len(found.strings), commit)
        found.samples.check(sizes, len(found.strings))
