"""rocpd databases: tables named by a GUID, links by stack id, grids in work-items."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.kernel_panel import kernel_panel
from dctx.ingest.errors import TraceError
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import op_stats
from dctx.queries.trace import Trace
from dctx.reports.kernel_panel import no_stalls
from tests.rocm_files import SECRET, Rocpd

BASE = 200_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.db"


def rows(path: Path, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    store = open_trace(path, cache=False, **options)
    with store.cursor() as cursor:
        found = cursor.execute(sql).fetchall()
    store.close()
    return found


def facts(path: Path) -> dict[str, str]:
    return dict(rows(path, "SELECT key, value FROM trace"))


def sample(path: Path) -> None:
    """A step with two calls; the second call launches; one kernel without its call."""
    made = Rocpd(path)
    made.region(
        "roctxRangePushA",
        BASE,
        BASE + 1000,
        1,
        category="MARKER_CORE_RANGE_API",
        message="step 17",
    )
    made.region("hipMalloc", BASE + 10, BASE + 50, 2, parent=1)
    made.region("hipLaunchKernel", BASE + 100, BASE + 200, 3, parent=1)
    made.region("hsa_queue_create", BASE + 120, BASE + 130, 4, parent=3, category="HSA_CORE_API")
    gemm = made.symbol("gemm", registers=48)
    made.kernel(gemm, BASE + 300, BASE + 700, 3, grid=(1000, 2, 1), group=(256, 1, 1))
    made.kernel(gemm, BASE + 800, BASE + 900, 99)
    made.add(
        "memory_copy",
        pid=7,
        tid=70,
        start=BASE + 900,
        end=BASE + 950,
        name_id=made.text("MEMORY_COPY_HOST_TO_DEVICE"),
        dst_agent_id=4,
        src_agent_id=1,
        size=4096,
        stream_id=0,
        event_id=made.event("MEMORY_COPY", 2),
    )
    made.close()


def test_work_is_linked_by_stack_id_and_hangs_below_its_call(path: Path) -> None:
    sample(path)
    found = rows(
        path,
        "SELECT s.text, o.start_ns, o.dur_ns, o.bytes, c.text FROM gpu_op o"
        " JOIN string s ON s.id = o.name LEFT JOIN host_event h ON h.id = o.launch"
        " LEFT JOIN string c ON c.id = h.name ORDER BY o.start_ns",
    )
    assert found == [
        ("gemm", 300, 400, None, "hipLaunchKernel"),
        ("gemm", 800, 100, None, None),
        ("memcpy HtoD", 900, 50, 4096, "hipMalloc"),
    ]
    paths = {
        (name, parent)
        for name, parent in rows(
            path, "SELECT p.name, q.name FROM paths p JOIN paths q ON q.id = p.parent"
        )
    }
    assert ("gemm", "hipLaunchKernel") in paths
    assert ("gemm", "[launch not recorded]") in paths
    assert ("hipLaunchKernel", "step #") in paths
    assert ("hsa_queue_create", "hipLaunchKernel") in paths
    assert facts(path)["orphans.kernel"] == "1"


def test_work_items_become_blocks_and_shapes_are_kept(path: Path) -> None:
    sample(path)
    [shape] = rows(
        path,
        "SELECT DISTINCT grid_x, grid_y, grid_z, block_x, registers_per_thread, shared_bytes"
        " FROM launch_config WHERE grid_y = 2",
    )
    assert shape == (4, 2, 1, 256, 48, 512)


def test_the_panel_says_where_samples_would_be(path: Path) -> None:
    sample(path)
    trace = Trace(open_trace(path, cache=False))
    [op] = op_stats(trace, kinds=(GpuKind.KERNEL,))
    panel = kernel_panel(trace, op)
    text = no_stalls(panel)
    assert text.startswith("Stalls: n/a, a rocpd database holds no samples")
    assert "--output-format json" in panel.collect


def test_markers_have_the_text_of_the_program_and_kinds_are_told_apart(path: Path) -> None:
    made = Rocpd(path)
    marker = "MARKER_CORE_RANGE_API"
    made.region("roctxThreadRangeA", BASE, BASE + 9, 1, category=marker, message="a")
    made.region("roctxProcessRangeA", BASE, BASE + 9, 2, category=marker, message="b", tid=71)
    made.region("roctxMarkA", BASE + 5, BASE + 5, 3, category="MARKER_CORE_API", message="c")
    made.region("hipFree", BASE + 2, BASE + 3, 4)
    made.close()
    found = rows(path, "SELECT kind, name, thread FROM host_events ORDER BY name")
    assert [(kind, name) for kind, name, _ in found] == [
        ("annotation", "a"),
        ("range", "b"),
        ("mark", "c"),
        ("runtime", "hipFree"),
    ]
    assert found[0][2] == "main thread 4242"


def test_parents_from_ids_win_where_times_tie_and_no_further(path: Path) -> None:
    made = Rocpd(path)
    made.region("outer", BASE, BASE + 100, 1)
    made.region("inner", BASE, BASE + 100, 2, parent=1)
    made.region("stranger", BASE + 500, BASE + 600, 3, parent=1)
    made.close()
    found = rows(
        path,
        "SELECT s.text, p.text FROM host_event h JOIN string s ON s.id = h.name"
        " LEFT JOIN host_event q ON q.id = h.parent LEFT JOIN string p ON p.id = q.name",
    )
    assert dict(found) == {"outer": None, "inner": "outer", "stranger": None}


def test_sums_of_the_tree_equal_the_sums_of_the_events(path: Path) -> None:
    sample(path)
    [(events,)] = rows(path, "SELECT sum(dur_ns) FROM gpu_op")
    [(exclusive,)] = rows(path, "SELECT sum(gpu_ns) FROM path_metric")
    [(inclusive,)] = rows(path, "SELECT sum(gpu_ns) FROM path_total WHERE node = 0")
    assert events == exclusive == inclusive == 550
    [(window,)] = rows(path, "SELECT sum(ns) FROM device_time")
    assert window == 650  # 300 to 950


def test_devices_are_the_agents_that_worked(path: Path) -> None:
    made = Rocpd(path)
    symbol = made.symbol("k")
    made.kernel(symbol, BASE, BASE + 10, 1, agent=5, queue=1)
    made.kernel(symbol, BASE, BASE + 10, 1, agent=1)  # on the CPU: no GPU work
    made.close()
    assert rows(path, "SELECT ordinal, name, sm_count, clock_hz, gpu_id FROM device") == [
        (1, "AMD Instinct MI300X", 304, 2_100_000_000, 5)
    ]
    assert facts(path)["unused.rocpd_kernel_dispatch.no_gpu"] == "1"


def test_streams_are_lanes_where_they_are_recorded_else_queues(path: Path) -> None:
    made = Rocpd(path)
    symbol = made.symbol("k")
    made.kernel(symbol, BASE, BASE + 10, 1, queue=1, stream=0)
    made.kernel(symbol, BASE + 20, BASE + 30, 1, queue=2, stream=0)
    made.close()
    lanes = "SELECT name FROM lane WHERE device IS NOT NULL ORDER BY name"
    assert rows(path, lanes) == [("queue 1",), ("queue 2",)]
    other = path.with_name("streams.db")
    made = Rocpd(other)
    symbol = made.symbol("k")
    made.kernel(symbol, BASE, BASE + 10, 1, queue=1, stream=0)
    made.kernel(symbol, BASE + 20, BASE + 30, 1, queue=1, stream=6)
    made.close()
    assert rows(other, lanes) == [("stream 0",), ("stream 6",)]


def test_copies_made_by_kernels_are_copies(path: Path) -> None:
    made = Rocpd(path)
    for name in ("__amd_rocclr_copyBuffer", "__amd_rocclr_fillBufferAligned", "mine"):
        made.kernel(made.symbol(name), BASE, BASE + 10, 1, queue=len(name))
    made.close()
    assert rows(
        path,
        "SELECT k.name, s.text FROM gpu_op o JOIN gpu_kind_name k ON k.code = o.kind"
        " JOIN string s ON s.id = o.name ORDER BY o.kind",
    ) == [
        ("kernel", "mine"),
        ("memcpy", "__amd_rocclr_copyBuffer"),
        ("memset", "__amd_rocclr_fillBufferAligned"),
    ]


def test_allocations_and_releases_balance_by_address(path: Path) -> None:
    made = Rocpd(path)
    made.kernel(made.symbol("k"), BASE, BASE + 10, 1)
    for kind, level, at, address, size in (
        ("ALLOC", "REAL", 1, 64, 1000),
        ("FREE", "REAL", 5, 64, 0),
        ("ALLOC", "REAL", 6, 64, 300),
        ("FREE", "REAL", 9, 777, 0),  # its allocation is not recorded
        ("ALLOC", "SCRATCH", 3, 12, 50),
    ):
        made.add(
            "memory_allocate",
            pid=7,
            tid=70,
            agent_id=4,
            type=kind,
            level=level,
            start=BASE + at,
            end=BASE + at,
            address=address,
            size=size,
        )
    made.close()
    assert rows(path, "SELECT time_ns, bytes, device FROM memory_event ORDER BY time_ns") == [
        (1, 1000, 0),
        (5, -1000, 0),
        (6, 300, 0),
    ]
    found = facts(path)
    assert found["unused.rocpd_memory_allocate.no_size"] == "1"
    assert found["unused.rocpd_memory_allocate.scratch"] == "1"
    assert found["capability.memory"] == ""


def test_counters_are_summed_over_their_dimensions(path: Path) -> None:
    made = Rocpd(path)
    event = made.kernel(made.symbol("k"), BASE, BASE + 10, 1)
    waves = made.add("info_pmc", name="SQ_WAVES", symbol="SQ_WAVES")
    for value in (10.0, 20.0):
        made.add("pmc_event", event_id=event, pmc_id=waves, value=value)
    sampled = made.event("POWER", 0)
    made.add("sample", track_id=1, timestamp=BASE + 7, event_id=sampled)
    made.add("pmc_event", event_id=sampled, pmc_id=waves, value=5.0)
    made.add("pmc_event", event_id=9999, pmc_id=waves, value=5.0)
    made.close()
    assert rows(
        path, "SELECT device, text, time_ns, value FROM counter JOIN string ON id = name ORDER BY 3"
    ) == [(0, "SQ_WAVES", 0, 30.0), (None, "SQ_WAVES", 7, 5.0)]
    assert facts(path)["unused.rocpd_pmc_event.no_event"] == "1"


def test_times_that_cannot_be_are_left_out_or_corrected_and_counted(path: Path) -> None:
    made = Rocpd(path)
    symbol = made.symbol("k")
    for at in range(5):
        made.kernel(symbol, BASE + 100 * at, BASE + 100 * at + 10, 0)
    made.kernel(symbol, 0, 10, 0)
    made.kernel(symbol, 2**62, 2**62 + 10, 0)
    made.kernel(symbol, BASE + 1000, BASE + 900, 0)
    made.close()
    found = facts(path)
    assert found["unused.rocpd_kernel_dispatch.no_time"] == "1"
    assert found["unused.rocpd_kernel_dispatch.bad_time"] == "1"
    assert found["bad_time.rocpd_kernel_dispatch"] == "1"
    assert found["used.rocpd_kernel_dispatch"] == "6"
    assert found["span_ns"] == "1000"


def test_several_calls_of_one_stack_id_give_the_latest_before(path: Path) -> None:
    made = Rocpd(path)
    made.region("first", BASE, BASE + 10, 5)
    made.region("second", BASE + 100, BASE + 110, 5)
    made.region("third", BASE + 400, BASE + 410, 5)
    made.kernel(made.symbol("k"), BASE + 200, BASE + 210, 5)
    made.close()
    assert rows(
        path,
        "SELECT s.text FROM gpu_op o JOIN host_event h ON h.id = o.launch"
        " JOIN string s ON s.id = h.name",
    ) == [("second",)]
    notes = " ".join(text for (text,) in rows(path, "SELECT text FROM note"))
    assert "an id that several calls share" in notes


def test_work_that_begins_before_its_call_is_told_not_moved(path: Path) -> None:
    made = Rocpd(path)
    made.region("hipLaunchKernel", BASE + 50, BASE + 60, 5)
    made.kernel(made.symbol("k"), BASE, BASE + 10, 5)
    made.close()
    assert rows(path, "SELECT start_ns FROM gpu_op") == [(0,)]
    notes = " ".join(text for (text,) in rows(path, "SELECT text FROM note"))
    assert "begin before the call that launched them" in notes


def test_an_operation_that_runs_over_the_next_ones_is_cut(path: Path) -> None:
    made = Rocpd(path)
    symbol = made.symbol("k")
    made.kernel(symbol, BASE, BASE + 10_000_000, 0)
    for at in range(1, 5):
        made.kernel(symbol, BASE + 100 * at, BASE + 100 * at + 50, 0)
    made.close()
    assert rows(path, "SELECT sum(dur_ns), max(recorded_dur_ns) FROM gpu_op") == [(300, 10_000_000)]
    notes = " ".join(text for (text,) in rows(path, "SELECT text FROM note"))
    assert "1 GPU operations last over the starts" in notes


def test_two_processes_in_one_file_keep_their_ids_apart(path: Path) -> None:
    for number, guid in enumerate(("_00000001_00bc_7000_8000_0000000000ff", "_00000002_0_0_0_1")):
        made = Rocpd(path, guid=guid, pid=100 + number)
        made.region(f"call{number}", BASE, BASE + 10, 3)
        made.kernel(made.symbol(f"k{number}"), BASE + 20, BASE + 30, 3)
        made.close()
    assert rows(
        path,
        "SELECT s.text, c.text, p.pid FROM gpu_op o JOIN string s ON s.id = o.name"
        " JOIN host_event h ON h.id = o.launch JOIN string c ON c.id = h.name"
        " JOIN lane l ON l.id = h.lane JOIN process p ON p.id = l.process ORDER BY 1",
    ) == [("k0", "call0", 100), ("k1", "call1", 101)]
    assert rows(path, "SELECT count(*) FROM device") == [(1,)]
    assert facts(path)["used.rocpd_kernel_dispatch"] == "2"


def test_the_environment_and_arguments_never_reach_the_store(path: Path, tmp_path: Path) -> None:
    sample(path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    store = open_trace(path)
    with store.cursor() as cursor:
        assert cursor.execute("SELECT name FROM process").fetchall() == [("python3",)]
    store.close()
    stores = [file.read_bytes() for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert stores
    assert not any(SECRET.encode() in data or b"--key=abc" in data for data in stores)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_recording_without_work_opens_and_says_what_lacks(path: Path) -> None:
    made = Rocpd(path)
    made.region("hipInit", BASE, BASE + 10, 1)
    made.close()
    found = facts(path)
    assert found["capability.gpu_work"].startswith("recorded without kernels")
    assert found["capability.python_frames"]
    assert found["schema_version"] == "3"
    empty = path.with_name("empty.db")
    Rocpd(empty).close()
    assert rows(empty, "SELECT count(*) FROM gpu_op") == [(0,)]


def test_a_damaged_database_is_refused_and_salvaged(path: Path) -> None:
    made = Rocpd(path)
    symbol = made.symbol("k")
    for at in range(3000):
        made.kernel(symbol, BASE + 100 * at, BASE + 100 * at + 10, 0)
    made.close()
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(TraceError, match="salvage"):
        rows(path, "SELECT 1")
    [(left,)] = rows(path, "SELECT count(*) FROM gpu_op", salvage=True)
    assert 0 < left < 3000
