"""Facts, devices and top paths of hand-made stores."""

from dctx.ingest.model import Layer, Severity
from dctx.queries.capture import Note, capture, device_times
from dctx.queries.overview import overview, top_host_paths, top_paths
from dctx.queries.trace import Trace


def test_facts(small: Trace) -> None:
    found = capture(small)
    assert found.path == "/data/run.sqlite"
    assert found.size_bytes == 4096
    assert (found.producer, found.producer_version) == ("Nsight Systems", "2024.5")
    assert found.span_ns == 2000
    assert found.start_utc_ns is None
    assert found.gpu_window_ns == (100, 1100)
    assert found.rows == {"NVTX_EVENTS": 3, "CUPTI_ACTIVITY_KIND_KERNEL": 5}
    assert found.unused == {"NVTX_EVENTS.category": 1}
    assert found.orphans == {"kernel": 1}
    assert (found.processes, found.devices, found.kernels) == (1, 2, 5)
    assert found.notes[0] == Note(Severity.ERROR, "capture", "lost events")
    assert [note.severity for note in found.notes] == [3, 2, 1]


def test_nothing_recorded_is_not_zero(empty: Trace) -> None:
    found = capture(empty)
    assert found.size_bytes is None
    assert found.span_ns is None
    assert found.kernels is None
    assert found.gpu_window_ns is None
    assert device_times(empty) == []
    assert top_paths(empty, 5) == []
    assert top_host_paths(empty, 5) == []


def test_device_times_sum_to_the_window(small: Trace) -> None:
    first, second = device_times(small)
    assert (first.label, first.name, first.assumed) == ("GPU 0", "H100", False)
    assert (first.compute_ns, first.comm_exposed_ns, first.copy_exposed_ns) == (400, 0, 50)
    assert (first.idle_ns, first.window_ns, first.busy_ns) == (550, 1000, 400)
    assert (first.kernel_count, first.kernel_sum_ns) == (3, 400)
    assert first.kernel_window_ns == (100, 700)
    assert (second.label, second.assumed, second.comm_exposed_ns) == ("GPU 1", True, 400)


def test_labels_name_the_process_when_ordinals_repeat(small: Trace) -> None:
    with small.store.cursor() as cursor:
        cursor.execute("UPDATE device SET ordinal = 0, process = 0 WHERE id = 1")
    assert [time.label for time in device_times(small)] == ["GPU 0", "GPU 0 of 77"]


def test_top_paths_charge_the_launching_context(small: Trace) -> None:
    heaviest, *others = top_paths(small, 3)
    assert heaviest.node == 4
    assert heaviest.names == ("python3", "thread 7", "step", "cudaLaunchKernel")
    assert heaviest.layers == (Layer.PROCESS, Layer.THREAD, Layer.ANNOTATION, Layer.API)
    assert (heaviest.gpu_ns, heaviest.kernels, heaviest.share) == (700, 3, 0.7)
    assert [(path.node, path.gpu_ns) for path in others] == [(12, 150), (10, 100)]


def test_overview_asks_everything(small: Trace) -> None:
    found = overview(small, top=1)
    assert found.capture == capture(small)
    assert found.devices == device_times(small)
    assert [kernel.name for kernel in found.kernels] == ["gemm"]
    assert [path.node for path in found.paths] == [4]
    assert found.host_paths == []


def test_host_paths_where_no_gpu_work_was_recorded(small: Trace) -> None:
    with small.store.cursor() as cursor:
        cursor.execute("DELETE FROM trace WHERE key LIKE 'gpu_window%'")
    step, launch, *_ = overview(small).host_paths
    assert (step.names[-1], step.self_ns, step.calls, step.share) == ("step", 300, 2, 300 / 520)
    assert (launch.node, launch.layers[-1]) == (4, Layer.API)
    assert len(top_host_paths(small, 2)) == 2
