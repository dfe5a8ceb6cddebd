"""`dctx kernel`, on a small export and the demo trace."""

import json
from pathlib import Path

import pytest

from dctx.tui.demo import demo_trace
from tests.cli.conftest import Run
from tests.rocm_files import (
    rocprof_counted,
    rocprof_dispatch,
    rocprof_document,
    rocprof_process,
    write_sampled,
)


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
    assert found["schema"] == "kernel/2"
    assert sum(shape["count"] for shape in found["shapes"]) == found["kernel"]["count"] == 640
    assert sum(shape["sum_ns"] for shape in found["shapes"]) == found["kernel"]["sum_ns"]
    assert sum(found["durations"]["counts"]) == 640
    assert found["roofline"] is None
    assert found["no_roofline"] == "no model knows the operators that launch it"
    assert {shape["occupancy"]["blocks_by_registers"] for shape in found["shapes"]} == {2}


def test_unknown_hardware_and_names(run: Run, export: Path) -> None:
    result = run("kernel", export, "gemm")
    assert "Occupancy: n/a, the trace does not tell" in result.output
    result = run("kernel", export, "softmax")
    assert result.exit_code == 2
    assert "has no kernel with 'softmax' in its name. Give a part of one: " in result.output
    assert "gemm" in result.output
    result = run("kernel", demo_trace().with_name("torch-cpu-train.json.gz"), "gemm")
    assert result.exit_code == 2
    assert "torch-cpu-train.json.gz has no kernels. dctx info" in result.output
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
    assert measured["samples"]["samples_by_reason"] == {"barrier": 30, "selected": 10}
    assert found["samples"] is None
    assert measured["shape_in_trace"] is True
    result = run("kernel", export, "copy_kernel", "--ncu", file)
    assert result.exit_code == 2
    assert "copy_kernel: What --ncu gives has no launch of it. It has: gemm." in result.output


def test_sampled_while_it_was_recorded(run: Run, tmp_path: Path) -> None:
    path = write_sampled(tmp_path, stalled=150, issued=50)
    (tmp_path / "a.hip").write_text("\n" * 15 + "  sum += p[i];\n", encoding="utf-8")
    result = run("kernel", path, "gemm", "--source-map", f"/src={tmp_path}")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "200 samples, 25.0 % of them issue an instruction" in text
    assert "waits for memory (s_waitcnt). Helps: load earlier" in text
    assert "100.0 % waitcnt a.hip:16 sum += p[i];" in text
    assert "100.0 % waitcnt 0x40 s_waitcnt vmcnt(0)" in text
    assert "n/a, the trace has no samples" not in text
    found = json.loads(run("kernel", path, "gemm", "--json").output)["samples"]
    assert (found["samples"], found["samples_by_reason"]["waitcnt"]) == (200, 150)
    [place] = found["places"]
    assert (place["file"], place["line"], place["at"]) == ("/src/a.hip", 16, "0x40")


def test_source_map_that_is_none(run: Run, export: Path) -> None:
    result = run("kernel", export, "gemm", "--source-map", "here")
    assert result.exit_code == 2
    assert "'here' is not THERE=HERE" in result.output


def test_counters_of_launches(run: Run, tmp_path: Path) -> None:
    dispatches = [rocprof_dispatch(8, at, at + 100, at) for at in (1000, 2000)]
    other = rocprof_dispatch(9, 3000, 3100, 7)
    counted = [
        rocprof_counted(dispatches[0], (5, 30.0), (5, 10.0)),
        rocprof_counted(dispatches[1], (5, 80.0)),
        rocprof_counted(other, (5, 999.0)),
    ]
    process = rocprof_process(
        11,
        {"kernel_dispatch": [*dispatches, other]},
        callback_records={"counter_collection": counted},
    )
    path = tmp_path / "counted.json"
    path.write_bytes(rocprof_document(process))
    result = run("kernel", path, "gemm")
    assert "60.0 40.0 80.0 2 SQ_WAVES" in " ".join(result.output.split())
    found = json.loads(run("kernel", path, "gemm", "--json").output)["counters"]
    assert found == [{"name": "SQ_WAVES", "launches": 2, "mean": 60.0, "min": 40.0, "max": 80.0}]
