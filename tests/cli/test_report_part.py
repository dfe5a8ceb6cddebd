"""`dctx report` of a part of a trace: what it holds, and that parts sum to the whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kineto_files import call, event, kernel, op, python, write_json
from tests.near import near


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two steps of 100 µs; the second kernel is launched in the first and runs into the second."""
    events = [
        event("user_annotation", "ProfilerStep#7", 0, 100),
        event("user_annotation", "ProfilerStep#8", 100, 100),
        python("nn.Module: Net_0", 5, 90, 1),
        op("aten::mm", 10, 10),
        call("cudaLaunchKernel", 12, 2, 1),
        kernel("gemm", 20, 30, 1),
        op("aten::mm", 60, 10),
        call("cudaLaunchKernel", 62, 2, 2),
        kernel("gemm", 90, 40, 2),
        python("nn.Module: Net_0", 105, 90, 1),
        op("aten::add", 110, 10),
        call("cudaLaunchKernel", 112, 2, 3),
        kernel("add", 140, 20, 3),
        kernel("lost", 170, 10, None),
        kernel("ncclDevKernel_AllReduce", 150, 25, None),
    ]
    return write_json(tmp_path / "run.pt.trace.json", events)


def sheets(run: Run, trace: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    result = run("report", trace, "--json", "-", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["sheets"]
    return {name: sheet["rows"] for name, sheet in found.items()}


def times(found: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    return {row["type"]: row["time ms"] for row in found["gpu_timeline"]}


def test_a_step_holds_what_was_launched_in_it(run: Run, trace: Path) -> None:
    found = sheets(run, trace, "--step", "7")
    ops = {row["name"]: row["total_direct_kernel_time_sum"] for row in found["ops_summary"]}
    assert ops == {"aten::mm": 70.0}
    assert [row["Kernel name"] for row in found["kernel_summary"]] == ["gemm"]
    [module] = found["nn_modules"]
    assert (module["Count"], module["host_time_us"], module["gpu_time_us"]) == (1, 90.0, 70.0)
    # The kernel from 90 to 130 is cut where the step ends, at 100.
    found_times = times(found)
    assert found_times["computation_time"] == near(0.040)
    assert found_times["total_time"] == near(0.100)
    assert found_times["idle_time"] == near(0.060)
    about = {row["key"]: row["value"] for row in found["report_info"]}
    assert about["part"].startswith("step 7: ")


@pytest.mark.parametrize("part", [("--step", "{}"), ("--annotation", "Step#{}$")])
def test_parts_sum_to_the_whole(run: Run, trace: Path, part: tuple[str, str]) -> None:
    option, form = part
    first, second = (sheets(run, trace, option, form.format(n), "--idle-gaps") for n in (7, 8))
    # No step ends before the last kernel does: both cover all of the time from 0 to 200.
    whole = sheets(run, trace, "--range", "0:0.0002", "--idle-gaps")
    for name in times(whole):
        assert times(first)[name] + times(second)[name] == near(times(whole)[name]), name
    for sheet, column in (
        ("ops_summary", "total_direct_kernel_time_sum"),
        ("ops_summary", "Count"),
        ("unified_perf_summary", "Kernel Time (µs)_sum"),
        ("kernel_summary", "Kernel duration (µs)_sum"),
        ("nn_modules", "gpu_time_us"),
        ("nn_modules", "Count"),
        ("idle_gaps", "length_us"),
    ):
        parts = sum(row[column] for found in (first, second) for row in found[sheet])
        assert parts == near(sum(row[column] for row in whole[sheet])), (sheet, column)
    for found in (first, second, whole):  # also before the first work and behind the last
        assert sum(r["length_us"] for r in found["idle_gaps"]) == near(
            1e3 * times(found)["idle_time"]
        )
    edges = whole["idle_gaps"]
    assert (edges[0]["before"], edges[0]["after"], edges[0]["cause"]) == (
        None,
        "gemm",
        "host_bound",
    )
    assert (edges[-1]["before"], edges[-1]["after"]) == ("lost", None)
    assert edges[-1]["cause"] == "unknown"
    assert "coll_analysis" not in first
    assert second["coll_analysis"][0]["dur_sum"] == 25.0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--step", "3"), "those of this trace go from 7 to 8"),
        (("--range", "5:1"), "a span in seconds"),
        (("--range", "1:2"), "outside the trace"),
        (("--annotation", "("), "no regular expression"),
        (("--annotation", "nowhere"), "no annotation holds"),
        (("--step", "7", "--range", "0:1"), "one of --range, --step and --annotation"),
    ],
)
def test_a_part_that_is_not_there_is_told(
    run: Run, trace: Path, options: tuple[str, ...], why: str
) -> None:
    result = run("report", trace, *options)
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_doubtful_ends_are_cut_where_the_next_work_begins(run: Run, tmp_path: Path) -> None:
    events = [kernel("gemm", 10 * i, 5, None) for i in range(9)]
    events += [kernel("gemm", 100, 2000, None), kernel("gemm", 150, 5, None)]
    trace = write_json(tmp_path / "run.pt.trace.json", events)
    told = sheets(run, trace, "--sheet", "kernel_summary", "--sheet", "data_quality")
    cut = sheets(run, trace, "--sheet", "kernel_summary", "--clip-overrun")
    [row] = [row for row in told["data_quality"] if row["check"] == "overruns"]
    assert (row["count"], row["affected_us"]) == (1, 1950.0)
    [whole], [rest] = told["kernel_summary"], cut["kernel_summary"]
    assert whole["Kernel duration (µs)_sum"] - rest["Kernel duration (µs)_sum"] == near(1950.0)
