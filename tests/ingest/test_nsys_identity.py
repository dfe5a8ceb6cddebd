"""Processes, threads, streams and GPUs: what an id means, and where it means something else."""

from pathlib import Path
from typing import Any

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NVTX = "NVTX_EVENTS"
DEVICES = "SELECT ordinal, name, gpu_id, process, assumed FROM device ORDER BY id"
NOTES = "SELECT text FROM note"
FACTS = "SELECT key, value FROM trace"
ASSUMED = "tell the GPUs apart"


def ask(path: Path, *questions: str) -> list[list[tuple[Any, ...]]]:
    """The answers of a store to questions in SQL."""
    store = open_trace(path, cache=False)
    try:
        with store.cursor() as cursor:
            return [cursor.execute(question).fetchall() for question in questions]
    finally:
        store.close()


def kernel(export: ExportWriter, start: int, pid: int, device: int, **values: Any) -> None:
    row: dict[str, Any] = {
        "end": start + 10,
        "contextId": 1,
        "streamId": 7,
        "shortName": "gemm",
        "demangledName": "gemm<>",
        "globalPid": global_pid(pid),
    }
    export.add(KERNEL, start=start, deviceId=device, **{**row, **values})


def gpu(export: ExportWriter, gpu_id: int, ordinal: int | None, name: str, **values: Any) -> None:
    row = {"id": gpu_id, "cuDevice": ordinal, "name": name, "vmId": 1 << 48, "smCount": 132}
    export.add("TARGET_INFO_GPU", **{**row, **values})


def test_a_cuda_device_table_tells_ranks_with_one_visible_gpu_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        gpu(export, 0, 0, "H100 a")
        gpu(export, 1, 1, "H100 b")
        for pid, gpu_id in ((11, 1), (12, 0)):
            export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu_id, cudaId=0, pid=pid)
            kernel(export, 100 * pid, pid, 0)
    devices, owners, notes = ask(
        path,
        DEVICES,
        """SELECT p.pid, d.name FROM gpu_op o JOIN lane l ON l.id = o.lane
           JOIN process p ON p.id = l.process JOIN device d ON d.id = o.device ORDER BY 1""",
        NOTES,
    )
    assert devices == [(0, "H100 b", 1, None, False), (0, "H100 a", 0, None, False)]
    assert owners == [(11, "H100 b"), (12, "H100 a")]
    assert not any(ASSUMED in text for (text,) in notes)


