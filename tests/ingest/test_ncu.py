"""Exports of Nsight Compute: each page, and damaged ones."""

import csv
import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dctx.analyzers.kernel_samples import of_ncu
from dctx.analyzers.ncu_figures import figures
from dctx.analyzers.occupancy import occupancy, waves
from dctx.analyzers.stall_reasons import REASONS, stalls_of
from dctx.ingest.errors import TraceError
from dctx.ingest.ncu import NcuLine, read_ncu
from dctx.ingest.ncu.kernel import NOT_ISSUED, STALL_METRIC
from dctx.reports.ncu_text import figure_texts, ncu_text
from dctx.reports.source_map import SourceMap
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


LINES_AND_INSTRUCTIONS = """"Kernel Name","gemm"
"File Path","/src/gemm.cu"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)",\
"Warp Stall Sampling (Not-issued Samples)","stall_long_sb","stall_selected"
"7","  x = *p;","","","11","9","10","1"
"","","0x10","LDG.E R2, [R4.64]","11","9","10","1"
"8","  y = f(x);","","","5","1","2","3"
"","","0x20","FFMA R2, R2, R3, R4","4","1","2","2"
"","","0x30","FADD R2, R2, R3","1","0","0","1"
"File Path","/src/f.cuh"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)",\
"Warp Stall Sampling (Not-issued Samples)","stall_long_sb","stall_selected"
"2","return x + 1;","","","1","0","0","1"
"","","0x30","FADD R2, R2, R3","1","0","0","1"
"""
LINES = """"Kernel Name","gemm"
"File Path","/src/gemm.cu"
"Line No","Source","Warp Stall Sampling (All Samples)","stall_long_sb","stall_selected"
"7","  x = *p;","11","10","1"
"8","}","0","0","0"
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
    assert first.not_issued == 5000
    samples, stalls = stalls_of(first.stalls)
    assert samples == 10_000
    assert [(one.reason, one.share) for one in stalls] == [
        ("long_scoreboard", 0.75),
        ("wait", 0.25),
    ]
    assert "smsp__pcsamp_warps_issue_stalled_long_scoreboard" not in second.metrics  # n/a is no 0


def test_values_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    [gemm, _] = read_ncu(
        _file(tmp_path, RAW.replace('"0.31"', '"nan"').replace('"6,000"', '"inf"'))
    )
    assert "smsp__issue_active.avg.per_cycle_active" not in gemm.metrics
    assert gemm.stalls == {"wait": 2000, "selected": 2000}
    [line] = read_ncu(_file(tmp_path, LINES.replace('"7"', '"inf"')))
    assert line.lines == []


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
    assert gemm.not_issued == 10 + 0  # of its own column
    assert gemm.lines[0].stalls == {"long_scoreboard": 10, "selected": 1}
    assert (other.name, other.stalls) == ("other", {"barrier": 4})
    assert set(gemm.stalls) - {"selected"} <= set(REASONS)


def test_source_page_of_lines_and_instructions(tmp_path: Path) -> None:
    """A line has the sum of its instructions, and inlined ones stand below two lines: both count
    once."""
    [gemm] = read_ncu(_file(tmp_path, LINES_AND_INSTRUCTIONS))
    assert gemm.stalls == {"long_scoreboard": 12, "selected": 4}
    assert gemm.not_issued == 10
    assert [(line.address, line.file, line.line, line.source) for line in gemm.lines] == [
        ("0x10", "/src/gemm.cu", 7, "  x = *p;"),
        ("0x20", "/src/gemm.cu", 8, "  y = f(x);"),
        ("0x30", "/src/gemm.cu", 8, "  y = f(x);"),
    ]
    [gemm] = read_ncu(_file(tmp_path, LINES))
    assert gemm.lines == [
        NcuLine(
            "", "", {"long_scoreboard": 10, "selected": 1}, None, "/src/gemm.cu", 7, "  x = *p;"
        )
    ]


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


class _Metric:
    """A metric of NVIDIA's module: one value, or one for each instruction."""

    def __init__(self, value: float | str, instances: dict[int, int] | None = None) -> None:
        self._value, self._instances = value, instances or {}

    def value(self) -> float | str:
        return self._value

    def unit(self) -> str:
        return "warp"

    def has_correlation_ids(self) -> bool:
        return bool(self._instances)

    def num_instances(self) -> int:
        return len(self._instances)

    def correlation_ids(self) -> "_Metric":
        return _Metric(0, dict(enumerate(self._instances)))

    def as_uint64(self, at: int) -> int:
        return list(self._instances.values())[at]


class _Place:
    def file_name(self) -> str:
        return "/src/gemm.cu"

    def line(self) -> int:
        return 2


class _Action(dict[str, _Metric]):
    """A profiled launch of NVIDIA's module."""

    def name(self, base: int) -> str:
        assert base == 1
        return "void ns::gemm<float>(int)"

    def metric_names(self) -> list[str]:
        return list(self)

    def source_files(self) -> dict[str, str]:
        return {"/src/gemm.cu": "// gemm\n  x = *p;\n"}

    def source_info(self, address: int) -> _Place | None:
        return _Place() if address == 0x7F10 else None

    def sass_by_pc(self, address: int) -> str:
        return {0x7F10: "LDG.E R2, [R4.64]", 0x7F20: "EXIT"}[address]

    def rule_results_as_dicts(self) -> list[dict[str, object]]:
        message = {"message": "See the @url:Guide:https://e.org/a@ and @section:Occ:Occupancy@."}
        speedup = {"type": 0, "speedup": 12.5}
        return [
            {"name": "Wait", "rule_message": message, "speedup_estimation": speedup},
            {"name": "None", "rule_message": message},
        ]


