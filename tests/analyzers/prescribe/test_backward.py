"""Operators whose backward pass is out of proportion."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dctx.analyzers.prescribe.facts import Facts
from dctx.queries.trace import Trace
from tests.kineto_files import AUTOGRAD, Event, backward, call, flow, forward, kernel, opened
from tests.planted import found, gain_us, places


def trained(folder: Path, name: str, node: str, backward_us: int) -> Facts:
    """Two visits of an operator of 100 µs, and its backward pass."""
    events: list[Event] = []
    for visit in range(2):
        at, number = 1000 * visit, 10 + visit
        events += [
            forward(name, at, 20, number),
            call("cudaLaunchKernel", at + 5, 5, 4 * visit + 1),
            kernel("gather_kernel", at + 100, 100, 4 * visit + 1),
            flow("s", at, number, 100),
            flow("f", at + 300, number, AUTOGRAD),
            backward(node, at + 300, 30, number),
            call("cudaLaunchKernel", at + 310, 5, 4 * visit + 2, AUTOGRAD),
            kernel("indexing_backward_kernel", at + 400, backward_us, 4 * visit + 2),
        ]
    return Facts(Trace(opened(folder / "run.pt.trace.json", events).store))


def test_the_backward_pass_of_indexing_leads_to_an_atomic_one(tmp_path: Path) -> None:
    facts = trained(tmp_path, "aten::index", "IndexBackward0", 500)
    finding = found(facts, "backward-imbalance")
    assert gain_us(finding) == 2 * (500 - 2 * 100)
    assert places(facts, finding) == ["aten::index"]
    assert finding is not None
    assert "index_select" in finding.remedy


def test_twice_the_forward_time_is_usual(tmp_path: Path) -> None:
    facts = trained(tmp_path, "aten::index", "IndexBackward0", 200)
    assert found(facts, "backward-imbalance") is None


def test_another_operators_backward_pass_is_not_held_against_it(tmp_path: Path) -> None:
    """Sequence numbers may belong to an operator around, or to none with a gradient."""
    facts = trained(tmp_path, "aten::zero_", "torch::autograd::CppNode<Lookup>", 500)
    assert found(facts, "backward-imbalance") is None


def test_on_a_cpu_one_slow_first_visit_is_no_imbalance(tmp_path: Path) -> None:
    events: list[Event] = []
    for visit, us in enumerate((9000, 150, 150)):
        at, number = 20_000 * visit, 10 + visit
        events += [
            forward("aten::mul", at, 100, number),
            backward("MulBackward0", at + 500, us, number),
        ]
    facts = Facts(Trace(opened(tmp_path / "run.pt.trace.json", events).store))
    assert found(facts, "backward-imbalance") is None


def test_on_a_cpu_host_time_tells(tmp_path: Path) -> None:
    events: list[Event] = []
    for visit in range(3):
        at, number = 20_000 * visit, 10 + visit
        events += [
            forward("aten::mul", at, 100, number),
            backward("MulBackward0", at + 500, 900, number),
        ]
    facts = Facts(Trace(opened(tmp_path / "run.pt.trace.json", events).store))
    finding = found(facts, "backward-imbalance")
    assert gain_us(finding) == 3 * (900 - 200)
    assert finding is not None
    assert "no GPU work" in finding.sentence
    assert "operators of its backward pass" in finding.remedy
    assert "cudnn" not in finding.remedy


def test_a_recording_that_keeps_sums_alone_tells_it_too(tmp_path: Path) -> None:
    """By the mean of all visits but the longest, here a slow first one."""
    events: list[Event] = []
    for visit, us in enumerate((9000, 900, 900)):
        at, number = 20_000 * visit, 10 + visit
        events += [
            forward("aten::index", at, 100, number),
            backward("IndexBackward0", at + 500, us, number),
        ]
    facts = Facts(Trace(opened(tmp_path / "run.pt.trace.json", events).store))
    single = gain_us(found(facts, "backward-imbalance"))
    host = replace(facts.report.host, dur_ns=np.empty(0, np.int64))
    facts.__dict__["report"] = replace(facts.report, host=host)
    assert gain_us(found(facts, "backward-imbalance")) == single == 3 * (900 - 2 * 100)
