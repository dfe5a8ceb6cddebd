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
