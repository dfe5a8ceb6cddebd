"""A workbook read with another library: its columns are those that are documented, in order, and
its cells are plain numbers and texts that Python's and JSON's readers take."""

from ast import literal_eval
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from tests.cli.conftest import Run
from tests.kineto_files import call, kernel, op, write_json

_LIST = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
_WHERE = ("process_name", "process_label", "thread_name")
_FIVE = ("mean", "median", "std", "min", "max")
_KERNELS = ("kernel_details_summary", "trunc_kernel_details")
_SHARES = ("Percentage (%)", "Cumulative Percentage (%)")
_DURATION = "Kernel duration (µs)_"


def _five(name: str) -> list[str]:
    return [f"{name}_{word}" for word in _FIVE]


COLUMNS: dict[str, list[str]] = {
    "gpu_timeline": ["type", "time ms", "percent"],
    "ops_summary_by_category": ["op category", "Count", "total_direct_kernel_time_ms", *_SHARES],
    "ops_summary": [
        "name", "total_direct_kernel_time_sum", "total_subtree_kernel_time_sum",
        "total_direct_kernel_time_ms", "total_subtree_kernel_time_ms", "Count", "Categories",
        *_SHARES,
    ],
    "ops_unique_args": [
        "name", "op category", *_WHERE, *_LIST, "operation_count",
        *(f"total_{of}_kernel_time_{word}" for word in (*_FIVE, "sum")
          for of in ("direct", "subtree")),
        "ex_UID", *_KERNELS, *_SHARES,
    ],
    "unified_perf_summary": [
        "name", "op category", *_WHERE, *_LIST, "ex_UID", "operation_count", "total_duration_us",
        "mean_duration_us", "std_duration_us", "GFLOPS", "Data Moved (MB)", "FLOPS/Byte",
        "Compute Spec", "Roofline Bound",
        *(f"{of}_{word}" for of in ("TB/s", "TFLOPS/s", "Kernel Time (µs)")
          for word in ("mean", "std")),
        "Kernel Time (µs)_sum",
        *(f"{of}_{word}" for of in ("duration_us", "TB/s", "TFLOPS/s")
          for word in ("median", "min", "max")),
        "Roofline Time (µs)_first", *_five("Pct Roofline"),
        *(f"Kernel Time (µs)_{word}" for word in ("median", "min", "max")),
        *_KERNELS, "perf_params", "has_perf_model", *_SHARES,
        "TFLOPS/s_agg", "TB/s_agg", "Roofline Basis", "model_note",
    ],
    "GEMM": [
        "name",
        *(f"param: {p}" for p in ("M", "N", "K", "bias", "stride_A", "stride_B", "dtype_A_B", "B")),
        "GFLOPS_first", "Data Moved (MB)_first", "FLOPS/Byte_first", *_five("TB/s"),
        *_five("TFLOPS/s"), *(f"{name}_first" for name in _WHERE), "Compute Spec",
        "Roofline Time (µs)_first", "Roofline Bound_first", *_five("Pct Roofline"),
        "kernel_details__summarize_kernel_stats", "trunc_kernel_details",
        *(f"{name}_first" for name in _LIST), *_five("Kernel Time (µs)"), "Kernel Time (µs)_sum",
        "name_count", "UID_first", "TFLOPS/s_agg", "TB/s_agg", "Roofline Basis", "model_note",
    ],
    "kernel_summary": [
        "Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream",
        *(_DURATION + word for word in ("sum", "count", "mean", "min", "max")),
        "Percent of kernels time (%)", "Percent of total time (%)",
        *(_DURATION + word for word in ("median", "std")),
    ],
    "short_kernel_histogram": ["bin_start", "bin_end", "count"],
    "short_kernels_summary": [
        "Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs", "Kernel name",
        "Short Kernel duration (µs) sum", "Short Kernel count", "Short Kernel duration (µs) mean",
        "Short Kernel duration (µs) percent of total time",
    ],
}  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    arguments: dict[str, Any] = {
        "Input Dims": [[16, 8], [8, 4]],
        "Input type": ["c10::BFloat16", "c10::BFloat16"],
        "Input Strides": [[8, 1], [1, 8]],
        "Concrete Inputs": ["", ""],
    }
    events = [
        event
        for number in range(2)
        for event in (
            op("aten::mm", 50 * number, 10, **arguments),
            call("cudaLaunchKernel", 50 * number + 2, 2, number),
            kernel("gemm", 50 * number + 20, 5 + number, number),
        )
    ]
    return write_json(tmp_path / "trace.json", events)


def test_columns_stand_in_their_order_and_cells_are_plain(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    result = run("report", trace, "--arch", "H100", "--xlsx", tmp_path / "w.xlsx")
    assert result.exit_code == 0, result.output
    book: Any = openpyxl.load_workbook(tmp_path / "w.xlsx", read_only=True)
    pages = {page.title: list(page.iter_rows(values_only=True)) for page in book.worksheets}
    for name, columns in COLUMNS.items():
        head, *rows = pages[name]
        # Where no process has a label there is no column of them.
        assert list(head) == [c for c in columns if not c.startswith("process_label")], name
        assert rows, name
        for row in rows:
            for title, value in zip(head, row, strict=True):
                assert value is None or isinstance(value, int | float | str | bool), title
                if value is not None and any(
                    word in title
                    for word in ("Input ", "Concrete", "details", "perf_params", "Categories")
                ):
                    literal_eval(str(value))
    [row] = pages["GEMM"][1:]
    assert row[:4] == ("aten::mm", 16, 4, 8)
    assert {type(value) for value in row[1:4]} == {int}
