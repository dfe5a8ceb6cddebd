"""Where a kernel stands on the roofline: figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dctx.analyzers.architecture import Architecture
from dctx.analyzers.kernel_roofline import (
    MeasuredPoint,
    RooflinePoint,
    measured_points,
    roofline_point,
)
from dctx.analyzers.op_report import op_report
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.ncu import NcuKernel
from dctx.queries.kernel_panel import launch_ids
from dctx.queries.kernels import OpSelection
from dctx.queries.named_kernel import named_kernels
from dctx.queries.trace import Trace
from dctx.reports.roofline_text import measured_sentence, roofline_sentence
from tests.near import near
from tests.planted import GEMM, REDUCE, Program, op

LIMITS = Architecture("made up", 1000.0, {}, {"matrix_bf16": 100.0})
"""10^14 operations/s, 10^12 bytes/s."""
MM = {
    "Input Dims": [[1000, 1000], [1000, 1000]],
    "Input type": ["c10::BFloat16", "c10::BFloat16"],
}
FLOPS, BYTES = 2 * 1000**3, 3 * 1000 * 1000 * 2
"""20 us of computation, 6 us of memory."""


def point(
    program: Program, folder: Path, limits: Architecture | None = LIMITS, name: str = GEMM
) -> RooflinePoint | str:
    trace: Trace = program.facts(folder).trace
    [kernel] = named_kernels(trace, name)
    launches = launch_ids(trace, OpSelection(kernel.kind, name_id=kernel.name_id))
    return roofline_point(op_report(trace, DCTX), lambda _: limits, launches)


def test_launches_whose_work_is_known(tmp_path: Path) -> None:
    program = Program()
    for us in (40, 60):
        with program.within(op, "aten::mm", **MM):
            program.launch("Memset (Device)", 10, cat="gpu_memset")
            program.launch(GEMM, us)
    with program.within(op, "aten::mm", **MM):  # its model tells of both together
        program.launch(GEMM, 50)
        program.launch(REDUCE, 5)
    program.launch(GEMM, 70)  # nothing tells what it computes
    found = point(program, tmp_path)
    assert isinstance(found, RooflinePoint)
    assert (found.flops, found.bytes, found.launches) == (2 * FLOPS, 2 * BYTES, 2)
    assert found.ns == (40 + 10 + 60 + 10) * 1000  # with the memory set of the operator
    assert found.least_ns == near(2 * 20_000)
    assert found.share == near(40 / 120)
    assert found.flops_per_s == near(4e9 / 120e-6)
    assert found.intensity == near(FLOPS / BYTES)
    assert roofline_sentence(found) == (
        "Roofline: 33.3 % of what made up allows, bound by computation: 33.33 TFLOP/s at 333.3 "
        "FLOP/byte, 0.10 TB/s, by the arguments of aten::mm (2 launches)."
    )


def test_why_there_is_no_point(tmp_path: Path) -> None:
    program = Program()
    with program.within(op, "aten::mm", **MM):
        program.launch(GEMM, 50)
        program.launch(REDUCE, 5)
    with program.within(op, "aten::mm"):
        program.launch("other_gemm", 5)
    assert point(program, tmp_path) == (
        "the operators that launch it launch other kernels too: their model tells of all"
    )
    assert "limits of NVIDIA H100 80GB HBM3 are not known" in str(point(program, tmp_path, None))
    assert isinstance(point(program, tmp_path, name="other_gemm"), str)
    why = point(program, tmp_path, Architecture("slow", 1.0, {}, {}), "other_gemm")
    assert roofline_sentence(why).startswith("Roofline: n/a, ")
    trace = program.facts(tmp_path).trace
    none = roofline_point(op_report(trace, DCTX), lambda _: LIMITS, np.empty(0, np.int32))
    assert none == "no operator that launches it is in the trace"


def test_counters_of_nsight_compute() -> None:
    done = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
    peak = "sm__sass_thread_inst_executed_op_{}_pred_on.sum.peak_sustained"
    metrics = {
        done.format("fadd"): (100.0, "inst/cycle"),
        done.format("fmul"): (200.0, "inst/cycle"),
        done.format("ffma"): (350.0, "inst/cycle"),
        peak.format("ffma"): (5000.0, "inst/cycle"),
        **{done.format(f"d{kind}"): (0.0, "inst/cycle") for kind in ("add", "mul", "fma")},
        peak.format("dfma"): (80.0, "inst/cycle"),
        "smsp__cycles_elapsed.avg.per_second": (1.5, "cycle/nsecond"),
        "sm__cycles_elapsed.avg.per_second": (1.5, "Ghz"),
        "dram__bytes.sum.per_second": (300.0, "Gbyte/second"),
        "dram__bytes.sum.peak_sustained": (64.0, "byte/cycle"),
        "dram__cycles_elapsed.avg.per_second": (5000.0, "Mhz"),
    }
    kernel = NcuKernel(
        "k",
        metrics={name: value for name, (value, _) in metrics.items()},
        units={name: unit for name, (_, unit) in metrics.items()},
    )
    [found] = measured_points(kernel)  # nothing was computed in FP64
    assert found == MeasuredPoint("FP32", 1000 * 1.5e9, 10_000 * 1.5e9, 300e9, 320e9)
    assert found.intensity == 5
    assert measured_sentence(found) == (
        "Counted: 1.50 TFLOP/s FP32 outside the tensor cores (10.0 % of the peak), 0.30 TB/s of "
        "memory (93.8 %), 5.00 FLOP/byte."
    )
    del kernel.metrics["dram__bytes.sum.per_second"]
    assert measured_points(kernel) == []
