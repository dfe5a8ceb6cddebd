"""`dctx report --capture`: kernels of graph replays under the operators of the capture."""

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Run
from tests.kineto_files import call, event, kernel, op, python, write_json

MM: dict[str, Any] = {
    "Input Dims": [[8, 16], [16, 4]],
    "Input type": ["float", "float"],
    "Input Strides": [[16, 1], [4, 1]],
    "Concrete Inputs": ["", ""],
}


def captured(path: Path) -> Path:
    """Three launches under two operators as the graph was captured; two more outside."""
    return write_json(
        path,
        [
            python("job/model.py(3): warm_up", 0, 500, 1, 0),
            op("aten::zeros", 2, 8),
            call("cudaLaunchKernel", 4, 2, 1),
            call("cudaStreamBeginCapture", 20, 2, 2),
            op("aten::mm", 30, 20, **MM),
            call("cudaLaunchKernel", 32, 2, 3),
            op("mine::norm", 60, 40),
            op("aten::mul", 62, 10),
            call("cudaLaunchKernel", 64, 2, 4),
            call("cudaLaunchKernel", 80, 2, 5),
            call("cudaStreamEndCapture", 120, 2, 6),
            call("cudaLaunchKernel", 140, 2, 7),
        ],
    )  # fmt: skip


def replayed(path: Path) -> Path:
    """Two replays of three kernels each, and a graph of two kernels that was not captured."""
    events = [
        event("user_annotation", "step", 0, 400),
        call("cudaGraphLaunch", 10, 5, 11),
        call("cudaGraphLaunch", 110, 7, 12),
        call("cudaGraphLaunch", 210, 5, 13),
    ]
    for i, (correlation, start) in enumerate(((11, 20), (12, 120))):
        events += [
            kernel("gemm", start, 10 + i, correlation),
            kernel("mul", start + 20, 5, correlation),
            kernel("norm", start + 30, 4, correlation),
        ]
    events += [kernel("a", 220, 3, 13), kernel("b", 230, 3, 13)]
    return write_json(path, events)


def test_replays_are_told_by_the_capture(run: Run, tmp_path: Path) -> None:
    trace, capture = replayed(tmp_path / "run.json"), captured(tmp_path / "capture.json")

    def sheets(*options: str | Path) -> dict[str, list[dict[str, Any]]]:
        result = run("report", trace, "--json", "-", *options)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)["sheets"]
        return {name: sheet["rows"] for name, sheet in found.items()}

    found = sheets("--capture", capture, "--call-stacks")
    rows = {
        r["name"]: (r["Count"], r["total_direct_kernel_time_sum"]) for r in found["ops_summary"]
    }
    assert rows == {
        "aten::mm": (2, 21.0),
        "aten::mul": (2, 10.0),
        "mine::norm": (2, 8.0),
        "cudaGraphLaunch->a (Synthetic Op)": (1, 3.0),
        "cudaGraphLaunch->b (Synthetic Op)": (1, 3.0),
    }
    [mm] = [row for row in found["unified_perf_summary"] if row["name"] == "aten::mm"]
    assert mm["GFLOPS"] == 2 * 8 * 4 * 16 / 1e9
    assert mm["total_duration_us"] == 5 + 7  # of the calls that launched the graphs
    assert mm["call_stack_full"] == "aten::mm => gemm"
    about = {row["key"]: row["value"] for row in found["report_info"]}
    assert about["captures"].startswith("2 replays")
    assert "1 without" in about["captures"]
    [step] = found["annotation_summary"]
    assert step["gpu_time_ms"] == 45 / 1000
    assert sum(row["total_direct_kernel_time"] for row in found["ops"]) == 45.0
    script = run("replay", trace, "--op", "aten::mm", "--capture", capture)
    assert script.exit_code == 0, script.output
    assert "OPERATOR = 'aten::mm'\n" in script.stdout
    assert "CALLS = 2\n" in script.stdout
    assert run("replay", trace, "--op", "aten::mm").exit_code == 2
    kernels = (sheet["kernel_summary"] for sheet in (found, sheets()))
    assert [sum(row["Kernel duration (µs)_sum"] for row in rows) for rows in kernels] == [45, 45]


def test_a_capture_that_fits_nothing_is_told(run: Run, tmp_path: Path) -> None:
    trace, capture = replayed(tmp_path / "run.json"), captured(tmp_path / "capture.json")
    other = write_json(tmp_path / "other.json", [op("aten::mm", 0, 5), kernel("gemm", 9, 9, None)])
    for file, why in ((trace, "holds no capture"), (capture, "launches of captures: 3")):
        result = run("report", other if file is capture else trace, "--capture", file)
        assert result.exit_code == 2
        assert why in " ".join(result.output.split())
