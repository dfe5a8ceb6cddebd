"""GPU work: names, launch configurations, graphs, device time, counters, memory."""

from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.comm import is_communication
from dctx.ingest.registry import open_trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
TID = global_tid(1, 1)
WHERE: dict[str, Any] = {
    "deviceId": 0,
    "contextId": 1,
    "streamId": 7,
    "globalPid": global_pid(1),
}
OPS = """SELECT k.name, s.text, o.start_ns, o.dur_ns, o.bytes, o.launch FROM gpu_op o
         JOIN string s ON s.id = o.name JOIN gpu_kind_name k ON k.code = o.kind ORDER BY o.id"""
FACTS = "SELECT key, value FROM trace"
NOTES = "SELECT text FROM note"
BUSY = "SELECT busy_ns, kernel_count, kernel_sum_ns, first_ns, last_ns FROM device_busy"
SPLIT = """SELECT c.name, t.ns FROM device_time t JOIN gpu_class_name c ON c.code = t.class
           ORDER BY t.device, t.class"""


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def launch(export: ExportWriter, correlation: int, name: str) -> None:
    export.add(
        RUNTIME,
        start=10 * correlation,
        end=10 * correlation + 5,
        globalTid=TID,
        nameId=name,
        correlationId=correlation,
    )


def kernel(export: ExportWriter, start: int, end: int, name: Any = "gemm", **values: Any) -> None:
    row: dict[str, Any] = {"shortName": name, "demangledName": f"void {name}<>()", **WHERE}
    export.add(KERNEL, start=start, end=end, **{**row, **values})


