"""The builder from columns to a store."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dctx.ingest.arrays import NULL64
from dctx.ingest.model import GpuKind, HostKind, LaneKind, Layer
from dctx.ingest.progress import silent
from dctx.ingest.store import Store
from dctx.ingest.timeline import (
    Counters,
    Device,
    GpuOps,
    HostEvents,
    Lane,
    MemoryEvents,
    Process,
    Timeline,
)
from dctx.ingest.writer import StoreWriter


def i32(*values: int) -> Any:
    return np.array(values, np.int32)


def i64(*values: int) -> Any:
    return np.array(values, np.int64)


def stored(line: Timeline) -> Store:
    writer = StoreWriter(Path("trace.json"), None)
    line.write(writer, silent)
    writer.finish()
    return writer.serve()


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def path_of(store: Store, node: int) -> list[str]:
    parent = dict(rows(store, "SELECT id, parent FROM path_node"))
    name = dict(rows(store, "SELECT id, name FROM paths"))
    path: list[str] = []
    at: int | None = node
    while at is not None:
        path.insert(0, name[at])
        at = parent[at]
    return path


class Trace:
    """A timeline with one process, GPU, thread and stream."""

    def __init__(self) -> None:
        self.line = Timeline("trace")
        self.process = self.line.add_process(Process("python", 7, rank=3))
        self.device = self.line.add_device(Device(0, "H100"))
        self.thread = self.line.add_lane(Lane(LaneKind.THREAD, self.process, "thread 7", tid=7))
        self.stream = self.line.add_lane(
            Lane(LaneKind.STREAM, self.process, "stream 1", device=self.device, stream=1)
        )

    def host(self, *events: tuple[HostKind, str, int, int], **columns: Any) -> int:
        layers = {HostKind.PYTHON: Layer.PYTHON, HostKind.OP: Layer.OP}
        names = i32(*(self.line.pool.intern(name) for _, name, _, _ in events))
        frame = [
            self.line.tree.frame(layers.get(kind, Layer.API), name)
            for (kind, *_), name in zip(events, names.tolist(), strict=True)
        ]
        return self.line.add_host(
            HostEvents(
                kind=np.array([kind for kind, *_ in events], np.uint8),
                lane=columns.pop("lane", np.full(len(events), self.thread, np.int32)),
                start=i64(*(start for _, _, start, _ in events)),
                end=i64(*(end for _, _, _, end in events)),
                name=names,
                frame=i32(*frame),
                **columns,
            )
        )

    def ops(self, kind: GpuKind, *ops: tuple[str, int, int, int], **columns: Any) -> None:
        self.line.add_ops(
            GpuOps(
                kind,
                lane=np.full(len(ops), self.stream, np.int32),
                start=i64(*(start for _, start, _, _ in ops)),
                dur=i64(*(dur for _, _, dur, _ in ops)),
                name=i32(*(self.line.pool.intern(name) for name, *_ in ops)),
                launch=i32(*(launch for *_, launch in ops)),
                **columns,
            )
        )


@pytest.fixture
def trace() -> Trace:
    trace = Trace()
    trace.host(
        (HostKind.RUNTIME, "cudaLaunchKernel", 20, 30),
        (HostKind.OP, "aten::mm", 10, 40),
        (HostKind.PYTHON, "train", 0, 100),
    )
    trace.ops(GpuKind.KERNEL, ("gemm", 50, 20, 0), ("lost", 200, 5, -1))
    return trace


def test_work_hangs_below_the_calls_that_launched_it(trace: Trace) -> None:
    store = stored(trace.line)
    [(op, node, lost)] = rows(
        store,
        """SELECT s.text, a.node, b.node FROM gpu_op a JOIN host_event h ON h.id = a.op
           JOIN string s ON s.id = h.name JOIN gpu_op b ON b.id = 1 WHERE a.id = 0""",
    )
    assert op == "aten::mm"
    process = "rank 3 · python (7)"
    path = ["trace", process, "thread 7", "train", "aten::mm", "cudaLaunchKernel", "gemm"]
    assert path_of(store, node) == path
    assert path_of(store, lost) == ["trace", process, "[launch not recorded]", "lost"]
    host = rows(
        store,
        "SELECT id, kind, parent, depth, self_ns, dur_ns FROM host_event ORDER BY id",
    )
    runtime, op_kind, python = HostKind.RUNTIME, HostKind.OP, HostKind.PYTHON
    assert host == [
        (0, runtime, 1, 2, 10, 10),
        (1, op_kind, 2, 1, 20, 30),
        (2, python, None, 0, 70, 100),
    ]
    assert rows(store, "SELECT gpu_ns, kernels FROM path_total WHERE node = 0 AND device = 0") == [
        (25, 2)
    ]
    assert rows(store, "SELECT host_ns, launches FROM path_total WHERE node = 0 AND device IS NULL")
    facts = dict(rows(store, "SELECT key, value FROM trace"))
    assert (facts["span_ns"], facts["orphans.kernel"]) == ("205", "1")


def test_events_are_numbered_by_kind_nested_or_not(trace: Trace) -> None:
    loose = [(HostKind.RANGE, 5), (HostKind.MARK, 3), (HostKind.OVERHEAD, 9)]
    trace.line.add_loose(
        HostEvents(
            kind=np.array([kind for kind, _ in loose], np.uint8),
            lane=np.full(3, trace.thread, np.int32),
            start=i64(*(start for _, start in loose)),
            end=i64(*(start + 1 for _, start in loose)),
            name=np.zeros(3, np.int32),
        )
    )
    store = stored(trace.line)
    events = rows(store, "SELECT id, kind, node IS NULL FROM host_event ORDER BY id")
    kinds = [kind for _, kind, _ in events]
    assert [event for event, *_ in events] == list(range(6))
    assert kinds == sorted(kinds)
    assert [kind for _, kind, bare in events if bare] == sorted(kind for kind, _ in loose)
    parents = rows(
        store,
        """SELECT c.text, p.text FROM host_event h JOIN host_event q ON q.id = h.parent
           JOIN string c ON c.id = h.name JOIN string p ON p.id = q.name ORDER BY 1""",
    )
    assert parents == [("aten::mm", "train"), ("cudaLaunchKernel", "aten::mm")]


def test_backward_work_hangs_below_its_forward_operator() -> None:
    trace = Trace()
    autograd = trace.line.add_lane(Lane(LaneKind.THREAD, trace.process, "thread 9", tid=9))
    trace.host(
        (HostKind.OP, "MmBackward0: outer", 50, 90),
        (HostKind.OP, "MmBackward0", 55, 85),
        (HostKind.RUNTIME, "cudaLaunchKernel", 60, 70),
        (HostKind.PYTHON, "train", 0, 100),
        (HostKind.OP, "aten::mm", 10, 40),
        lane=i32(autograd, autograd, autograd, trace.thread, trace.thread),
        forward=i32(4, 4, -1, -1, -1),
    )
    trace.ops(GpuKind.KERNEL, ("gemm", 95, 5, 2))
    store = stored(trace.line)
    [(node,)] = rows(store, "SELECT node FROM gpu_op")
    assert path_of(store, node)[2:] == [
        "thread 7",
        "train",
        "aten::mm",
        "[backward]",
        "MmBackward0: outer",
        "MmBackward0",
        "cudaLaunchKernel",
        "gemm",
    ]
    forward = rows(
        store,
        """SELECT s.text FROM host_event h JOIN host_event f ON f.id = h.forward
           JOIN string s ON s.id = f.name""",
    )
    assert forward == [("aten::mm",), ("aten::mm",)]


def test_a_forward_operator_that_starts_later_is_none() -> None:
    trace = Trace()
    trace.host((HostKind.OP, "a", 0, 10), (HostKind.OP, "b", 20, 30), forward=i32(1, 0))
    store = stored(trace.line)
    nodes = rows(store, "SELECT node FROM host_event ORDER BY start_ns")
    assert path_of(store, nodes[0][0])[3:] == ["a"]
    assert path_of(store, nodes[1][0])[3:] == ["a", "[backward]", "b"]


def test_chains_lie_between_the_launch_and_its_work(trace: Trace) -> None:
    frames = i32(
        *(trace.line.tree.frame(Layer.HLO, trace.line.pool.intern(text)) for text in ("f", "g"))
    )
    assert trace.line.add_chains(i64(0, 1), frames) == 0
    first = trace.line.add_chains(i64(0, 1, 2), frames)
    assert first == 1
    trace.ops(GpuKind.MEMCPY, ("copy", 80, 1, 0), chain=i32(first + 1))
    store = stored(trace.line)
    [(node,)] = rows(store, f"SELECT node FROM gpu_op WHERE kind = {GpuKind.MEMCPY:d}")
    assert path_of(store, node)[-3:] == ["cudaLaunchKernel", "g", "copy"]


def test_waits_and_spans_are_no_work(trace: Trace) -> None:
    trace.ops(GpuKind.SPAN, ("step", 0, 1000, -1))
    trace.ops(GpuKind.SYNC, ("wait", 0, 1000, -1))
    store = stored(trace.line)
    assert rows(store, "SELECT busy_ns FROM device_busy") == [(25,)]
    assert rows(store, "SELECT sum(gpu_ns)::BIGINT FROM path_metric") == [(25,)]
    names = "SELECT s.text FROM op_stat o JOIN string s ON s.id = o.name ORDER BY 1"
    assert rows(store, names) == [("gemm",), ("lost",), ("wait",)]
    assert rows(store, "SELECT count(*) FROM gpu_op WHERE node IS NULL") == [(2,)]


def test_memory_counters_and_arguments_are_kept(trace: Trace) -> None:
    line = trace.line
    line.add_memory(
        MemoryEvents(
            time=i64(25, 300),
            bytes=i64(512, -512),
            device=np.array([0, -1], np.int16),
            process=np.array([0, 0], np.int16),
            lane=i32(trace.thread, -1),
            allocated=i64(512, NULL64),
        )
    )
    line.add_counters(
        Counters(np.array([0], np.int16), i32(0), i64(1), np.array([np.nan], np.float64))
    )
    text = line.pool.intern("[[2,3]]")
    assert line.add_args({"shapes": i32(text), "types": i32(-1)}) == 0
    assert line.add_args({"shapes": i32(-1), "other": i32(text)}) == 1
    assert line.add_configs({"grid_x": i32(4)}) == 0
    store = stored(line)
    memory = rows(
        store,
        """SELECT device, host, lane, bytes, allocated_bytes, node FROM memory_event
           ORDER BY time_ns""",
    )
    assert [row[:5] for row in memory] == [
        (0, False, trace.thread, 512, 512),
        (None, True, None, -512, None),
    ]
    assert path_of(store, memory[0][5])[-1] == "cudaLaunchKernel"
    assert memory[1][5] is None
    assert rows(store, "SELECT value FROM counter") == [(None,)]
    assert rows(store, "SELECT id, shapes, types, other FROM op_args ORDER BY id") == [
        (0, text, None, None),
        (1, None, None, text),
    ]


def test_work_whose_gpu_is_not_known_is_counted_too(trace: Trace) -> None:
    nowhere = trace.line.add_lane(Lane(LaneKind.STREAM, trace.process, "stream ?"))
    trace.line.add_ops(
        GpuOps(GpuKind.KERNEL, i32(nowhere), i64(500), i64(7), i32(0), launch=i32(0))
    )
    store = stored(trace.line)
    assert rows(store, "SELECT name, assumed FROM device ORDER BY id") == [
        ("H100", False),
        ("GPU not recorded", True),
    ]
    assert rows(store, "SELECT device, gpu_ns FROM path_total WHERE node = 0 ORDER BY 1") == [
        (0, 25),
        (1, 7),
        (None, None),
    ]


def test_nothing_at_all_is_a_store_too() -> None:
    line = Timeline("empty")
    assert line.empty
    store = stored(line)
    assert rows(store, "SELECT count(*) FROM path_node") == [(1,)]
