"""`dctx report`: what ran beside operators, and where they were called from."""

import json
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kineto_files import call, kernel, op, python, write_json
from tests.near import near

MM: dict[str, Any] = {
    "Input Dims": [[8, 16], [16, 4]],
    "Input type": ["float", "float"],
    "Input Strides": [[16, 1], [4, 1]],
    "Concrete Inputs": ["", ""],
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two equal products, one beside a kernel of another stream; all within a module."""
    events = [
        python("job/train.py(7): main", 0, 200, 1, 0),
        python("nn.Module: Net_3", 1, 190, 2, 1),
        python("torch/nn/modules/module.py(5): _call_impl", 2, 180, 3, 2),
        python("job/model.py(9): forward", 3, 170, 4, 3),
        python("torch/_ops.py(1): __call__", 4, 160, 5, 4),
        op("aten::mm", 10, 10, **MM),
        call("cudaLaunchKernel", 12, 2, 1),
        kernel("gemm", 30, 10, 1),
        op("aten::mm", 40, 10, **MM),
        call("cudaLaunchKernel", 42, 2, 2),
        kernel("gemm", 60, 10, 2),
        op("mine::copy_in", 52, 6),
        call("cudaLaunchKernel", 53, 2, 3),
        kernel("copy_in", 64, 20, 3, stream=9),
        op("aten::split", 62, 20),
        call("cudaLaunchKernel", 64, 2, 4),
        kernel("first", 100, 5, 4),
        call("cudaLaunchKernel", 70, 2, 5),
        kernel("second", 110, 5, 5),
    ]
    return write_json(tmp_path / "run.pt.trace.json", events)


def sheets(run: Run, trace: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    result = run("report", trace, "--json", "-", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["sheets"]
    return {name: sheet["rows"] for name, sheet in found.items()}


def test_rows_are_told_apart_by_what_ran_beside_them(run: Run, trace: Path) -> None:
    found = sheets(run, trace, "--overlap-info", "--call-stacks")
    for name, column in (
        ("ops_unique_args_kl_overlap", "overlapping_kernel_names"),
        ("unified_perf_summary_kl_overlap", "overlapping_kernel_names"),
        ("GEMM_kl_overlap", "overlapping_kernel_names_first"),
    ):
        base = [row for row in found[name.removesuffix("_kl_overlap")] if row["name"] == "aten::mm"]
        rows = [row for row in found[name] if row["name"] == "aten::mm"]
        assert (len(base), len(rows)) == (1, 2)
        assert {tuple(literal_eval(row[column])) for row in rows} == {(), ("copy_in",)}
        [beside] = [row for row in rows if literal_eval(row[column])]
        assert beside["overlap_pct_mean"] == near(60)  # 64 to 70 of 60 to 70
        [other] = literal_eval(beside["overlapping_kernels_details__summarize_kernel_stats"])
        assert (other["name"], other["count"], other["total_duration_us"]) == ("copy_in", 1, 20.0)
        assert list(base[0]) == [title for title in rows[0] if "overlap" not in title]
    [details] = [row for row in found["GEMM"] if row["name"] == "aten::mm"]
    [slot] = literal_eval(details["kernel_details__summarize_kernel_stats"])
    assert (slot["name"], slot["count"]) == ("gemm", 2)

    by_name = {row["name"]: row for row in found["unified_perf_summary"]}
    assert by_name["aten::mm"]["entry_point"] == "job/model.py(9): forward"
    outer = "job/train.py(7): main => nn.Module: Net => torch/nn/modules/module.py(5): _call_impl"
    inner = f"{outer} => job/model.py(9): forward => torch/_ops.py(1): __call__"
    assert by_name["aten::mm"]["call_stack_full"] == f"{inner} => aten::mm => gemm"
    split = by_name["aten::split"]["call_stack_full"]
    assert split == f"{inner} => aten::split => {{first | second}}"
    unique = {row["name"]: row for row in found["ops_unique_args"]}
    assert unique["aten::mm"]["call_stack"] == f"{inner} => aten::mm"
    assert unique["aten::split"]["first_occurrence_time"] == near(52.0)


def test_the_function_below_an_operator_stands_for_it(run: Run, tmp_path: Path) -> None:
    events = [
        op("mine::norm", 10, 90),
        python("mine.py(3): _norm_impl", 12, 80, 1, 0),
        op("aten::mul", 20, 10),
        call("cudaLaunchKernel", 22, 2, 1),
        kernel("mul", 120, 10, 1),
    ]
    path = write_json(tmp_path / "run.pt.trace.json", events)
    rows = sheets(run, path, "--sheet", "unified_perf_summary", "--call-stacks")
    [row] = rows["unified_perf_summary"]
    # aten::mul has a model of its own, so it is the row; nothing above it does more than pass on.
    assert row["name"] in ("aten::mul", "mine::norm")
    assert row["entry_point"] == "mine.py(3): _norm_impl"
