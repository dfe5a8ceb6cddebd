"""Which operator GPU work belongs to."""

from pathlib import Path

from dctx.analyzers.op_report import OpReport, op_report
from dctx.analyzers.report_rules import DCTX, TRACELENS, Rules
from dctx.queries.trace import Trace
from tests.kineto_files import Event, call, kernel, op, opened, python


def reported(path: Path, events: list[Event], rules: Rules = DCTX) -> OpReport:
    return op_report(Trace(opened(path / "run.pt.trace.json", events).store), rules)


def rows(report: OpReport) -> list[tuple[str, int, int, int]]:
    """(name, own ns, ns with all below, own work)."""
    [device] = report.devices
    ops = device.ops
    names: list[str] = [ops.names[i] for i in ops.name.tolist()]
    own: list[int] = ops.direct_ns.tolist()
    below: list[int] = ops.subtree_ns.tolist()
    count: list[int] = ops.count.tolist()
    return list(zip(names, own, below, count, strict=True))


def test_an_operator_has_the_work_of_those_below_it_too(tmp_path: Path) -> None:
    events = [
        op("outer", 0, 40),
        call("cudaLaunchKernel", 1, 2, 1),
        python("work.py(3): step", 5, 30),
        op("inner", 10, 10),
        call("cudaLaunchKernel", 11, 2, 2),
        op("record_param_comms", 22, 8),
        call("cudaLaunchKernel", 23, 2, 3),
        kernel("first", 50, 10, 1),
        kernel("second", 55, 10, 2, stream=8),  # overlaps: a union, not a sum
        kernel("ncclAllReduce", 70, 5, 3),
    ]
    assert rows(reported(tmp_path, events)) == [
        ("outer", 10_000, 20_000, 1),
        ("inner", 10_000, 10_000, 1),
    ]


def test_a_mere_wrapper_passes_its_work_on(tmp_path: Path) -> None:
    events = [
        op("outer", 0, 40),
        op("execute", 5, 20),
        call("cudaLaunchKernel", 6, 2, 1),
        op("execute", 50, 20),
        call("cudaLaunchKernel", 51, 2, 2),
        kernel("first", 60, 10, 1),
        kernel("second", 80, 5, 2),
    ]
    assert rows(reported(tmp_path, events)) == [
        ("outer", 10_000, 10_000, 1),
        ("cudaLaunchKernel->second (Synthetic Op)", 5_000, 5_000, 1),
    ]


def test_the_kernels_of_a_graph_are_told_by_name(tmp_path: Path) -> None:
    events = [
        call("cudaGraphLaunch", 0, 5, 1),
        kernel("a", 10, 10, 1),
        kernel("b", 20, 6, 1),
        kernel("a", 30, 4, 1),
    ]
    assert rows(reported(tmp_path, events)) == [
        ("cudaGraphLaunch->a (Synthetic Op)", 14_000, 14_000, 2),
        ("cudaGraphLaunch->b (Synthetic Op)", 6_000, 6_000, 1),
    ]
    assert rows(reported(tmp_path, events, TRACELENS)) == [("cudaGraphLaunch", 20_000, 20_000, 3)]
