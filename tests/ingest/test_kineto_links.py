"""GPU work, the call that launched it, its operator, and its Python path."""

from pathlib import Path

import pytest

from tests.kineto_files import call, device, event, flow, gpu, kernel, op, opened, python


def test_the_path_runs_from_python_to_the_kernel(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            python("train.py(12): step", 0, 100, 1, None),
            python("nn.Module: Linear_3", 5, 90, 2, 1),
            event("user_annotation", "forward", 8, 80),
            op("aten::linear", 10, 60, **{"External id": 1}),
            op("aten::addmm", 12, 50, **{"External id": 2}),
            call("cudaLaunchKernel", 20, 5, 9, **{"External id": 2}),
            kernel("sgemm", 200, 30, 9, **{"External id": 2}),
        ],
        deviceProperties=[device()],
    )
    assert trace.path("sgemm") == [
        "main thread 100",
        "step",
        "Linear_3",
        "forward",
        "aten::linear",
        "aten::addmm",
        "cudaLaunchKernel",
        "sgemm",
    ]
    layers = trace.rows("SELECT DISTINCT name, layer, file, line FROM paths ORDER BY name")
    assert ("step", "python", "train.py", 12) in layers
    assert ("Linear_3", "module", None, None) in layers
    assert ("aten::addmm", "op", None, None) in layers
    assert trace.launches() == [("sgemm", "cudaLaunchKernel", "aten::addmm")]
    assert trace.rows("SELECT name, sm_count FROM device") == [("NVIDIA H100", 132)]
    facts = trace.facts()
    assert facts["linked.gpu"] == "1"
    assert facts["producer"].startswith("PyTorch")


def test_an_annotation_between_operator_and_launch_is_not_the_operator(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("c10d::allreduce_", 0, 50),
            event("user_annotation", "nccl:all_reduce", 5, 40),
            call("cudaLaunchKernel", 10, 5, 1),
            kernel("ncclDevKernel_AllReduce", 90, 5, 1),
        ],
    )
    assert trace.launches() == [("ncclDevKernel_AllReduce", "cudaLaunchKernel", "c10d::allreduce_")]


@pytest.mark.parametrize("shift", [0, 1000])
def test_external_ids_that_repeat_the_correlation_link_nothing(tmp_path: Path, shift: int) -> None:
    """PyTorch 1.13 to 2.2: joining by them gave kernels to other operators."""
    events = [
        op("aten::right", 0, 10, **{"External id": 77}),
        op("aten::wrong", 20, 10, **{"External id": 5}),
        call("cudaLaunchKernel", 2, 3, 5, **{"External id": 5 + shift}),
        kernel("k", 50, 1, 5, **{"External id": 5 + shift}),
    ]
    trace = opened(tmp_path / "t.json", events)
    assert trace.launches() == [("k", "cudaLaunchKernel", "aten::right")]
    assert trace.facts()["external_id_is_correlation"] == str(int(shift == 0))


def test_a_launch_outside_operators_belongs_to_its_python_function(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            python("kernels.py(3): launch", 0, 50),
            call("cuLaunchKernel", 10, 5, 1) | {"cat": "cuda_driver"},
            kernel("triton_poi", 90, 5, 1),
        ],
    )
    assert trace.launches() == [("triton_poi", "cuLaunchKernel", None)]
    assert trace.path("triton_poi")[1:] == ["launch", "cuLaunchKernel", "triton_poi"]
    assert trace.rows("SELECT kind FROM host_event ORDER BY kind") == [(2,), (8,)]


def test_work_without_a_launch_is_kept_and_counted(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [call("cudaLaunchKernel", 0, 5, 1), call("cudaMalloc", 6, 1, 2), kernel("late", 90, 5, 77)],
    )
    assert trace.launches() == [("late", None, None)]
    assert trace.path("late") == ["[launch not recorded]", "late"]
    assert trace.facts()["orphans.kernel"] == "1"
    assert "1 of 1 GPU operations have no launch" in trace.notes()


def test_a_graph_launch_owns_all_its_kernels(tmp_path: Path) -> None:
    kernels = [
        kernel(
            f"k{number % 3}", 100 + 10 * number, 9, 4, **{"graph id": 8, "graph node id": number}
        )
        for number in range(164)
    ]
    trace = opened(
        tmp_path / "t.json", [op("replay", 0, 50), call("cudaGraphLaunch", 5, 20, 4), *kernels]
    )
    assert set(trace.launches()) == {(f"k{n}", "cudaGraphLaunch", "replay") for n in range(3)}
    assert trace.rows("SELECT count(*), count(DISTINCT graph_node), min(graph) FROM gpu_op") == [
        (164, 164, 8)
    ]
    [(launches,)] = trace.rows("SELECT launches FROM path_total WHERE node = 0 AND device IS NULL")
    assert launches == 1
    assert "100 % of the GPU time was launched by graphs" in trace.notes()


def test_of_equal_correlations_the_latest_call_before_the_work_counts(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("first", 0, 10),
            call("launch", 2, 1, 5),
            op("second", 100, 10),
            call("launch", 102, 1, 5),
            kernel("a", 50, 1, 5),
            kernel("b", 150, 1, 5),
            kernel("early", -9, 1, 5),
        ],
    )
    assert trace.launches() == [
        ("early", None, None),
        ("a", "launch", "first"),
        ("b", "launch", "second"),
    ]
    assert "share their correlation id" in trace.notes()


def test_without_correlations_the_external_id_links_to_the_operator(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::conv2d", 0, 10, **{"External id": 3}),
            kernel("k", 20, 5, None) | {"args": {"External id": 3, "device": 0, "stream": 7}},
        ],
    )
    assert trace.launches() == [("k", "aten::conv2d", "aten::conv2d")]
    assert "no correlation ids" in trace.notes()


