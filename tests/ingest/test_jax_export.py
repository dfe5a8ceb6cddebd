"""The JSON that viewers read: what it tells is what the recording itself tells."""

import gzip
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
TWIN = TRACES / "jax/cpu-train-jax0.10/plugins/profile/run1/host0.trace.json.gz"

NAMES = {"hlo_op": "dot.2", "hlo_module": "jit_f", "name": "jit(f)/transpose(jvp())/dot"}


def events() -> list[dict[str, Any]]:
    def named(pid: int, tid: int, process: str, thread: str) -> list[dict[str, Any]]:
        told = [("process_name", process), ("thread_name", thread)]
        return [
            {"ph": "M", "pid": pid, "tid": tid, "name": kind, "args": {"name": name}}
            for kind, name in told
        ]

    def event(
        pid: int, tid: int, name: str, ts: float, dur: float, /, **args: str
    ) -> dict[str, Any]:
        return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": ts, "dur": dur, "args": args}

    return [
        *named(701, 5, "/host:CPU", "python"),
        *named(701, 77, "/host:CPU", "Host Threads/77"),
        *named(2, 16, "/device:GPU:0", "Stream #16(Kernel)"),
        *named(2, 9, "/device:GPU:0", "XLA Modules"),
        event(701, 5, "$train.py:12 main", 0.5, 100),
        event(701, 5, "train", 10, 50.25, step_num="4"),
        event(701, 5, "ThreadpoolListener::Record", 20, 1e-06),
        event(701, 77, "hipModuleLaunchKernel", 12, 3, correlation_id="31", **NAMES),
        event(2, 16, "dot_2.kd", 20, 7.001, correlation_id="31",
              kernel_details=" grid:4,1,1 block:64,1,1 private_mem:0", **NAMES),
        event(2, 9, "jit_f", 0, 99),
        {},
    ]  # fmt: skip


@contextmanager
def opened(path: Path) -> Generator[Store]:
    store = open_trace(path, cache=False)
    try:
        yield store
    finally:
        store.close()


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def test_threads_steps_and_gpu_work(tmp_path: Path) -> None:
    path = tmp_path / "t.trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": events()}).encode()))
    with opened(path) as store:
        found = rows(store, "SELECT name, gpu_ns, host_ns FROM paths ORDER BY id")
        assert found[2:] == [
            ("python", None, 100_000),
            ("main", None, 100_000),
            ("train step #", None, 50_250),
            ("thread 77", 7_001, 3_000),
            ("jit(f)", 7_001, 3_000),
            ("jit(f)/transpose(jvp())/dot", 7_001, 3_000),
            ("[backward]", 7_001, 3_000),
            ("dot.2", 7_001, 3_000),
            ("hipModuleLaunchKernel", 7_001, 3_000),
            ("dot_2.kd", 7_001, None),
        ]
        assert rows(store, "SELECT grid_x, block_x FROM kernels") == [(4, 64)]
        assert rows(store, "SELECT kind, count(*) FROM gpu_op GROUP BY 1") == [(0, 1), (5, 1)]
        assert rows(store, "SELECT name FROM host_events WHERE kind = 'mark'") == [
            ("ThreadpoolListener::Record",)
        ]
        assert any("no HLO modules" in text for (text,) in rows(store, "SELECT text FROM note"))


def test_a_cut_export_keeps_the_events_before(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": events()})
    path = tmp_path / "t.trace.json"
    path.write_text(text[: text.index("dot_2.kd")])
    with opened(path) as store:
        assert rows(store, "SELECT count(*) FROM host_event") == [(4,)]
        step = "SELECT name FROM host_events WHERE name LIKE 'train %'"
        assert rows(store, step) == [("train step 4",)]
        api = "SELECT name, correlation FROM host_events WHERE kind = 'runtime'"
        assert rows(store, api) == [("hipModuleLaunchKernel", 31)]


@pytest.mark.skipif(not TWIN.exists(), reason="DCTX_TRACES names no folder with traces")
def test_the_twin_of_a_recording_holds_the_same_events() -> None:
    same = (
        "SELECT l.name, h.kind, s.text, h.start_ns, h.dur_ns, h.self_ns FROM host_event h "
        "JOIN lane l ON l.id = h.lane JOIN string s ON s.id = h.name ORDER BY ALL"
    )
    with opened(TWIN) as export, opened(TWIN.with_name("host0.xplane.pb")) as recording:
        assert rows(export, same) == rows(recording, same)
        assert len(rows(export, same)) == 839 - 180
