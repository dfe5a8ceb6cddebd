"""Exports of Nsight Compute: each page, and damaged ones."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dctx.analyzers.occupancy import occupancy, waves
from dctx.analyzers.stall_reasons import REASONS, stalls_of
from dctx.ingest.errors import TraceError
from dctx.ingest.ncu import read_ncu
from tests.near import near

HEAD = '"ID","Process ID","Kernel Name","Block Size","Grid Size","Device","CC"'
ROW = '"0","7","void ns::gemm<float>(int)","(128, 1, 1)","(8, 2, 1)","0","9.0"'
RAW = f"""==PROF== Connected to process 7
{HEAD},"gpu__time_duration.sum","smsp__issue_active.avg.per_cycle_active",\
"smsp__pcsamp_warps_issue_stalled_long_scoreboard",\
"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",\
"smsp__pcsamp_warps_issue_stalled_wait","smsp__pcsamp_warps_issue_stalled_selected"
"","","","","","","","ns","inst/cycle","warp","warp","warp","warp"
{ROW},"1,234.5","0.31","6,000","5000","2000","2000"
"1"{ROW[3:]},"99","0.5","n/a","0","0","0"
"""
DETAILS = f"""{HEAD},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name",\
"Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
{ROW},"Occupancy","Achieved Occupancy","%","96.26"
{ROW},"Launch Statistics","Function Cache Configuration","","CachePreferNone"
{ROW},"Occupancy","","","","Limiter","OPT","Fewer registers.","local","12.5"
"""
SOURCE = """"Kernel Name","gemm"
"#","Address","Source","Warp Stall Sampling (All Samples)",\
"Warp Stall Sampling (Not-issued Samples)"\
,"stall_long_sb","stall_wait","stall_selected","stall_long_sb (Not Issued)"
"1","0x10","LDG.E R2, [R4.64]","11","10","10","0","1","9"
"2","0x20","FFMA R2, R2, R3, R4","9","0","5","2","2","0"
"3","0x30","EXIT","0","0","0","0","0","0"
"Kernel Name","other"
"#","Address","Source","Warp Stall Sampling (All Samples)",\
"Warp Stall Sampling (Not-issued Samples)"\
,"stall_barrier"
"1","0x10","BAR.SYNC","4","4","4"
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "kernels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_raw_page(tmp_path: Path) -> None:
    first, second = read_ncu(_file(tmp_path, RAW))
    assert (first.grid, first.block) == ((8, 2, 1), (128, 1, 1))
    assert first.metrics["gpu__time_duration.sum"] == 1234.5
    assert first.units["gpu__time_duration.sum"] == "ns"
    assert first.stalls == {"long_scoreboard": 6000, "wait": 2000, "selected": 2000}
    samples, stalls = stalls_of(first.stalls)
    assert samples == 10_000
    assert [(one.reason, one.share) for one in stalls] == [
        ("long_scoreboard", 0.75),
        ("wait", 0.25),
    ]
    assert "smsp__pcsamp_warps_issue_stalled_long_scoreboard" not in second.metrics  # n/a is no 0


def test_details_page(tmp_path: Path) -> None:
    [kernel] = read_ncu(_file(tmp_path, DETAILS))
    assert kernel.metrics == {"Occupancy: Achieved Occupancy": 96.26}
    [rule] = kernel.rules
    assert (rule.name, rule.text, rule.speedup_percent) == ("Limiter", "Fewer registers.", 12.5)
    assert kernel.stalls == {}


