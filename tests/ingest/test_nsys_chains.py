"""Call chains of CUDA calls and CPU samples, and what else threads did."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace

RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
CHAINS = "CUDA_CALLCHAINS"
SAMPLES = "COMPOSITE_EVENTS"
SAMPLED = "SAMPLING_CALLCHAINS"
TID = global_tid(1, 1)
CALL_PATHS = """WITH RECURSIVE path(id, text) AS (
                  SELECT n.id, '' FROM path_node n WHERE n.parent IS NULL
                  UNION ALL
                  SELECT n.id, path.text || '/' || s.text FROM path_node n
                  JOIN path ON path.id = n.parent JOIN frame f ON f.id = n.frame
                  JOIN string s ON s.id = f.name)
                SELECT path.text FROM {} e JOIN path ON path.id = e.node ORDER BY e.rowid"""
FACTS = "SELECT key, value FROM trace"
NOTES = "SELECT text FROM note"
THREAD = "/pid 1/main thread 1"


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def call(export: ExportWriter, index: int, name: str, **values: Any) -> None:
    row: dict[str, Any] = {
        "start": 100 * index,
        "end": 100 * index + 10,
        "globalTid": TID,
        "nameId": name,
        "correlationId": index,
    }
    export.add(RUNTIME, **{**row, **values})


def chain(
    export: ExportWriter,
    chain_id: int,
    frames: Sequence[tuple[str, str]],
    table: str = CHAINS,
    **values: Any,
) -> None:
    """Frames leaf to root, as (symbol, module)."""
    for depth, (symbol, module) in enumerate(frames):
        export.add(table, id=chain_id, stackDepth=depth, symbol=symbol, module=module, **values)


def leafwards(name: str) -> list[tuple[str, str]]:
    return [
        ("0x7f00", "/usr/lib/libcupti.so.12"),
        ("0x7f01", "/usr/lib64/libcuda.so.535"),
        (name, "/opt/cuda/lib64/libcudart.so.12"),
        (f"call_{name}", "/home/user/app"),
        ("main", "/home/user/app"),
    ]


def test_chains_numbered_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for index in range(1, 7):
            call(export, index, "cudaMalloc_v3020", callchainId=index)
            chain(export, index, leafwards("cudaMalloc"))
    paths, frames, notes, facts = ask(
        path,
        CALL_PATHS.format("host_event"),
        """SELECT s.text, m.text FROM frame f JOIN string s ON s.id = f.name
           LEFT JOIN string m ON m.id = f.file WHERE f.layer = 4 AND f.id IN (
           SELECT frame FROM path_node) ORDER BY 1""",
        NOTES,
        FACTS,
    )
    assert {text for (text,) in paths} == {f"{THREAD}/main/call_cudaMalloc/cudaMalloc"}
    assert frames == [("call_cudaMalloc", "app"), ("main", "app")]
    assert not any("chains" in text for (text,) in notes)
    assert dict(facts)[f"unused.{CHAINS}.below_api"] == "18"
    assert dict(facts)[f"used.{CHAINS}"] == "12"


def test_chains_numbered_from_one_are_told_by_their_calls(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    names = ["cudaMalloc", "cudaFree", "cudaMemcpy", "cudaLaunchKernel", "cudaMalloc", "cudaFree"]
    with ExportWriter(path) as export:
        for index, name in enumerate(names):
            call(export, index + 1, name, callchainId=index)
            chain(export, index + 1, leafwards(name))
    paths, notes = ask(path, CALL_PATHS.format("host_event"), NOTES)
    assert [text for (text,) in paths] == [f"{THREAD}/main/call_{n}/{n}" for n in names]
    assert any("numbered +1" in text for (text,) in notes)


def test_chains_that_fit_no_numbering_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for index in range(1, 9):
            call(export, index, "cudaMalloc_v3020", callchainId=index)
            chain(export, index, leafwards("cudaFree"))
    paths, notes, facts = ask(path, CALL_PATHS.format("host_event"), NOTES, FACTS)
    assert {text for (text,) in paths} == {f"{THREAD}/cudaMalloc"}
    assert any("do not fit" in text for (text,) in notes)
    assert dict(facts)[f"unused.{CHAINS}.not_attached"] == "40"


def test_too_few_chains_prove_no_numbering(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for index in range(1, 5):
            call(export, index, "cudaMalloc_v3020", callchainId=index)
            chain(export, index, leafwards("cudaMalloc"))
    (paths,) = ask(path, CALL_PATHS.format("host_event"))
    assert {text for (text,) in paths} == {f"{THREAD}/cudaMalloc"}


def test_the_chain_of_a_class_67_row_goes_to_its_call(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, year=2022) as export:
        for index in range(1, 7):
            call(export, index, "cudaMalloc", eventClass=67, callchainId=index - 1)
            call(export, index, "cudaMalloc_v3020")
            chain(export, index, leafwards("cudaMalloc"))
    paths, notes = ask(path, CALL_PATHS.format("host_event"), NOTES)
    assert [text for (text,) in paths] == [f"{THREAD}/main/call_cudaMalloc/cudaMalloc"] * 6
    assert any("numbered +1" in text for (text,) in notes)


def test_a_call_without_a_chain_hangs_on_its_thread(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for index in range(1, 7):
            call(export, index, "cudaMalloc_v3020", callchainId=index)
            chain(export, index, leafwards("cudaMalloc"))
        call(export, 7, "cudaMalloc_v3020", callchainId=0)
        call(export, 8, "cudaMalloc_v3020")
    (paths,) = ask(path, CALL_PATHS.format("host_event"))
    assert [text for (text,) in paths][6:] == [f"{THREAD}/cudaMalloc"] * 2


def test_unresolved_frames_show_module_and_address_and_cut_chains_are_counted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(SAMPLES, id=3, start=100, globalTid=TID, cpuCycles=1)
        lines = [
            ("0x55aa", "/opt/libfoo.so", 1),
            ("spin", "/opt/libfoo.so", None),
            ("[Max depth]", "[Max depth]", None),
        ]
        for depth, (symbol, module, unresolved) in enumerate(lines):
            export.add(
                SAMPLED,
                id=3,
                stackDepth=depth,
                symbol=symbol,
                module=module,
                unresolved=unresolved,
                originalIP=0x55AA,
            )
    paths, facts = ask(path, CALL_PATHS.format("cpu_sample"), FACTS)
    assert paths == [(f"{THREAD}/spin/libfoo.so+0x55aa",)]
    assert dict(facts)[f"unused.{SAMPLED}.truncated"] == "1"


def test_samples_hang_under_the_ranges_open_then(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    other = global_tid(1, 2)
    with ExportWriter(path) as export:
        export.add("NVTX_EVENTS", start=0, end=500, eventType=59, text="step", globalTid=TID)
        call(export, 1, "cudaMalloc_v3020")
        for sample, start, tid in ((1, 105, TID), (2, 300, TID), (3, 600, TID), (4, 300, other)):
            export.add(SAMPLES, id=sample, start=start, globalTid=tid, cpuCycles=5, cpu=2)
        chain(export, 1, [("work", "app"), ("main", "app")], SAMPLED)
        chain(export, 3, [("main", "app")], SAMPLED)
        chain(export, 99, [("main", "app")], SAMPLED)
    paths, samples, metrics, facts = ask(
        path,
        CALL_PATHS.format("cpu_sample"),
        "SELECT time_ns, weight, cpu FROM cpu_sample",
        """SELECT sum(m.samples), (SELECT samples FROM path_total WHERE node = 0)
           FROM path_metric m""",
        FACTS,
    )
    assert [text for (text,) in paths] == [
        f"{THREAD}/step/main/work",
        f"{THREAD}/step/<no backtrace>",
        f"{THREAD}/main",
        "/pid 1/thread 2/<no backtrace>",
    ]
    assert samples == [(105, 5, 2), (300, 5, 2), (600, 5, 2), (300, 5, 2)]
    assert metrics == [(4, 4)]
    assert dict(facts)[f"unused.{SAMPLED}.no_sample"] == "1"


def test_a_kernel_launched_through_a_chain_hangs_under_it(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for index in range(1, 7):
            call(export, index, "cudaLaunchKernel_v7000", callchainId=index)
            chain(export, index, leafwards("cudaLaunchKernel"))
        export.add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start=1000,
            end=1050,
            deviceId=0,
            contextId=1,
            streamId=7,
            correlationId=3,
            globalPid=global_pid(1),
            shortName="gemm",
        )
    (paths,) = ask(path, CALL_PATHS.format("gpu_op"))
    assert paths == [(f"{THREAD}/main/call_cudaLaunchKernel/cudaLaunchKernel/gemm",)]


def test_running_intervals_pair_in_and_out(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    other = global_tid(1, 2)
    with ExportWriter(path) as export:
        events = [
            (5, 0, TID),
            (10, 1, TID),
            (12, 1, other),
            (20, 0, TID),
            (30, 1, TID),
            (45, 0, TID),
            (50, 1, TID),
        ]
        for start, comes, tid in events:
            export.add("SCHED_EVENTS", start=start, cpu=3, isSchedIn=comes, globalTid=tid)
    intervals, facts = ask(
        path, "SELECT start_ns, dur_ns, cpu FROM sched_interval ORDER BY 1", FACTS
    )
    assert intervals == [(10, 10, 3), (30, 15, 3)]
    assert dict(facts)["unused.SCHED_EVENTS.unpaired"] == "3"
    assert dict(facts)["used.SCHED_EVENTS"] == "4"


def test_os_calls_and_overhead_are_events_outside_the_tree(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add("OSRT_API", start=10, end=90, globalTid=TID, nameId="poll", returnValue=-1)
        export.add("CUPTI_ACTIVITY_KIND_OVERHEAD", start=20, end=25, globalTid=TID, overheadType=8)
        export.add(
            "PROFILER_OVERHEAD",
            start=5,
            end=6,
            globalTid=TID,
            nameId="CUPTI: setup",
            overheadType=1,
        )
    events, nodes = ask(
        path,
        """SELECT k.name, s.text, h.start_ns, h.dur_ns, h.result, h.node FROM host_event h
           JOIN string s ON s.id = h.name JOIN host_kind_name k ON k.code = h.kind ORDER BY h.id""",
        "SELECT count(*) FROM path_node",
    )
    assert events == [
        ("os", "poll", 10, 80, -1, None),
        ("overhead", "CUPTI: setup", 5, 1, None, None),
        ("overhead", "command buffer full", 20, 5, None, None),
    ]
    assert nodes == [(1,)]


def test_intervals_of_other_libraries_are_shown_beside_the_tree(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add(
            "MPI_COLLECTIVES_EVENTS", start=10, end=30, globalTid=TID, textId="MPI_Allreduce"
        )
        export.add("MPI_P2P_EVENTS", start=40, end=None, globalTid=TID, textId="MPI_Send")
        export.create("CUBLAS_EVENTS", "start:int! end:int! globalTid:int nameId:str!")
        export.add("CUBLAS_EVENTS", start=20, end=25, globalTid=TID, nameId="cublasSgemm_v2")
        export.create("MINE_EVENTS", "start:int! end:int! globalTid:int nameId:str!")
        export.add("MINE_EVENTS", start=20, end=25, globalTid=TID, nameId="mine")
        export.add("NVTX_EVENTS", start=5, end=60, eventType=60, text="range", globalTid=TID)
    events, facts = ask(
        path,
        """SELECT k.name, s.text, d.text, h.start_ns, h.dur_ns, h.open, h.node FROM host_event h
           JOIN string s ON s.id = h.name JOIN host_kind_name k ON k.code = h.kind
           LEFT JOIN string d ON d.id = h.domain ORDER BY h.start_ns""",
        FACTS,
    )
    assert events == [
        ("range", "range", None, 5, 55, False, None),
        ("range", "MPI_Allreduce", "MPI_COLLECTIVES_EVENTS", 10, 20, False, None),
        ("range", "cublasSgemm_v2", "CUBLAS_EVENTS", 20, 5, False, None),
        ("range", "MPI_Send", "MPI_P2P_EVENTS", 40, 20, True, None),
    ]
    assert dict(facts)["unused.MINE_EVENTS.not_read"] == "1"


def test_tables_that_are_not_used_say_why(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.add("NVTX_EVENTS", start=5, end=60, eventType=59, text="range", globalTid=TID)
        for table, layout in {
            "GPU_CONTEXT_SWITCH_EVENTS": "tag:int vmId:int timestamp:int globalPid:int gpuId:int",
            "FECS_EVENTS": "tag:int timestamp:int",
            "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start:int end:int globalPid:int deviceId:int",
            "NET_NIC_METRIC": "start:int end:int value:int",
            "DYNAMIC_NVTXPAYLOAD_DATATYPE_7": "a:int",
            "MINE": "a:int",
        }.items():
            export.create(table, layout)
            export.add(table)
        export.add("NVTX_PAYLOAD_SCHEMAS", domainId=1, schemaId=2)
        export.add("OSRT_CALLCHAINS", id=1, symbol="poll", module="libc.so", stackDepth=0)
        export.add("SAMPLING_CALLCHAINS", id=1, symbol="main", module="a.out", stackDepth=0)
        export.add("CUDA_CALLCHAINS", id=1, symbol="main", module="a.out", stackDepth=0)
        export.add("ENUM_NSYS_EVENT_TYPE", id=59, name="NvtxPushPopRange")
        export.add("ProcessStreams", filenameId="out", contentId="text")
    (facts,) = ask(path, FACTS)
    unused = {k.removeprefix("unused."): v for k, v in facts if k.startswith("unused.")}
    unused.pop("StringIds.not_referenced")
    assert unused == dict.fromkeys(
        (
            "GPU_CONTEXT_SWITCH_EVENTS.no_thread_interval",
            "FECS_EVENTS.no_thread_interval",
            "CUDA_UM_GPU_PAGE_FAULT_EVENTS.no_thread_interval",
            "NET_NIC_METRIC.no_thread_interval",
            "DYNAMIC_NVTXPAYLOAD_DATATYPE_7.dynamic_payload",
            "MINE.not_read",
            "NVTX_PAYLOAD_SCHEMAS.no_binary_payload",
            "OSRT_CALLCHAINS.outside_call_tree",
            "SAMPLING_CALLCHAINS.no_sample",
            "CUDA_CALLCHAINS.no_call",
            "ENUM_NSYS_EVENT_TYPE.code_labels",
            "ProcessStreams.private",
        ),
        "1",
    )
    assert all(facts_used == "0" for k, facts_used in facts if k == "used.OSRT_CALLCHAINS")


def test_an_interval_of_a_thread_is_read_whoever_recorded_it(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        layout = "start:int! end:int! globalTid:int nameId:str!"
        export.create("CUDA_UM_CPU_PAGE_FAULT_EVENTS", layout)
        export.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=5, end=9, globalTid=TID, nameId="fault")
        export.add("NVTX_EVENTS", start=5, end=60, eventType=59, text="range", globalTid=TID)
    (events,) = ask(
        path,
        "SELECT s.text, h.dur_ns FROM host_event h JOIN string s ON s.id = h.name ORDER BY h.id",
    )
    assert events == [("range", 55), ("fault", 4)]