def test_a_device_may_be_linked_by_uuid_only(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        gpu(export, 0, 1, "H100 a", uuid="aa")
        gpu(export, 1, 0, "H100 b", uuid="bb")
        export.add("TARGET_INFO_CUDA_DEVICE", gpuId=None, cudaId=0, pid=11, uuid="aa")
        kernel(export, 100, 11, 0)
    (devices,) = ask(path, DEVICES)
    assert devices == [(0, "H100 a", 0, None, False)]


def test_the_cuda_ordinal_names_the_gpu_not_its_row(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for row in range(4):
            gpu(export, row, 3 - row, f"gpu at {row}")
        kernel(export, 100, 11, 3)
        kernel(export, 200, 12, 1)
    (devices,) = ask(path, DEVICES)
    assert devices == [(1, "gpu at 2", 2, None, False), (3, "gpu at 0", 0, None, False)]


def test_an_ordinal_used_by_several_processes_is_one_gpu_each_and_assumed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for pid in (11, 12):
            kernel(export, 100 * pid, pid, 0)
    devices, busy, notes = ask(path, DEVICES, "SELECT busy_ns FROM device_busy", NOTES)
    assert devices == [
        (0, "GPU 0 (model not recorded)", None, 0, True),
        (0, "GPU 0 (model not recorded)", None, 1, True),
    ]
    assert busy == [(10,), (10,)]
    assert any(ASSUMED in text for (text,) in notes)


def test_without_tables_each_ordinal_is_one_gpu(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, 100, 11, 0)
        kernel(export, 200, 12, 1)
    (devices,) = ask(path, DEVICES)
    assert devices == [
        (0, "GPU 0 (model not recorded)", None, None, False),
        (1, "GPU 1 (model not recorded)", None, None, False),
    ]


def test_a_wait_belongs_to_the_device_of_its_context(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    sync = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
    with ExportWriter(path) as export:
        kernel(export, 100, 11, 1, contextId=2)
        row = {"globalPid": global_pid(11), "syncType": 3, "end": 300}
        export.add(sync, start=200, deviceId=0, contextId=2, greenContextId=0, streamId=7, **row)
        export.add(sync, start=250, deviceId=0xFFFFFFFF, contextId=9, streamId=0xFFFFFFFF, **row)
    waits, lanes, devices = ask(
        path,
        """SELECT d.ordinal, l.stream_id, l.name FROM gpu_op o LEFT JOIN device d ON d.id = o.device
           JOIN lane l ON l.id = o.lane WHERE o.kind = 4 ORDER BY o.start_ns""",
        "SELECT count(DISTINCT lane) FROM gpu_op WHERE start_ns < 250",
        DEVICES,
    )
    assert waits == [(1, 7, "stream 7"), (None, None, "all streams")]
    assert lanes == [(1,)]
    assert len(devices) == 1


def test_streams_are_told_apart_by_process_device_and_contexts(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        kernel(export, 100, 11, 0)
        kernel(export, 200, 12, 1)
        kernel(export, 300, 12, 1, contextId=2)
        kernel(export, 400, 12, 1, greenContextId=5)
        kernel(export, 500, 12, 1, streamId=8)
        kernel(export, 600, 12, 1)
        export.add(
            "TARGET_INFO_CUDA_CONTEXT_INFO",
            processId=12,
            deviceId=1,
            contextId=1,
            nullStreamId=7,
        )
    (lanes,) = ask(
        path,
        """SELECT p.pid, l.device, l.context_id, l.green_context_id, l.stream_id, l.name, count(*)
           FROM gpu_op o JOIN lane l ON l.id = o.lane JOIN process p ON p.id = l.process
           GROUP BY ALL ORDER BY min(o.start_ns)""",
    )
    assert lanes == [
        (11, 0, 1, None, 7, "stream 7", 1),
        (12, 1, 1, None, 7, "stream 7 (default)", 2),
        (12, 1, 2, None, 7, "stream 7", 1),
        (12, 1, 1, 5, 7, "stream 7 (default)", 1),
        (12, 1, 1, None, 8, "stream 8", 1),
    ]


def test_streams_have_the_names_their_program_gave_them(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    table = "TARGET_INFO_NVTX_CUDA_STREAM"
    with ExportWriter(path) as export:
        kernel(export, 100, 11, 0)
        kernel(export, 200, 11, 0, streamId=8)
        kernel(export, 300, 12, 0)
        for pid, stream, name in ((11, 7, "old"), (11, 7, "compute"), (12, 9, "elsewhere")):
            export.add(table, name=name, processId=pid, contextId=1, streamId=stream)
    lanes, facts = ask(
        path,
        "SELECT l.name FROM gpu_op o JOIN lane l ON l.id = o.lane ORDER BY o.start_ns",
        "SELECT key, value FROM trace",
    )
    assert lanes == [("compute (stream 7)",), ("stream 8",), ("stream 7",)]
    assert dict(facts)[f"unused.{table}.repeated"] == "1"


def test_hardware_ids_above_127_are_negative_integers_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    host = {"vm": 2, "hardware": 200}
    with ExportWriter(path) as export:
        export.add("PROCESSES", globalPid=global_pid(11, **host), pid=11, name="far")
        export.add("ThreadNames", nameId="thread far", globalTid=global_tid(11, 12, **host))
        tid = global_tid(11, 12, **host)
        export.add(
            RUNTIME, start=10, end=20, globalTid=tid, nameId="cudaLaunchKernel", correlationId=1
        )
        kernel(export, 100, 11, 0, globalPid=global_pid(11, **host), correlationId=1)
    processes, lanes, launches = ask(
        path,
        "SELECT global_pid, pid, name FROM process",
        "SELECT tid, name FROM lane WHERE kind = 0",
        "SELECT launch FROM gpu_op",
    )
    assert processes == [((200 << 56) | (2 << 48) | (11 << 24), 11, "far")]
    assert lanes == [(12, "thread far (thread 12)")]
    assert launches == [(0,)]


def test_a_pid_on_two_hosts_is_two_processes(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for vm in (1, 2):
            export.process(11, "python", vm=vm)
            tid = global_tid(11, 11, vm=vm)
            export.add(NVTX, start=vm, end=vm + 5, eventType=59, text="work", globalTid=tid)
    processes, nodes = ask(
        path,
        "SELECT pid, name FROM process",
        """SELECT s.text FROM path_node n JOIN frame f ON f.id = n.frame
           JOIN string s ON s.id = f.name WHERE f.layer = 1 ORDER BY 1""",
    )
    assert processes == [(11, "python"), (11, "python")]
    assert nodes == [("python (11) on host 0x0001",), ("python (11) on host 0x0002",)]


def test_only_processes_with_events_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for pid in range(1, 50):
            export.process(pid, f"daemon {pid}")
            export.thread(pid, pid, f"thread of {pid}")
        kernel(export, 100, 11, 0)
        export.add(
            RUNTIME,
            start=1,
            end=2,
            globalTid=global_tid(12, 12),
            nameId="cudaMalloc_v3020",
            correlationId=1,
        )
    processes, facts, notes = ask(path, "SELECT name FROM process ORDER BY pid", FACTS, NOTES)
    assert processes == [("daemon 11",), ("daemon 12",)]
    known = dict(facts)
    assert (known["used.PROCESSES"], known["unused.PROCESSES.no_events"]) == ("2", "47")
    assert (known["used.ThreadNames"], known["unused.ThreadNames.no_events"]) == ("1", "48")
    assert any("CUDA calls but no GPU work: daemon 12 (12)" in text for (text,) in notes)


def test_ranks_are_read_where_mpi_tells_them(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for pid, rank in ((11, 1), (12, 0)):
            export.add("MPI_RANKS", globalTid=global_tid(pid, pid), rank=rank)
            kernel(export, pid, pid, rank)
    processes, nodes = ask(
        path,
        "SELECT pid, rank FROM process ORDER BY pid",
        """SELECT s.text FROM path_node n JOIN frame f ON f.id = n.frame
           JOIN string s ON s.id = f.name WHERE f.layer = 1 ORDER BY 1""",
    )
    assert processes == [(11, 1), (12, 0)]
    assert nodes == [("rank 0 · pid 12",), ("rank 1 · pid 11",)]
