"""Categories, operators, unique calls and instances of a hand-made trace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.architecture import Architecture
from dctx.analyzers.op_hierarchy import OpHierarchy, op_hierarchy
from dctx.analyzers.op_report import op_report
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.kineto_files import Event, call, kernel, op, write_json
from tests.near import near

ROOF = Architecture("made up", 1000.0, {"matrix_fp32": 1.0}, {"vector_fp32": 1.0})
"""10^12 operations and bytes a second."""


def product(rows: int) -> dict[str, Any]:
    return {
        "Input Dims": [[rows, 1000], [1000, 1000]],
        "Input type": ["float", "float"],
        "Input Strides": [[1000, 1], [1000, 1]],
        "Concrete Inputs": ["", ""],
    }


def events() -> list[Event]:
    """Two products of 1000 rows, 4 ms each; one of 500 rows; a sine; a piece without a launch."""
    found: list[Event] = []
    for at, (rows, length) in enumerate([(1000, 4000), (1000, 4000), (500, 1000)]):
        ts = 100 * at
        found += [
            op("aten::linear", ts, 90),
            op("aten::mm", ts + 10, 70, **product(rows)),
            call("cudaLaunchKernel", ts + 20, 5, at),
            kernel("gemm", 1000 + 5000 * at, length, at),
        ]
    return [
        *found,
        op("aten::sin", 400, 20),
        call("cudaLaunchKernel", 405, 5, 9),
        kernel("sin", 30_000, 100, 9),
        kernel("lost", 40_000, 50, None),
    ]


@pytest.fixture
def hierarchy(tmp_path: Path) -> Iterator[OpHierarchy]:
    store = open_trace(write_json(tmp_path / "a.pt.trace.json", events()), cache=False)
    report = op_report(Trace(store), DCTX)
    yield op_hierarchy(report, report.devices[0], ROOF)
    store.close()


def test_levels_sum_up(hierarchy: OpHierarchy) -> None:
    assert hierarchy.gpu_ns == 9_150_000
    assert [(c.name, c.count, c.gpu_ns) for c in hierarchy.categories] == [
        ("GEMM", 3, 9_000_000),
        ("elementwise", 1, 100_000),
        ("other", 1, 50_000),
    ]
    [mm] = hierarchy.categories[0].operators
    assert [(c.shapes[0], c.count, c.gpu_ns) for c in mm.calls] == [
        ((1000, 1000), 2, 8_000_000),
        ((500, 1000), 1, 1_000_000),
    ]
    assert sum(c.gpu_ns for c in hierarchy.calls) == hierarchy.gpu_ns


def test_rooflines_of_calls_and_of_all_of_them(hierarchy: OpHierarchy) -> None:
    """2·10^9 operations at 10^12/s are 2 ms of 4; 10^9 are 1 ms of 1: together 5 of 9 ms."""
    [mm] = hierarchy.categories[0].operators
    first, second = mm.calls
    assert first.figures is not None
    assert first.figures.flops == 2e9
    assert first.roofline is not None
    assert (first.roofline.time_us, first.roofline.bound) == (2000.0, "COMPUTE_BOUND")
    assert (first.percent, second.percent) == (near(50), near(100))
    assert mm.percent == near(100 * 5 / 9)
    assert first.tflops == near(0.5)
    assert first.intensity == near(2e9 / 12e6)


def test_instances_and_kernels_of_a_row(hierarchy: OpHierarchy) -> None:
    first = hierarchy.categories[0].operators[0].calls[0]
    found = hierarchy.instances(first)
    assert [(i.start_ns, i.host_ns, i.gpu_ns) for i in found] == [
        (10_000, 70_000, 4_000_000),
        (110_000, 70_000, 4_000_000),
    ]
    assert [(k.text, k.count, k.total_ns) for k in hierarchy.kernels(first)] == [
        ("gemm", 2, 8_000_000)
    ]
    lost = hierarchy.categories[2].operators[0].calls[0]
    assert (lost.name, lost.example, lost.note) == ("unlinked->lost (Synthetic Op)", -1, "no model")
    assert [(i.host, i.start_ns, i.gpu_ns) for i in hierarchy.instances(lost)] == [
        (-1, None, 50_000)
    ]
