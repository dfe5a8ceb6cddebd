"""`dctx kernel`, on a small export and the demo trace."""

import json
from pathlib import Path

import pytest

from dctx.tui.demo import demo_trace
from tests.cli.conftest import Run


@pytest.mark.usefixtures("lasting_traces")
def test_panel_of_the_demo(run: Run) -> None:
    result = run("kernel", demo_trace(), "flash_fwd")
    assert result.exit_code == 0, result.output
    assert "Occupancy at most 12.5 %, limited by registers" in result.output
    assert "ncu -k 'regex:^flash_fwd_kernel$' -c 5 --set full" in result.output


@pytest.mark.usefixtures("lasting_traces")
def test_json_of_the_demo(run: Run) -> None:
    result = run("kernel", demo_trace(), "flash_fwd_kernel", "--json")
    found = json.loads(result.output)
    assert found["schema"] == "kernel/1"
    assert sum(shape["count"] for shape in found["shapes"]) == found["kernel"]["count"] == 640
    assert sum(shape["sum_ns"] for shape in found["shapes"]) == found["kernel"]["sum_ns"]
    assert sum(found["durations"]["counts"]) == 640
    assert {shape["occupancy"]["blocks_by_registers"] for shape in found["shapes"]} == {2}


def test_unknown_hardware_and_names(run: Run, export: Path) -> None:
    result = run("kernel", export, "gemm")
    assert "Occupancy: n/a, the trace does not tell" in result.output
    result = run("kernel", export, "softmax")
    assert result.exit_code == 2
    assert "has no kernel with 'softmax' in its name" in result.output
    result = run("kernel", export, "m")
    assert result.exit_code == 0
    result = run("kernel", export, "e")
    assert result.exit_code == 2
    assert "2 kernels have 'e' in their names. Give more of one: " in result.output


def test_measured_by_ncu(run: Run, export: Path, tmp_path: Path) -> None:
    file = tmp_path / "k.csv"
    head = '"ID","Kernel Name","Block Size","Grid Size"'
    stalls = [f'"smsp__pcsamp_warps_issue_stalled_{name}"' for name in ("barrier", "selected")]
    row = '"0","gemm","(128, 1, 1)","(4, 1, 1)","30","10"'
    units = '"","","","","warp","warp"'
    file.write_text("\n".join((f"{head},{','.join(stalls)}", units, row)), encoding="utf-8")
    result = run("kernel", export, "gemm", "--ncu", file)
    assert result.exit_code == 0, result.output
    assert "40 samples, 25.0 % of them issue an instruction" in " ".join(result.output.split())
    assert "no launch of this shape" not in result.output
    assert "waits for other warps of its block at a barrier. Helps: fewer barriers" in (
        " ".join(result.output.split())
    )
    found = json.loads(run("kernel", export, "gemm", "--ncu", file, "--json").output)
    [measured] = found["measured"]
    assert measured["samples_by_reason"] == {"barrier": 30, "selected": 10}
    assert measured["shape_in_trace"] is True
    result = run("kernel", export, "copy_kernel", "--ncu", file)
    assert result.exit_code == 2
    assert "has no launch of copy_kernel. It has: gemm" in result.output
