"""RPD databases: calls, operations, and which led to which."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from tests.rocm_files import Rpd

BASE = 8_306_017_000_000_000
BIG = 2**33


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.rpd"


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        found = cursor.execute(sql).fetchall()
    store.close()
    return found


def test_one_graph_launch_leads_to_many_operations(path: Path) -> None:
    made = Rpd(path)
    graph = made.api("hipGraphLaunch", BASE, BASE + 50, ident=BIG)
    for at in range(418):
        made.op("Task", BASE + 100 + at, BASE + 101 + at, graph, name=f"k{at % 3}")
    made.close()
    assert rows(
        path,
        "SELECT c.text, count(*), sum(o.dur_ns) FROM gpu_op o JOIN host_event h ON h.id = o.launch"
        " JOIN string c ON c.id = h.name GROUP BY 1",
    ) == [("hipGraphLaunch", 418, 418)]
    kernels = rows(path, "SELECT name, gpu_ns FROM paths WHERE layer = 'kernel' ORDER BY name")
    assert kernels == [("k0", 140), ("k1", 139), ("k2", 139)]


def test_copies_have_their_size_and_direction_and_kernels_their_shape(path: Path) -> None:
    made = Rpd(path)
    copy = made.api("hipMemcpyWithStream", BASE, BASE + 10, ident=1)
    made.add("copyapi", api_ptr_id=copy, size=4096, kind=2)
    made.op("CopyDeviceToHost", BASE + 5, BASE + 9, copy)
    plain = made.api("hipMemcpy", BASE + 20, BASE + 30, ident=2)
    made.add("copyapi", api_ptr_id=plain, size=10, kind=3)
    made.op("Copy", BASE + 25, BASE + 26, plain)
    made.op("FillBuffer", BASE + 40, BASE + 45, None)
    launch = made.api("hipLaunchKernel", BASE + 50, BASE + 60, ident=3)
    shape = dict(zip(("gridX", "gridY", "gridZ"), (1792, 782, 1), strict=True))
    shape |= dict(zip(("workgroupX", "workgroupY", "workgroupZ"), (256, 1, 1), strict=True))
    made.add("kernelapi", api_ptr_id=launch, groupSegmentSize=64, privateSegmentSize=8, **shape)
    made.op("KernelExecution", BASE + 70, BASE + 90, launch, name="gemm")
    made.close()
    assert rows(
        path,
        "SELECT s.text, o.dur_ns, o.bytes FROM gpu_op o JOIN string s ON s.id = o.name"
        " ORDER BY o.start_ns",
    ) == [("memcpy DtoH", 4, 4096), ("memcpy DtoD", 1, 10), ("memset", 5, None), ("gemm", 20, None)]
    assert rows(
        path,
        "SELECT grid_x, grid_y, grid_z, block_x, shared_bytes, local_bytes_per_thread FROM kernels",
    ) == [(1792, 782, 1, 256, 64, 8)]
    assert rows(path, "SELECT value FROM trace WHERE key = 'orphans.memset'") == [("1",)]


def test_markers_are_ranges_by_their_text_and_the_tracers_own_calls_are_overhead(
    path: Path,
) -> None:
    made = Rpd(path)
    made.api("UserMarker", BASE, BASE + 100, ident=1, args="forward 3")
    made.api("hipMalloc", BASE + 10, BASE + 20, ident=2, args="ptr=0x1 | size=0x2")
    made.api("UserMarker", BASE + 50, BASE + 50, ident=3, args="here")
    made.api("OpTable::writeRows", BASE + 60, BASE + 70, ident=4, args="count=1")
    made.close()
    assert rows(path, "SELECT kind, name, self_ns FROM host_events ORDER BY start_ns") == [
        ("annotation", "forward 3", 90),
        ("runtime", "hipMalloc", 10),
        ("mark", "here", None),
        ("overhead", "OpTable::writeRows", None),
    ]


def test_monitors_are_counters_of_the_one_gpu_at_work(path: Path) -> None:
    made = Rpd(path)
    made.op("KernelExecution", BASE, BASE + 10, None, name="k", gpu=2)
    for at, value in ((-5, "800"), (3, "1700"), (4, "broken")):
        made.add(
            "monitor",
            deviceType="gpu",
            deviceId=0,
            monitorType="sclk",
            start=BASE + at,
            end=BASE + at + 1,
            value=value,
        )
    made.close()
    assert rows(
        path, "SELECT device, text, time_ns, value FROM counter JOIN string ON id = name ORDER BY 3"
    ) == [(0, "sclk", -5, 800.0), (0, "sclk", 3, 1700.0), (0, "sclk", 4, None)]
    assert rows(path, "SELECT ordinal, name FROM device") == [
        (2, "GPU (agent 2, model not recorded)")
    ]


def test_links_to_nothing_are_counted(path: Path) -> None:
    made = Rpd(path)
    op = made.op("KernelExecution", BASE, BASE + 10, 77, name="k")
    made.add("api_ops", api_id=1, op_id=op + 100)
    made.close()
    assert rows(path, "SELECT launch FROM gpu_op") == [(None,)]
    facts = dict(rows(path, "SELECT key, value FROM trace"))
    assert facts["unused.rocpd_api_ops.no_op"] == "1"
    assert facts["capability.launches"]


def test_a_database_without_the_tables_of_rpd_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.rpd"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE rocpd_op (id INT, start INT, end INT); CREATE TABLE rocpd_api (id INT);"
        )
    with pytest.raises(TraceError, match=r"lacks tables, or columns .*: rocpd_string, rocpd_api\."):
        open_trace(path, cache=False)
