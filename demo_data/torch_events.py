"""Writes what the PyTorch profiler writes: events of threads and streams, as its C++ layout."""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PROFILER = "PyTorch Profiler"
LAUNCH_NS = 5_200
LATENCY_NS = 3_400
"""From the end of a launch to the earliest start of its kernel."""
_BLOCK_BYTES = 32 << 20
"""The allocator takes memory from the device in pieces of this size."""


def us(ns: int) -> str:
    """Microseconds with three decimals."""
    return f"{ns // 1000}.{ns % 1000:03d}"


@dataclass
class Recording:
    """The events of one process, and the ids that it gives out."""

    pid: int
    events: list[str] = field(default_factory=list[str])
    _ids: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, what: str, first: int = 1) -> int:
        """The next id of a sort."""
        self._ids[what] = self._ids.get(what, first - 1) + 1
        return self._ids[what]

    def last(self, what: str) -> int:
        """The last id given out of a sort, 0 before any."""
        return self._ids.get(what, 0)

    def complete(
        self, cat: str, name: str, pid: int, tid: int, start: int, end: int, args: Mapping[str, Any]
    ) -> None:
        """An event with a duration."""
        head = f'"ph": "X", "cat": "{cat}", "name": {json.dumps(name)}, "pid": {pid}, "tid": {tid}'
        inner = json.dumps(args)[1:-1]
        self.events.append(
            f'  {{\n    {head},\n    "ts": {us(start)}, "dur": {us(end - start)},\n'
            f'    "args": {{\n      {inner}\n    }}\n  }}'
        )

    def flow(self, cat: str, phase: str, number: int, pid: int, tid: int, at: int) -> None:
        """One end of an arrow: phase s or f."""
        bound = ', "bp": "e"' if phase == "f" else ""
        self.events.append(
            f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid},'
            f' "ts": {us(at)},\n    "cat": "{cat}", "name": "{cat}"{bound}\n  }}'
        )

    def instant(self, cat: str, name: str, tid: int, at: int, args: Mapping[str, Any]) -> None:
        """A point in time on a thread."""
        self.events.append(
            f'  {{\n    "ph": "i", "cat": "{cat}", "s": "t", "name": "{name}",'
            f' "pid": {self.pid}, "tid": {tid},\n    "ts": {us(at)},\n'
            f'    "args": {{\n      {json.dumps(args)[1:-1]}\n    }}\n  }}'
        )

    def metadata(self, what: str, pid: int, tid: int, **args: Any) -> None:
        """A name or a place in the order of processes and threads."""
        self.events.append(
            f'  {{\n    "name": "{what}", "ph": "M", "ts": 0.000, "pid": {pid}, "tid": {tid},\n'
            f'    "args": {{\n      {json.dumps(args)[1:-1]}\n    }}\n  }}'
        )

    def window(self, start: int, end: int) -> None:
        """What was recorded, from when to when."""
        self.events.append(
            f'  {{\n    "ph": "X", "cat": "Trace", "ts": {us(start)}, "dur": {us(end - start)},\n'
            f'    "pid": "Spans", "tid": "{PROFILER}",\n    "name": "{PROFILER} (0)",\n'
            '    "args": {\n      "Op count": 0\n    }\n  }'
        )

    def text(self, envelope: Mapping[str, Any]) -> str:
        """The whole file."""
        keys = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(v)}" for key, v in envelope.items())
        return f'{{\n  {keys},\n  "traceEvents": [\n' + ",\n".join(self.events) + "\n  ]\n}\n"


@dataclass
class Stream:
    """A queue of the GPU: work runs one after the other."""

    device: int
    number: int
    free_ns: int = 0


