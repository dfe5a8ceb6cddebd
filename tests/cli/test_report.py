"""`dctx report` on hand-made traces."""

import csv
import json
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from dctx.reports.op_sheets import SHEET_NAMES
from tests.cli.conftest import Run
from tests.kineto_files import Event, call, gpu, kernel, op, write_json
from tests.near import near

ARGS: dict[str, Any] = {
    "Input Dims": [[8, 16], [16, 4]],
    "Input type": ["float", "float"],
    "Input Strides": [[16, 1], [4, 1]],
    "Concrete Inputs": ["", ""],
}
ALLREDUCE = "ncclDevKernel_AllReduce"


def trained() -> list[Event]:
    """Two products, one within `linear`; a copy outside operators; communication; a lone kernel."""
    return [
        op("aten::linear", 0, 20),
        op("aten::mm", 2, 10, **ARGS),
        call("cudaLaunchKernel", 4, 2, 1),
        kernel("gemm", 30, 10, 1),
        op("aten::mm", 22, 10, **ARGS),
        call("cudaLaunchKernel", 24, 2, 2),
        kernel("gemm", 40, 14, 2),
        op("aten::add", 34, 8),
        call("cudaLaunchKernel", 35, 2, 3),
        kernel("void at::native::vectorized_elementwise_kernel<4>", 60, 6, 3),
        call("cudaMemcpyAsync", 50, 2, 4),
        gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 70, 5, 4),
        op("record_param_comms", 54, 6),
        call("cudaLaunchKernel", 55, 2, 5),
        kernel(ALLREDUCE, 62, 20, 5),
        kernel("lost", 90, 10, None),
    ]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_json(tmp_path / "run.pt.trace.json", trained())


