"""Sampled instructions: the tables of the store, and profiles of Proton that have some."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from dctx.ingest.arrays import NULL32, NULL64
from dctx.ingest.registry import open_trace
from dctx.ingest.stalls import StallSamples, joined, write_stalls
from dctx.ingest.writer import StoreWriter
from dctx.native import ColumnStream, StringPool
from dctx.queries.stalls import StallRow, sampled_kernels, stall_rows
from dctx.queries.trace import Trace
from tests.ingest.test_proton import kernel, node


def samples(pool: StringPool, *rows: tuple[int, int, int, str, int, int]) -> StallSamples:
    """Rows of (offset, node, device, reason, samples, not issued) of the kernel `gemm`."""
    offset, nodes, device, reason, count, not_issued = zip(*rows, strict=True)
    none = np.full(len(rows), -1, np.int32)
    return StallSamples(
        kernel=np.full(len(rows), pool.intern("gemm"), np.int32),
        module=np.full(len(rows), pool.intern("cubin 1f"), np.int32),
        function=none,
        offset=np.array(offset),
        text=none,
        file=none,
        line=np.full(len(rows), NULL32, np.int32),
        node=np.array(nodes, np.int32),
        device=np.array(device, np.int16),
        reason=np.array([pool.intern(name) if name else -1 for name in reason], np.int32),
        samples=np.array(count),
        not_issued=np.array(not_issued),
        spread=np.zeros(len(rows), np.bool_),
    )


def test_rows_of_one_instruction_and_context_add_up() -> None:
    pool = StringPool()
    writer = StoreWriter(Path("run"), None)
    found = joined(
        [
            samples(pool, (32, 1, 0, "wait", 4, 1), (16, 0, 0, "wait", 5, NULL64)),
            samples(pool, (32, 1, 0, "wait", 3, 2), (32, -1, -1, "selected", 9, 0)),
        ]
    )
    assert found is not None
    write_stalls(writer, found, np.array([10, 20], np.int32))
    writer.insert("string", ColumnStream({"id": range(len(pool)), "text": pool}))
    writer.summary_ready()
    trace = Trace(writer.serve())
    with trace.store.cursor() as cursor:
        rows = cursor.execute(
            "SELECT i.offset_bytes, w.* EXCLUDE (reason) FROM stall w JOIN instruction i "
            "ON i.id = w.instruction"
        ).fetchall()
    assert rows == [
        (16, 0, 10, 0, 5, None, False),
        (32, 1, None, None, 9, 0, False),
        (32, 1, 20, 0, 7, 3, False),
    ]
    gemm = pool.intern("gemm")
    assert sampled_kernels(trace) == {gemm: 21}
    below = stall_rows(trace, gemm, nodes=(20, 25))
    assert below == [StallRow("cubin 1f", None, 32, None, None, None, "wait", 7, 3, spread=False)]
    assert [row.samples for row in stall_rows(trace, gemm)] == [5, 9, 7]
    # Of an unknown GPU: it may be this one.
    assert [row.samples for row in stall_rows(trace, gemm, device=1)] == [9]


def test_without_samples_there_is_nothing_to_join() -> None:
    assert joined([]) is None


def test_samples_of_a_proton_profile(tmp_path: Path) -> None:
    line = node("/src/k.py:7@body", num_samples=5, stalled_not_Selected=5, stalled_wait=0)
    inner = node("/src/lib.py:3@load", stalled_long_scoreboard=2)
    line["children"].append(inner)
    gemm = kernel("gemm", 100, 4, stalled_selected=3)
    gemm["children"].append(line)
    path = tmp_path / "p.hatchet"
    path.write_text(json.dumps([node("ROOT", node("step", gemm)), {}]))
    trace = Trace(open_trace(path, cache=False))
    [(name, count)] = sampled_kernels(trace).items()
    assert count == 10
    found = stall_rows(trace, name)
    assert [(row.file, row.line, row.function, row.reason, row.samples) for row in found] == [
        (None, None, None, "selected", 3),
        ("/src/k.py", 7, "body", "not_selected", 5),
        ("/src/lib.py", 3, "load", "long_scoreboard", 2),
    ]
    with trace.store.cursor() as cursor:
        [(kernel_node,)] = cursor.execute("SELECT DISTINCT node FROM stalls").fetchall()
        [(layer,)] = cursor.execute(
            "SELECT layer FROM paths WHERE id = ?", [kernel_node]
        ).fetchall()
    assert layer == "kernel"