@dataclass
class Memory:
    """The caching allocator of one GPU."""

    device: int
    allocated: int
    reserved: int = 0
    peak: int = 0
    events: int = 0
    addresses: int = 0x7F00_0000_0000
    live: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        self._grow()

    def change(self, size: int) -> None:
        """Take or give back so many bytes."""
        self.allocated += size
        self.events += 1
        self._grow()

    def _grow(self) -> None:
        pieces = -(-self.allocated // _BLOCK_BYTES)
        self.reserved = max(self.reserved, pieces * _BLOCK_BYTES)
        self.peak = max(self.peak, self.allocated)


class Thread:
    """A host thread at a moment in time; what is entered nests."""

    def __init__(self, out: Recording, tid: int, now: int) -> None:
        self.out = out
        self.tid = tid
        self.now = now
        self._frames: list[int] = []
        self._external: list[int] = []

    @contextmanager
    def python(self, name: str, module: int | None = None) -> Generator[None]:
        """A Python function, or a module with its number."""
        start, number = self.now, self.out.number("python")
        args: dict[str, Any] = {
            "Python parent id": self._frames[-1] if self._frames else None,
            "Python id": number,
        }
        if module is not None:
            args["Python module id"] = module
        self._frames.append(number)
        self.now += 260
        yield
        self.now += 180
        self._frames.pop()
        args["Ev Idx"] = self.out.number("event", 0)
        self._complete("python_function", name, start, args)

    @contextmanager
    def op(self, name: str, cat: str = "cpu_op", **args: Any) -> Generator[int]:
        """An operator or an annotation; gives its External id."""
        start, external = self.now, self.out.number("external")
        self._external.append(external)
        self.now += 700
        yield external
        self.now += 400
        self._external.pop()
        ids = {"External id": external, "Record function id": external}
        self._complete(cat, name, start, {**ids, **args, "Ev Idx": self.out.number("event", 0)})

    def call(self, name: str, cbid: int, length: int, *, flow: bool = False) -> int:
        """A runtime call; gives its correlation id."""
        correlation, start = self.out.number("correlation", 5_000), self.now
        self.now += length
        args = {"External id": self._external[-1], "cbid": cbid, "correlation": correlation}
        self._complete("cuda_runtime", name, start, args)
        if flow:
            self.out.flow("ac2g", "s", correlation, self.out.pid, self.tid, start)
        return correlation

    def allocate(self, memory: Memory, size: int) -> int:
        """Take memory of the GPU; gives its address."""
        memory.addresses += -(-size // 512) * 512
        address = memory.addresses
        memory.live[address] = size
        self._changed(memory, address, size)
        return address

    def release(self, memory: Memory, address: int) -> None:
        """Give it back."""
        self._changed(memory, address, -memory.live.pop(address))

    def _changed(self, memory: Memory, address: int, size: int) -> None:
        memory.change(size)
        self.now += 120
        args = {
            "Total Reserved": memory.reserved,
            "Total Allocated": memory.allocated,
            "Bytes": size,
            "Addr": address,
            "Device Id": memory.device,
            "Device Type": 1,
            "Ev Idx": self.out.number("event", 0),
        }
        self.out.instant("cpu_instant_event", "[memory]", self.tid, self.now, args)
        self.now += 130

    def external(self) -> int:
        """External id of the operator that runs."""
        return self._external[-1]

    def _complete(self, cat: str, name: str, start: int, args: Mapping[str, Any]) -> None:
        self.out.complete(cat, name, self.out.pid, self.tid, start, self.now, args)


@dataclass(frozen=True)
class Kernel:
    """A kernel and the shape of its launch."""

    name: str
    ns: int
    grid: Sequence[int] = (128, 1, 1)
    block: Sequence[int] = (256, 1, 1)
    registers: int = 32
    shared: int = 0

    def args(self) -> dict[str, Any]:
        """What the profiler tells of it."""
        blocks, threads = 1, 1
        for x in self.grid:
            blocks *= x
        for x in self.block:
            threads *= x
        return {
            "registers per thread": self.registers,
            "shared memory": self.shared,
            "blocks per SM": blocks / 132,
            "warps per SM": blocks * threads / 32 / 132,
            "grid": list(self.grid),
            "block": list(self.block),
            "est. achieved occupancy %": min(100, blocks * threads * 100 // (132 * 2048)),
        }