def sheets(run: Run, trace: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    result = run("report", trace, "--json", "-", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["sheets"]
    return {name: sheet["rows"] for name, sheet in found.items()}


def column(rows: list[dict[str, Any]], name: str, *keys: str) -> dict[Any, Any]:
    """Values of a column by those of the key columns."""
    if len(keys) == 1:
        return {row[keys[0]]: row[name] for row in rows}
    return {tuple(row[key] for key in keys): row[name] for row in rows}


def test_the_timeline_tells_all_work_and_that_with_a_launch(run: Run, trace: Path) -> None:
    rows = sheets(run, trace, "--sheet", "gpu_timeline")["gpu_timeline"]
    assert column(rows, "time ms", "type") == {
        "computation_time": 0.040,
        "exposed_comm_time": 0.016,
        "exposed_memcpy_time": 0.0,
        "busy_time": 0.056,
        "idle_time": 0.014,
        "total_time": 0.070,
        "total_comm_time": 0.020,
        "total_memcpy_time": 0.005,
    }
    linked = column(rows, "linked time ms", "type")
    assert (linked["computation_time"], linked["total_time"]) == (0.030, 0.052)
    assert column(rows, "percent", "type")["busy_time"] == near(80)


def test_micro_and_macro_idle_take_the_place_of_idle(run: Run, trace: Path) -> None:
    options = ("--sheet", "gpu_timeline", "--micro-idle-us", "7")
    rows = sheets(run, trace, *options)["gpu_timeline"]
    times = column(rows, "time ms", "type")
    assert (times["micro_idle_time"], times["macro_idle_time"]) == (0.006, 0.008)
    assert "idle_time" not in times


def test_work_belongs_to_the_innermost_operator(run: Run, trace: Path) -> None:
    rows = sheets(run, trace, "--sheet", "ops")["ops"]
    words = ("name", "total_direct_kernel_time", "total_subtree_kernel_time")
    assert [tuple(row[word] for word in words) for row in rows] == [
        ("aten::mm", 10.0, 10.0),
        ("aten::mm", 14.0, 14.0),
        ("aten::add", 6.0, 6.0),
        ("cudaMemcpyAsync->Memcpy HtoD (Pageable -> Device) (Synthetic Op)", 5.0, 5.0),
        ("unlinked->lost (Synthetic Op)", 10.0, 10.0),
    ]
    assert rows[0]["cpu_dur_us"] == 10.0
    assert (rows[4]["UID"], rows[4]["ts_ns"], rows[4]["thread_name"]) == (None, None, None)


def test_summaries_agree_and_their_shares_are_the_whole(run: Run, trace: Path) -> None:
    found = sheets(run, trace)
    counts = {"ops_summary_by_category": "Count", "ops_summary": "Count"}
    for name in ("ops_summary_by_category", "ops_summary", "ops_unique_args"):
        rows = found[name]
        assert sum(row[counts.get(name, "operation_count")] for row in rows) == 5
        assert sum(row["Percentage (%)"] for row in rows) == near(100)
        assert rows[-1]["Cumulative Percentage (%)"] == near(100)
    by_category = column(
        found["ops_summary_by_category"], "total_direct_kernel_time_ms", "op category"
    )
    assert by_category == {"GEMM": 0.024, "other": 0.010, "elementwise": 0.006, "memcpy": 0.005}


def test_equal_arguments_are_one_row_of_literals(run: Run, trace: Path) -> None:
    first = sheets(run, trace)["ops_unique_args"][0]
    assert (first["name"], first["operation_count"]) == ("aten::mm", 2)
    assert literal_eval(first["Input Dims"]) == ((8, 16), (16, 4))
    assert literal_eval(first["Input type"]) == ("float", "float")
    assert literal_eval(first["Concrete Inputs"]) == ("", "")
    words = ("mean", "median", "min", "max", "sum")
    assert [first[f"total_direct_kernel_time_{w}"] for w in words] == [12, 12, 10, 14, 24]
    assert first["total_direct_kernel_time_std"] == near(8**0.5)


def test_kernels_of_equal_instances_are_lined_up(run: Run, tmp_path: Path) -> None:
    """The first instance launches a, b, a; the second, later, b, a."""
    events = [
        op("mine::step", 0, 20),
        call("cudaLaunchKernel", 1, 1, 1),
        call("cudaLaunchKernel", 3, 1, 2),
        call("cudaLaunchKernel", 5, 1, 3),
        op("mine::step", 30, 20),
        call("cudaLaunchKernel", 31, 1, 4),
        call("cudaLaunchKernel", 33, 1, 5),
        kernel("a" * 70, 60, 4, 1),
        kernel("b", 64, 3, 2),
        kernel("a" * 70, 67, 9, 3),
        kernel("b", 80, 5, 4),
        kernel("a" * 70, 90, 6, 5),
    ]
    trace = write_json(tmp_path / "slots.pt.trace.json", events)
    [row] = sheets(run, trace, "--sheet", "ops_unique_args")["ops_unique_args"]
    found = literal_eval(row["kernel_details_summary"])
    assert [(s["name"][0], s["count"], s["total_duration_us"]) for s in found] == [
        ("a", 2, 10.0),
        ("b", 2, 8.0),
        ("a", 1, 9.0),
    ]
    assert found[0] == {
        "name": "a" * 70,
        "stream": 7,
        "count": 2,
        "total_duration_us": 10.0,
        "mean_duration_us": 5.0,
        "median_duration_us": 5.0,
        "std_dev_duration_us": near(2**0.5),
        "min_duration_us": 4.0,
        "max_duration_us": 6.0,
    }
    assert found[2]["std_dev_duration_us"] is None
    short = literal_eval(row["trunc_kernel_details"])
    assert short[0] == {"name": "a" * 64 + "...", "stream": 7, "mean_duration_us": 5.0}


def test_kernels_have_the_launcher_as_parent(run: Run, trace: Path) -> None:
    rows = sheets(run, trace)["kernel_summary"]
    found = {r["Kernel name"]: (r["Parent op category"], r["Parent cpu_op"]) for r in rows}
    assert found == {
        "gemm": ("GEMM", "aten::mm"),
        ALLREDUCE: ("record_param_comms", "record_param_comms"),
        "lost": ("unlinked", None),
        "void at::native::vectorized_elementwise_kernel<4>": ("elementwise", "aten::add"),
    }
    assert rows[0]["Kernel duration (µs)_sum"] == 24.0
    assert rows[0]["Percent of kernels time (%)"] == near(40)
    assert rows[0]["Percent of total time (%)"] == near(100 * 24 / 70)


def test_short_kernels_are_those_below_the_limit(run: Run, trace: Path) -> None:
    found = sheets(run, trace, "--short-us", "14")
    rows = found["short_kernels_summary"]
    assert column(rows, "Short Kernel count", "Kernel name", "Parent cpu_op") == {
        ("gemm", "aten::mm"): 1,
        ("lost", None): 1,
        ("void at::native::vectorized_elementwise_kernel<4>", "aten::add"): 1,
    }
    bins = found["short_kernel_histogram"]
    assert len(bins) == 100
    assert (bins[0]["bin_start"], bins[-1]["bin_end"], bins[-1]["count"]) == (6.0, 10.0, 2)
    assert sum(row["count"] for row in bins) == sum(row["Short Kernel count"] for row in rows)


def test_compat_leaves_out_lone_work_and_our_columns(run: Run, trace: Path) -> None:
    found = sheets(run, trace, "--compat", "tracelens")
    assert list(found["gpu_timeline"][0]) == ["type", "time ms", "percent"]
    names = [row["name"] for row in found["ops_summary"]]
    assert names == ["aten::mm", "aten::add", "cudaMemcpyAsync"]
    assert "ts_ns" not in found["ops"][0]
    lost = [r for r in found["kernel_summary"] if r["Kernel name"] == "lost"]
    assert (lost[0]["Parent op category"], lost[0]["Parent cpu_op"]) == (None, None)


def test_linked_only_leaves_lone_work_out_of_every_sheet(run: Run, trace: Path) -> None:
    found = sheets(run, trace, "--linked-only")
    assert column(found["gpu_timeline"], "time ms", "type")["total_time"] == 0.052
    assert "linked time ms" not in found["gpu_timeline"][0]
    names = {row["Kernel name"] for row in found["kernel_summary"]}
    assert names == {"gemm", ALLREDUCE, "void at::native::vectorized_elementwise_kernel<4>"}


def test_each_device_has_rows_of_its_own(run: Run, tmp_path: Path) -> None:
    events = [
        op("aten::mm", 0, 20),
        call("cudaLaunchKernel", 1, 2, 1),
        call("cudaLaunchKernel", 5, 2, 2),
        kernel("gemm", 30, 10, 1),
        kernel("gemm", 30, 6, 2, device=1),
    ]
    found = sheets(run, write_json(tmp_path / "two.pt.trace.json", events))
    times = column(found["gpu_timeline"], "time ms", "device", "type")
    assert (times[0, "busy_time"], times[1, "busy_time"]) == (0.010, 0.006)
    rows = found["ops_summary"]
    assert [(r["device"], r["total_direct_kernel_time_sum"]) for r in rows] == [(0, 10.0), (1, 6.0)]


def test_files_hold_the_sheets(run: Run, trace: Path, tmp_path: Path) -> None:
    folder, file = tmp_path / "out", tmp_path / "out.json"
    result = run("report", trace, "--csv", folder, "--json", file)
    assert (result.exit_code, result.stdout) == (0, "")
    families = {"GEMM", "BinaryElementwise"}
    others = {"report_info", "data_quality", "coll_analysis"}
    made = {*SHEET_NAMES, *families, *others} - {"nn_modules"}
    assert {path.stem for path in folder.iterdir()} == made
    with (folder / "ops_summary.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    stored = json.loads(file.read_text(encoding="utf-8"))["sheets"]["ops_summary"]
    assert [r["name"] for r in rows] == [r["name"] for r in stored["rows"]]
    assert stored["units"]["total_direct_kernel_time_ms"] == "ms"


def test_text_and_markdown_show_the_first_rows(run: Run, trace: Path) -> None:
    text = run("report", trace, "--sheet", "ops_summary", "--limit", "2").stdout
    assert "aten::mm" in text
    assert "aten::add" not in text
    assert "… 2 more rows" in text
    markdown = run("report", trace, "--sheet", "ops_summary", "--md").stdout
    assert markdown.startswith("## ops_summary\n\n| name |")
    assert "| `aten::mm` | 24.000 |" in markdown


def test_a_trace_without_operators_says_what_it_lacks(run: Run, export: Path) -> None:
    result = run("report", export, "--json", "-")
    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert set(document["missing"]) == {"ops_summary_by_category", "ops_summary",
                                        "ops_unique_args", "unified_perf_summary",
                                        "ops"}  # fmt: skip
    assert result.stderr == (
        "dctx: not made: ops_summary_by_category, ops_summary, ops_unique_args, "
        "unified_perf_summary, ops: "
        "the trace records no operators; torch.profiler does.\n"
    )
    kernels = document["sheets"]["kernel_summary"]["rows"]
    assert "Parent cpu_op" not in kernels[0]
    assert {r["Kernel name"]: r["Kernel duration (µs)_count"] for r in kernels} == {
        "gemm<float>": 2,
        "copy_kernel<int>": 1,
    }


def test_a_sheet_that_cannot_be_made_is_an_error_when_asked_for(run: Run, export: Path) -> None:
    result = run("report", export, "--sheet", "ops")
    assert result.exit_code == 2
    assert "ops cannot be made: the trace records no operators" in result.stderr


def test_unknown_sheets_and_folders_that_cannot_be_made_are_told(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    unknown = run("report", trace, "--sheet", "nothing")
    assert unknown.exit_code == 2
    assert "There is no sheet 'nothing'" in unknown.stderr
    (tmp_path / "file").write_text("")
    blocked = run("report", trace, "--csv", tmp_path / "file" / "below")
    assert blocked.exit_code == 2
    assert "cannot be written" in blocked.stderr


def test_a_trace_without_gpu_work_is_no_failure(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "cpu.pt.trace.json", [op("aten::mm", 0, 20)])
    result = run("report", trace)
    assert result.exit_code == 0
    assert "holds no GPU events" in result.stderr