def test_kernels_keep_both_names_and_their_launch_configuration(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    shape: dict[str, Any] = {
        "gridX": 4,
        "gridY": 2,
        "gridZ": 1,
        "blockX": 128,
        "blockY": 1,
        "blockZ": 1,
        "registersPerThread": 32,
        "staticSharedMemory": 1024,
        "dynamicSharedMemory": 2048,
        "localMemoryPerThread": 16,
    }
    with ExportWriter(path) as export:
        kernel(export, 100, 110, **shape)
        kernel(export, 200, 210, **shape)
        kernel(export, 300, 310, "conv", **{**shape, "gridX": 8})
    kernels, configs = ask(
        path,
        """SELECT s.text, f.text, o.config FROM gpu_op o JOIN string s ON s.id = o.name
           JOIN string f ON f.id = o.full_name ORDER BY o.id""",
        "SELECT * EXCLUDE (shared_bytes, blocks_per_sm, warps_per_sm, occupancy_percent) "
        "FROM launch_config ORDER BY id",
    )
    assert kernels == [
        ("gemm", "void gemm<>()", 0),
        ("gemm", "void gemm<>()", 0),
        ("conv", "void conv<>()", 1),
    ]
    assert configs == [(0, *shape.values()), (1, 8, *list(shape.values())[1:])]


@pytest.mark.parametrize(("missing", "shown"), [("shortName", "void gemm<>()"), ("both", "none")])
def test_a_kernel_without_a_short_name_is_called_by_its_full_one(
    tmp_path: Path, missing: str, shown: str
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        if missing == "both":
            export.create(KERNEL, without=["shortName", "demangledName"])
            export.add(KERNEL, start=100, end=110, **WHERE)
        else:
            export.create(KERNEL, without=[missing])
            export.add(KERNEL, start=100, end=110, demangledName="void gemm<>()", **WHERE)
    (ops,) = ask(path, OPS)
    assert ops == ([] if shown == "none" else [("kernel", shown, 100, 10, None, None)])


def test_copies_sets_and_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        launch(export, 1, "cudaMemcpyAsync_v3020")
        export.add(MEMCPY, start=100, end=130, bytes=64, copyKind=1, correlationId=1, **WHERE)
        export.add(MEMCPY, start=200, end=210, bytes=32, copyKind=10, **WHERE)
        export.add(MEMCPY, start=220, end=221, bytes=5_000_000_000, copyKind=77, **WHERE)
        export.add(MEMSET, start=300, end=305, bytes=16, **WHERE)
        export.add(MEMSET, start=400, end=405, bytes=8, **{**WHERE, "deviceId": 1})
    ops, totals = ask(
        path,
        OPS,
        "SELECT sum(bytes), sum(gpu_ns), sum(gpu_ops), sum(kernels) FROM path_total WHERE node = 0",
    )
    assert ops == [
        ("memcpy", "memcpy HtoD", 100, 30, 64, 0),
        ("memcpy", "memcpy PtoP", 200, 10, 32, None),
        ("memcpy", "memcpy (kind not recorded)", 220, 1, 5_000_000_000, None),
        ("memset", "memset", 300, 5, 16, None),
        ("memset", "memset", 400, 5, 8, None),
    ]
    assert totals == [(5_000_000_120, 51, 5, 0)]


def test_a_replayed_graph_is_one_operation_and_busy_time(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        launch(export, 1, "cudaGraphLaunch_v10000")
        launch(export, 2, "cudaGraphLaunch_v10000")
        export.add(GRAPH, start=100, end=200, correlationId=1, graphId=4, graphExecId=9, **WHERE)
        export.add(GRAPH, start=0, end=0, correlationId=2, graphId=4, graphExecId=9, **WHERE)
        kernel(export, 150, 300)
    ops, busy, facts, metrics = ask(
        path,
        OPS + ", o.graph",
        BUSY,
        FACTS,
        "SELECT gpu_ns, gpu_ops, kernels FROM path_total WHERE node = 0 AND device = 0",
    )
    assert ops == [
        ("kernel", "gemm", 150, 150, None, None),
        ("graph", "CUDA graph 4", 100, 100, None, 0),
    ]
    assert busy == [(200, 1, 150, 100, 300)]
    assert dict(facts)[f"unused.{GRAPH}.no_time"] == "1"
    assert metrics == [(250, 2, 1)]


def test_graph_launches_without_recorded_work_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        launch(export, 1, "cudaGraphLaunch_v10000")
        kernel(export, 150, 300)
    (notes,) = ask(path, NOTES)
    assert any("1 CUDA graph launches, but no replay was recorded" in text for (text,) in notes)


def test_nodes_of_a_graph_are_recorded_work(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        launch(export, 1, "cudaGraphLaunch_v10000")
        for node in (11, 12):
            kernel(export, 100 * node, 100 * node + 50, correlationId=1, graphNodeId=node)
    ops, notes = ask(path, "SELECT graph_node, launch FROM gpu_op ORDER BY id", NOTES)
    assert ops == [(11, 0), (12, 0)]
    assert not any("graph launches" in text for (text,) in notes)


def test_device_time_splits_the_window_by_what_is_exposed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, 100, 200)
        kernel(export, 150, 260, "ncclDevKernel_AllReduce", streamId=8)
        export.add(MEMCPY, start=250, end=300, bytes=8, copyKind=1, **{**WHERE, "streamId": 9})
        export.add(MEMCPY, start=50, end=90, bytes=8, copyKind=1, **{**WHERE, "streamId": 9})
        kernel(export, 390, 400)
    split, busy, facts, stats = ask(
        path,
        SPLIT,
        BUSY,
        FACTS,
        """SELECT s.text, o.comm, o.count FROM op_stat o JOIN string s ON s.id = o.name
           WHERE o.kind = 0 ORDER BY 1""",
    )
    assert split == [("compute", 110), ("comm_exposed", 60), ("copy_exposed", 80), ("idle", 100)]
    assert busy == [(170, 3, 220, 100, 400)]
    assert (dict(facts)["gpu_window_start_ns"], dict(facts)["gpu_window_end_ns"]) == ("50", "400")
    assert stats == [("gemm", False, 2), ("ncclDevKernel_AllReduce", True, 1)]


def test_each_device_has_its_own_window_and_memory_sets_compute(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    other = {**WHERE, "deviceId": 1, "contextId": 2}
    with ExportWriter(path) as export:
        kernel(export, 100, 200)
        kernel(export, 150, 260, "ncclDevKernel_AllReduce", streamId=8)
        export.add(MEMSET, start=240, end=300, bytes=8, value=0, **{**WHERE, "streamId": 9})
        export.add(MEMCPY, start=700, end=800, bytes=8, copyKind=1, **other)
        kernel(export, 850, 900, **other)
    split, busy = ask(path, SPLIT, BUSY)
    first = [("compute", 160), ("comm_exposed", 40), ("copy_exposed", 0), ("idle", 0)]
    second = [("compute", 50), ("comm_exposed", 0), ("copy_exposed", 100), ("idle", 50)]
    assert split == first + second
    # Busy are kernels and graph replays alone: the memory set from 260 to 300 is not.
    assert busy == [(160, 2, 210, 100, 260), (50, 1, 50, 850, 900)]


def test_op_statistics_are_per_device_and_name(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for device, durations in ((0, (10, 30)), (1, (7,))):
            for index, duration in enumerate(durations):
                start = 1000 * index
                kernel(export, start, start + duration, **{**WHERE, "deviceId": device})
    (stats,) = ask(
        path,
        """SELECT device, count, sum_ns, min_ns, max_ns, sumsq, bytes FROM op_stat
           ORDER BY device""",
    )
    assert stats == [(0, 2, 40, 10, 30, 1000.0, None), (1, 1, 7, 7, 7, 49.0, None)]


@pytest.mark.parametrize(
    ("name", "communicates"),
    [
        ("ncclDevKernel_AllGather_RING_LL", True),
        ("ncclKernel_AllReduce", True),
        ("rcclGenericKernel", True),
        ("allreduce_fusion_kernel_oneshot_lamport", True),
        ("oneShotAllReduceKernel", True),
        ("cross_device_reduce_1stage", True),
        ("multimem_all_reduce_kernel", True),
        ("two_shot_all_reduce_kernel", True),
        ("nvshmemi_transfer", True),
        ("deep_ep::internode::dispatch", True),
        ("reduce_kernel", False),
        ("gemm", False),
    ],
)
def test_communication_is_told_by_name(name: str, communicates: bool) -> None:
    assert is_communication(name) is communicates


def test_counters_belong_to_the_gpu_of_their_type(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for gpu, ordinal in ((0, 1), (1, 0)):
            export.add(
                "TARGET_INFO_GPU",
                id=gpu,
                cuDevice=ordinal,
                pwGpuId=gpu,
                name=f"gpu {gpu}",
                vmId=1 << 48,
            )
        kernel(export, 0, 10)
        kernel(export, 0, 10, **{**WHERE, "deviceId": 1})
        kind = 5 << 32 | 1
        export.add(
            "TARGET_INFO_GPU_METRICS",
            typeId=kind,
            sourceId=1,
            typeName="t",
            metricId=3,
            metricName="SMs Active [Throughput %]",
        )
        for time, metric, value in ((20, 3, 55.0), (10, 3, 50.0), (30, 3, -1.0), (40, 8, 1.0)):
            export.add("GPU_METRICS", timestamp=time, typeId=kind, metricId=metric, value=value)
    counters, facts = ask(
        path,
        """SELECT d.name, s.text, c.time_ns, c.value FROM counter c
           JOIN device d ON d.id = c.device JOIN string s ON s.id = c.name ORDER BY c.rowid""",
        FACTS,
    )
    assert counters == [
        ("gpu 1", "SMs Active [Throughput %]", 10, 50.0),
        ("gpu 1", "SMs Active [Throughput %]", 20, 55.0),
        ("gpu 1", "SMs Active [Throughput %]", 30, None),
        ("gpu 1", "metric 8 (name not recorded)", 40, 1.0),
    ]
    assert dict(facts)["bad_value.GPU_METRICS"] == "1"


def test_memory_events_are_signed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    table = "CUDA_GPU_MEMORY_USAGE_EVENTS"
    with ExportWriter(path) as export:
        for start, operation in ((10, 0), (20, 1), (30, 5)):
            export.add(
                table,
                start=start,
                bytes=256,
                memoryOperationType=operation,
                address=0x7F0000000000,
                memKind=2,
                deviceId=0,
                globalPid=global_pid(1),
            )
    events, facts = ask(
        path, "SELECT device, process, time_ns, bytes, address, kind FROM memory_event", FACTS
    )
    assert events == [
        (0, 0, 10, 256, 0x7F0000000000, 2),
        (0, 0, 20, -256, 0x7F0000000000, 2),
    ]
    assert dict(facts)[f"unused.{table}.unknown_operation"] == "1"