def test_source_page(tmp_path: Path) -> None:
    gemm, other = read_ncu(_file(tmp_path, SOURCE))
    assert gemm.stalls == {"long_scoreboard": 15, "wait": 2, "selected": 3}
    assert sum(gemm.stalls.values()) == 11 + 9  # the column of all samples
    assert [line.address for line in gemm.lines] == ["0x10", "0x20", "0x30"]
    assert gemm.lines[0].stalls == {"long_scoreboard": 10, "selected": 1}
    assert (other.name, other.stalls) == ("other", {"barrier": 4})
    assert set(gemm.stalls) - {"selected"} <= set(REASONS)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no table of Nsight Compute's CSV export"),
        ("a,b\n1,2\n", "no table of Nsight Compute's CSV export"),
        (RAW[: RAW.index(',"6,000"')], r"line 4\): .*cells where the table has 13 columns"),
        (SOURCE[: SOURCE.index(',"5","2","2"')], "cells where the table has 9 columns"),
        (RAW[: RAW.index('000","5000"')], "line 4"),
    ],
)
def test_damaged_exports_are_told(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TraceError, match=why):
        read_ncu(_file(tmp_path, text))


def test_binary_reports_without_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    path = tmp_path / "k.ncu-rep"
    path.write_bytes(b"NVR\x00\x01")
    with pytest.raises(TraceError, match="pip install ncu-report; or ncu --import k"):
        read_ncu(path)


def test_other_bytes(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="no text file"):
        read_ncu(path)


@pytest.mark.skipif(find_spec("ncu_report") is None, reason="needs NVIDIA's module ncu_report")
def test_damaged_report(tmp_path: Path) -> None:
    path = tmp_path / "k.ncu-rep"
    path.write_bytes(b"NVR\x00\x01")
    with pytest.raises(TraceError, match=r"^\S+k\.ncu-rep: \w"):
        read_ncu(path)


@pytest.mark.skipif(
    "DCTX_TRACES" not in os.environ or find_spec("ncu_report") is None,
    reason="needs recorded traces and NVIDIA's module ncu_report",
)
def test_recorded_report() -> None:
    """Limits and waves of the report are what we compute from each launch (Turing)."""
    kernels = read_ncu(Path(os.environ["DCTX_TRACES"]) / "ncu" / "mojo-kernel.ncu-rep")
    assert [kernel.name.partition("(")[0] for kernel in kernels][1:] == [
        "mathKernel1",
        "mathKernel2",
        "mathKernel3",
    ]
    for kernel in kernels:
        told = kernel.metrics
        assert kernel.grid is not None
        assert kernel.block is not None
        x, y, z = kernel.block
        ours = occupancy((7, 5), x * y * z, int(told["launch__registers_per_thread"]), 0)
        assert ours.by_registers == told["launch__occupancy_limit_registers"]
        assert ours.by_warps == told["launch__occupancy_limit_warps"]
        assert ours.by_blocks == told["launch__occupancy_limit_blocks"]
        multiprocessors = 24  # of a GTX 1660 Ti
        filled = waves(kernel.grid, ours.blocks, multiprocessors)
        assert filled.waves == near(told["launch__waves_per_multiprocessor"])


@pytest.mark.skipif("DCTX_TRACES" not in os.environ, reason="needs recorded traces")
def test_recorded_export() -> None:
    """Its own occupancy, limits and waves are what we compute from its launch."""
    folder = Path(os.environ["DCTX_TRACES"]) / "ncu"
    [kernel] = read_ncu(folder / "t4-copy-blocked-details.csv")
    assert len(kernel.rules) == 11
    told = kernel.metrics
    assert len(told) == 72 - 1  # all but the one that is a word
    assert (kernel.grid, kernel.block) == ((1024, 1, 1), (256, 1, 1))
    registers = int(told["Launch Statistics: Registers Per Thread"])
    ours = occupancy((7, 5), 256, registers, 0)
    assert ours.by_registers == told["Occupancy: Block Limit Registers"]
    assert ours.by_warps == told["Occupancy: Block Limit Warps"]
    assert ours.by_blocks == told["Occupancy: Block Limit SM"]
    assert 100 * ours.share == told["Occupancy: Theoretical Occupancy"]
    multiprocessors = int(told["Launch Statistics: # SMs"])
    assert kernel.grid is not None
    filled = waves(kernel.grid, ours.blocks, multiprocessors)
    assert filled.waves == told["Launch Statistics: Waves Per SM"]
