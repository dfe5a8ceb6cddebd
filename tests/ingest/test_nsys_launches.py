"""Which call launched which GPU work, and where it hangs in the tree."""

from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NVTX = "NVTX_EVENTS"


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def call(
    export: ExportWriter, start: int, end: int, correlation: int, pid: int = 1, **values: Any
) -> None:
    row: dict[str, Any] = {"nameId": "cudaLaunchKernel_v7000", "globalTid": global_tid(pid, pid)}
    export.add(RUNTIME, start=start, end=end, correlationId=correlation, **{**row, **values})


def kernel(
    export: ExportWriter, start: int, end: int, correlation: int, pid: int = 1, **values: Any
) -> None:
    row: dict[str, Any] = {
        "deviceId": 0,
        "contextId": 1,
        "streamId": 7,
        "shortName": "gemm",
        "demangledName": "void gemm<float>(float*)",
        "globalPid": global_pid(pid),
    }
    export.add(KERNEL, start=start, end=end, correlationId=correlation, **{**row, **values})


LAUNCHES = """SELECT k.start_ns, h.start_ns, p.pid FROM gpu_op k
              LEFT JOIN host_event h ON h.id = k.launch LEFT JOIN lane l ON l.id = h.lane
              LEFT JOIN process p ON p.id = l.process WHERE k.kind = 0 ORDER BY 1"""
PATHS = """WITH RECURSIVE path(id, text, layer) AS (
             SELECT n.id, s.text, f.layer FROM path_node n JOIN frame f ON f.id = n.frame
             JOIN string s ON s.id = f.name WHERE n.parent IS NULL
             UNION ALL
             SELECT n.id, path.text || '/' || s.text, f.layer FROM path_node n
             JOIN path ON path.id = n.parent JOIN frame f ON f.id = n.frame
             JOIN string s ON s.id = f.name)
           SELECT text FROM path ORDER BY id"""
FACTS = "SELECT key, value FROM trace"
NOTES = "SELECT text FROM note"