def test_threads_and_streams_with_the_same_numbers_never_meet(tmp_path: Path) -> None:
    """Frames of threads older than the profile carry pid 0 and tid 0, as GPU 0 and stream 0 do."""
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::add", 0, 10),
            python("old.py(1): run", 0, 100) | {"pid": 0, "tid": 0},
            kernel("k", 20, 5, None, stream=0),
        ],
    )
    assert trace.lanes() == {
        "aten::add": "main thread 100",
        "old.py(1): run": "threads older than the profile",
        "k": "stream 0",
    }
    assert trace.rows("SELECT count(*) FROM process") == [(1,)]
    assert trace.rows("SELECT device, stream_id FROM lane WHERE kind = 2") == [(0, 0)]


def test_spans_and_waits_are_never_busy_time(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            event("user_annotation", "step", 0, 50, **{"External id": 4}),
            call("cudaLaunchKernel", 1, 5, 1),
            call("cudaStreamSynchronize", 10, 30, 2),
            kernel("k", 20, 5, 1),
            gpu("gpu_user_annotation", "step", 19, 7, None),
            gpu("cuda_sync", "Stream Sync", 20, 20, 2, stream=4294967295),
        ],
    )
    assert trace.rows("SELECT busy_ns FROM device_busy") == [(5000,)]
    assert trace.rows("SELECT sum(gpu_ns)::BIGINT FROM path_metric") == [(5000,)]
    kinds = trace.rows(
        """SELECT k.name, l.name, o.node IS NULL, o.launch IS NOT NULL FROM gpu_op o
           JOIN gpu_kind_name k ON k.code = o.kind JOIN lane l ON l.id = o.lane ORDER BY o.kind"""
    )
    assert kinds == [
        ("kernel", "stream 7", False, True),
        ("sync", "all streams", True, True),
        ("span", "stream 7", True, False),
    ]


def test_stacks_of_operators_become_python_frames(tmp_path: Path) -> None:
    """PyTorch 1.9: each operator repeats the whole stack, innermost function first."""
    stack = "model.py(30): forward;train.py(12): step"
    trace = opened(
        tmp_path / "t.json",
        [
            event("Operator", "ProfilerStep#1", 0, 95, **{"Call stack": "train.py(9): main"}),
            event("Operator", "aten::linear", 0, 50, **{"Call stack": stack}),
            event("Operator", "aten::addmm", 5, 40, **{"Call stack": stack}),
            event("Runtime", "cudaLaunchKernel", 10, 5, correlation=1),
            event("Kernel", "gemm", 90, 5, "stream 7", correlation=1, device=0, stream=7),
        ],
    )
    assert trace.path("gemm") == [
        "main thread 100",
        "ProfilerStep#",
        "step",
        "forward",
        "aten::linear",
        "aten::addmm",
        "cudaLaunchKernel",
        "gemm",
    ]
    assert trace.facts()["capability.python_frames"] == ""
    assert trace.rows("SELECT count(*) FROM op_args") == [(0,)]


def test_what_layouts_before_1_12_call_things(tmp_path: Path) -> None:
    """PyTorch 1.8: other categories, tids as text, `external id` and `Input dims`."""
    trace = opened(
        tmp_path / "t.json",
        [
            event("Operator", "ProfilerStep#1", 0, 90, "25738"),
            event("Operator", "aten::mm", 1, 50, "25738", **{"Input dims": [[2, 3]]}),
            event("Runtime", "cudaLaunchKernel", 5, 5, "25738", correlation=3),
            event("Kernel", "gemm", 60, 9, "stream 7", correlation=3, device=0, stream=7)
            | {"pid": 0},
            event("Memcpy", "Memcpy HtoD (Pageable -> Device)", 80, 2, "stream 7 ", bytes=64)
            | {"pid": 0},
        ],
    )
    assert ("gemm", "cudaLaunchKernel", "aten::mm") in trace.launches()
    assert trace.lanes()["gemm"] == "stream 7"
    assert trace.lanes()["Memcpy HtoD (Pageable -> Device)"] == "stream 7"
    assert trace.rows("SELECT kind FROM host_event WHERE kind = 0") == [(0,)]
    assert trace.facts()["producer_version"] == "about 1.8"
    assert trace.facts()["capability.steps"] == ""
    assert trace.rows("SELECT s.text FROM op_args a JOIN string s ON s.id = a.shapes") == [
        ("[[2,3]]",)
    ]


def test_what_launch_flows_lead_to_is_kept_and_links_nothing(tmp_path: Path) -> None:
    def ac2g(phase: str, ts: float, number: int, tid: int) -> dict[str, object]:
        return {**flow(phase, ts, number, tid), "cat": "ac2g", "name": "ac2g"}

    events = [
        call("cudaLaunchKernel", 0, 5, 1),
        call("cudaLaunchKernel", 10, 5, 2),
        kernel("with_flow", 20, 5, 1),
        kernel("without_flow", 30, 5, 2),
        kernel("end_without_a_start", 40, 5, 3),
    ]
    flows = [ac2g("s", 0, 1, 100), ac2g("f", 20, 1, 7), ac2g("f", 40, 3, 7)]
    linked = """SELECT s.text, o.flow_linked, o.launch IS NOT NULL FROM gpu_op o
                JOIN string s ON s.id = o.name ORDER BY o.start_ns"""
    trace = opened(tmp_path / "flows.json", [*events, *flows])
    assert trace.rows(linked) == [
        ("with_flow", True, True),
        ("without_flow", False, True),
        ("end_without_a_start", False, False),
    ]
    assert trace.facts()["linked.flow"] == "1"
    trace = opened(tmp_path / "plain.json", events)
    assert [flag for _, flag, _ in trace.rows(linked)] == [None, None, None]