def test_report_with_samples_by_instruction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalled = "smsp__pcsamp_warps_issue_stalled_"
    action = _Action(
        {
            f"{stalled}long_scoreboard": _Metric(10, {0x7F10: 10, 0x7F20: 0}),
            f"{stalled}long_scoreboard_not_issued": _Metric(7, {0x7F10: 7, 0x7F20: 0}),
            f"{stalled}selected": _Metric(5, {0x7F10: 2, 0x7F20: 3}),
            "launch__grid_dim_x": _Metric(8),
            "launch__grid_dim_y": _Metric(2),
            "launch__grid_dim_z": _Metric(1),
            "device__attribute_display_name": _Metric("GPU"),
        }
    )
    module = ModuleType("ncu_report")
    module.IAction = SimpleNamespace(NameBase_DEMANGLED=1)  # type: ignore[attr-defined]
    module.load_report = lambda path: [[action]]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ncu_report", module)
    path = tmp_path / "k.ncu-rep"
    path.write_bytes(b"NVR\x00")
    [kernel] = read_ncu(path)
    assert kernel.lines == [
        NcuLine(
            "0x7f10",
            "LDG.E R2, [R4.64]",
            {"long_scoreboard": 10, "selected": 2},
            7,
            "/src/gemm.cu",
            2,
            "  x = *p;",
        ),
        NcuLine("0x7f20", "EXIT", {"selected": 3}, 0),
    ]
    assert kernel.stalls == {"long_scoreboard": 10, "selected": 5}  # as the metrics' own values
    assert (kernel.not_issued, kernel.grid) == (7, (8, 2, 1))
    [rule] = kernel.rules
    assert (rule.text, rule.speedup_percent) == ("See the Guide and Occupancy.", 12.5)


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
        shown = {figure.label: value for figure, value in figures(kernel)}
        assert shown["achieved occupancy"] == near(
            100 * told["sm__warps_active.avg.per_cycle_active"] / 32
        )
        assert shown["theoretical occupancy"] == 100
        assert of_ncu(kernel) is None  # it was made without samples
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
    # The panel's figures are the export's own.
    shown = {figure.label: value for figure, value in figures(kernel)}
    assert shown == {
        "issue slots used": told["Compute Workload Analysis: Issue Slots Busy"],
        "cycles between instructions of a warp": 933.13,
        "achieved occupancy": 96.26,
        "theoretical occupancy": 100 * ours.share,
        "waves": filled.waves,
        "compute throughput": 1.3,
        "memory throughput": told["GPU Speed Of Light Throughput: DRAM Throughput"],
        "L2 hit rate": 4.58,
    }
    text = " ".join(" ".join(ncu_text(kernel, None, 80, SourceMap())).split())
    assert "achieved occupancy: 96.26 %" in text
    assert "Stalls: n/a, this page of the export has no samples" in text


def _told_by_csv(path: Path) -> list[tuple[dict[str, float], int]]:
    """Of each kernel of a details page: its numbers by `section: name`, and how many rules it has.
    Read without the code that is tested."""
    kernels: dict[str, tuple[dict[str, float], list[str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            numbers, rules = kernels.setdefault(row["ID"], ({}, []))
            if row["Rule Name"]:
                rules.append(row["Rule Name"])
            with suppress(ValueError):  # a word is no number
                key = f"{row['Section Name']}: {row['Metric Name']}"
                numbers[key] = float(row["Metric Value"].replace(",", ""))
    return [(numbers, len(rules)) for numbers, rules in kernels.values()]


def _told_by_module(path: Path) -> list[tuple[dict[str, float], int]]:
    """The same by NVIDIA's module: the numbers by metric; rules that estimate a speed-up."""
    module: Any = import_module("ncu_report")
    found: list[tuple[dict[str, float], int]] = []
    for group in module.load_report(str(path)):
        for action in group:
            numbers = {
                name: float(value)
                for name in action.metric_names()
                if isinstance(value := action[name].value(), int | float)
            }
            estimates = [one.get("speedup_estimation") for one in action.rule_results_as_dicts()]
            found.append((numbers, sum(1 for one in estimates if one and one["speedup"] > 0)))
    return found


@pytest.mark.skipif("DCTX_TRACES" not in os.environ, reason="needs recorded traces")
def test_every_number_of_the_panel_is_that_of_its_file() -> None:
    files = sorted((Path(os.environ["DCTX_TRACES"]) / "ncu").rglob("*.*"))
    compared = 0
    for path in files:
        if path.suffix == ".csv":
            told = _told_by_csv(path)
        elif path.suffix == ".ncu-rep" and find_spec("ncu_report") is not None:
            told = _told_by_module(path)
        else:
            continue
        kernels = read_ncu(path)
        assert len(kernels) == len(told)
        for kernel, (numbers, rules) in zip(kernels, told, strict=True):
            assert kernel.metrics == numbers
            assert len(kernel.rules) == rules
            for (figure, value), text in zip(figures(kernel), figure_texts(kernel), strict=True):
                raw = numbers.get(figure.raw)
                own = numbers[figure.details] if raw is None else raw * figure.scale
                assert value == own
                assert text == f"{figure.label}: {own:,.2f} {figure.unit}".rstrip()
                compared += 1
            sampled = sum(
                value
                for name, value in numbers.items()
                if name.startswith(STALL_METRIC) and not name.endswith(NOT_ISSUED)
            )
            samples = of_ncu(kernel)
            assert (0 if samples is None else samples.total) == sampled
    assert compared >= 8