def test_processes_that_share_correlation_ids_keep_their_own_launches(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for pid in (1, 2):
            call(export, 100 * pid, 100 * pid + 10, correlation=5, pid=pid)
            kernel(export, 1000 * pid, 1000 * pid + 50, correlation=5, pid=pid, deviceId=pid)
    (launches,) = ask(path, LAUNCHES)
    assert launches == [(1000, 100, 1), (2000, 200, 2)]


def test_an_unknown_process_is_the_only_one_with_calls(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 110, correlation=5)
        kernel(export, 1000, 1050, correlation=5, globalPid=None)
    launches, paths = ask(path, LAUNCHES, PATHS)
    assert launches == [(1000, 100, 1)]
    assert [text for (text,) in paths][-1] == "one.sqlite/pid 1/main thread 1/cudaLaunchKernel/gemm"


def test_an_unknown_process_among_several_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "several.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 110, correlation=5, pid=1)
        call(export, 200, 210, correlation=5, pid=2)
        kernel(export, 1000, 1050, correlation=5, globalPid=None)
    launches, paths, facts = ask(path, LAUNCHES, PATHS, FACTS)
    assert launches == [(1000, None, None)]
    assert "several.sqlite/[launch not recorded]/gemm" in [text for (text,) in paths]
    assert dict(facts)["orphans.kernel"] == "1"


def test_an_orphan_hangs_under_its_process_and_counts_in_all_totals(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 110, correlation=5)
        kernel(export, 1000, 1050, correlation=5)
        kernel(export, 2000, 2070, correlation=6)
    paths, totals, facts, notes = ask(
        path,
        PATHS,
        "SELECT gpu_ns, kernels FROM path_total WHERE node = 0 AND device = 0",
        FACTS,
        NOTES,
    )
    assert "t.sqlite/pid 1/[launch not recorded]/gemm" in [text for (text,) in paths]
    assert totals == [(120, 2)]
    assert dict(facts)["orphans.kernel"] == "1"
    assert any("1 of 2 GPU operations have no launch" in text for (text,) in notes)


def test_a_class_67_row_is_no_call(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, year=2022) as export:
        call(export, 99, 112, 5, eventClass=67, nameId="cudaLaunchKernel", callchainId=0)
        call(export, 100, 110, 5)
        kernel(export, 1000, 1050, 5)
    launches, calls, metric, facts = ask(
        path,
        LAUNCHES,
        "SELECT kind, start_ns, dur_ns, self_ns FROM host_event",
        "SELECT calls, launches, host_ns FROM path_metric WHERE device IS NULL",
        FACTS,
    )
    assert launches == [(1000, 100, 1)]
    assert calls == [(1, 100, 10, 10)]
    assert metric == [(1, 1, 10)]
    assert dict(facts)[f"unused.{RUNTIME}.class_67"] == "1"
    assert dict(facts)[f"used.{RUNTIME}"] == "1"


def test_other_event_classes_are_left_out_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for event_class in (0, 1, 26, 94, 300):
            call(export, 100, 110, event_class, eventClass=event_class)
    kinds, facts = ask(path, "SELECT kind, count(*) FROM host_event GROUP BY 1 ORDER BY 1", FACTS)
    assert kinds == [(1, 2), (2, 1)]
    assert dict(facts)[f"unused.{RUNTIME}.class_94"] == "1"
    assert dict(facts)[f"unused.{RUNTIME}.class_300"] == "1"


@pytest.mark.parametrize(
    ("recorded", "base"),
    [
        ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
        ("cudaLaunchKernelExC_ptsz_v11060", "cudaLaunchKernelExC"),
        ("cuMemAlloc_v2", "cuMemAlloc"),
        ("cudaGetDeviceProperties_v2_v12000", "cudaGetDeviceProperties_v2"),
        ("cuLaunchKernelEx", "cuLaunchKernelEx"),
    ],
)
def test_calls_are_paths_by_base_name_and_events_by_recorded_name(
    tmp_path: Path, recorded: str, base: str
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 110, 5, nameId=recorded)
    paths, events = ask(
        path, PATHS, "SELECT s.text FROM host_event h JOIN string s ON s.id = h.name"
    )
    assert [text for (text,) in paths][-1] == f"t.sqlite/pid 1/main thread 1/{base}"
    assert events == [(recorded,)]


def test_several_kernels_of_one_launch_charge_the_call_once(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 110, 5, nameId="cudaGraphLaunch_v10000")
        for index in range(3):
            start = 1000 + 100 * index
            kernel(export, start, start + 50, 5, graphNodeId=10 + index, graphId=2)
    metric, ops, paths = ask(
        path,
        "SELECT calls, launches, host_ns FROM path_metric WHERE device IS NULL",
        "SELECT launch, graph_node, graph FROM gpu_op ORDER BY id",
        PATHS,
    )
    assert metric == [(1, 1, 10)]
    assert ops == [(0, 10, 2), (0, 11, 2), (0, 12, 2)]
    assert [text for (text,) in paths][-1] == "t.sqlite/pid 1/main thread 1/cudaGraphLaunch/gemm"


def test_a_launch_inside_a_launch_is_one(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        call(export, 100, 120, 5)
        call(export, 105, 115, 6, eventClass=1, nameId="cuLaunchKernel")
        kernel(export, 1000, 1050, 6)
    (metric,) = ask(
        path,
        """SELECT sum(calls), sum(launches), sum(host_ns) FROM path_metric
           WHERE device IS NULL""",
    )
    assert metric == [(2, 1, 20)]


def test_the_path_of_a_kernel_is_thread_ranges_call_kernel(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.process(1, "python3")
        export.thread(1, 1, "worker")
        tid = global_tid(1, 1)
        for start, end, text in ((0, 500, "step 17"), (50, 300, "layer12"), (600, 900, "step 18")):
            export.add(NVTX, start=start, end=end, eventType=59, text=text, globalTid=tid)
        call(export, 100, 110, 5)
        call(export, 700, 710, 6)
        kernel(export, 1000, 1050, 5)
        kernel(export, 2000, 2020, 6)
    paths, totals = ask(
        path,
        PATHS,
        """SELECT s.text, t.gpu_ns, h.host_ns FROM path_node n JOIN frame f ON f.id = n.frame
           JOIN string s ON s.id = f.name JOIN path_total t ON t.node = n.id AND t.device = 0
           LEFT JOIN path_total h ON h.node = n.id AND h.device IS NULL ORDER BY n.id""",
    )
    thread = "t.sqlite/python3 (1)/worker (main thread 1)"
    assert [text for (text,) in paths] == [
        "t.sqlite",
        "t.sqlite/python3 (1)",
        thread,
        f"{thread}/step #",
        f"{thread}/step #/layer#",
        f"{thread}/step #/layer#/cudaLaunchKernel",
        f"{thread}/step #/layer#/cudaLaunchKernel/gemm",
        f"{thread}/step #/cudaLaunchKernel",
        f"{thread}/step #/cudaLaunchKernel/gemm",
    ]
    assert totals == [
        ("t.sqlite", 70, 800),
        ("python3 (1)", 70, 800),
        ("worker (main thread 1)", 70, 800),
        ("step #", 70, 800),
        ("layer#", 50, 250),
        ("cudaLaunchKernel", 50, 10),
        ("gemm", 50, None),
        ("cudaLaunchKernel", 20, 10),
        ("gemm", 20, None),
    ]


def test_events_of_an_unknown_thread_contain_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nobody = global_tid(1, 0)
        export.add(NVTX, start=0, end=900, eventType=59, text="other", globalTid=nobody)
        call(export, 100, 110, 5, globalTid=nobody)
        call(export, 200, 210, 6, globalTid=None)
        kernel(export, 1000, 1050, 5)
    paths, lanes, parents = ask(
        path,
        PATHS,
        "SELECT kind, process, name FROM lane WHERE kind = 1 ORDER BY id",
        "SELECT parent, self_ns FROM host_event ORDER BY id",
    )
    assert "t.sqlite/pid 1/thread not recorded/cudaLaunchKernel/gemm" in [t for (t,) in paths]
    assert "t.sqlite/thread not recorded/cudaLaunchKernel" in [t for (t,) in paths]
    assert lanes == [(1, 0, "thread not recorded"), (1, None, "thread not recorded")]
    assert parents == [(None, 900), (None, 10), (None, 10)]


def test_calls_that_failed_are_told_with_their_path(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(NVTX, start=0, end=300, eventType=59, text="load", globalTid=global_tid(1, 1))
        call(export, 100, 110, 5, nameId="cudaMalloc_v3020", returnValue=2)
        call(export, 120, 130, 6, nameId="cudaMalloc_v3020", returnValue=2)
        call(export, 140, 150, 7, nameId="cudaStreamQuery_v3020", returnValue=600)
        call(export, 400, 410, 8, nameId="cuCtxCreate_v2", returnValue=12345)
        call(export, 420, 430, 9, nameId="cudaMalloc_v3020", returnValue=0)
    (notes,) = ask(path, "SELECT severity, text FROM note WHERE text LIKE '%failed%'")
    assert notes == [
        (
            2,
            "3 CUDA calls failed: cudaMalloc returned 2 (out of memory) 2 times, first at "
            "pid 1 > main thread 1 > load; cuCtxCreate returned 12345 once, first at "
            "pid 1 > main thread 1.",
        )
    ]


def test_a_query_that_is_not_ready_has_not_failed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.create(RUNTIME, without=("returnValue",), extra="returnValue:int")
        call(export, 140, 150, 7, nameId="cudaEventQuery_v3020", returnValue=600)
        call(export, 160, 170, 8, nameId="cudaMalloc_v3020", returnValue=None)
    (notes,) = ask(path, "SELECT text FROM note WHERE text LIKE '%failed%'")
    assert notes == []
