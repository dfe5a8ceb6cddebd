"""Gains are upper bounds: of what there was to gain, whatever runs; and of what the same program
takes less without the cause."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.analyzers.finding_limits import default_finding_limits
from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.prescribe.table import ANALYZERS
from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.kineto_files import Event
from tests.planted import ADD, COPY, GEMM, NCCL, REDUCE, SOFTMAX, Program, annotation, op, python

Piece = Callable[[Program, int], None]


def loader(program: Program, us: int) -> None:
    with program.within(annotation, "enumerate(DataLoader)#x.__next__"):
        program.work(us)


def host(program: Program, us: int) -> None:
    with program.within(python, "metrics.py(2): update"):
        program.work(us)


def wait(program: Program, us: int) -> None:
    with program.within(op, "aten::item"):
        program.wait(late=us)


def memory(program: Program, us: int) -> None:
    with program.within(op, "aten::empty"):
        program.api("cudaMalloc", us)


def module(program: Program, us: int) -> None:
    with program.within(op, "aten::mm"):
        program.api("cuModuleLoadData", us)


def compiling(program: Program, us: int) -> None:
    with (
        program.within(annotation, "Torch-Compiled Region: 0/1"),
        program.within(annotation, "_compile.compile_inner (dynamo_timed)"),
    ):
        program.work(us)


def launches(name: str, kernel: str) -> Piece:
    def piece(program: Program, us: int) -> None:
        with program.within(python, "model.py(9): forward"), program.within(op, name):
            program.launch(kernel, us)

    return piece


def reduction(program: Program, us: int) -> None:
    with program.within(op, "nccl:all_reduce"):
        program.launch(NCCL, us, stream=20)


def others(program: Program, us: int) -> None:
    program.launch(GEMM, us, on=1)
    program.launch(NCCL, us // 2, on=1, stream=20)


WAITING: tuple[Piece, ...] = (loader, host, wait, memory, module, compiling)
WORKING: tuple[Piece, ...] = (
    launches("aten::mm", GEMM),
    launches("aten::mul", ADD),
    launches("aten::sum", REDUCE),
    launches("aten::_softmax", SOFTMAX),
    launches("aten::contiguous", COPY),
    launches("aten::_to_copy", COPY),
    launches("aten::arange", ADD),
    reduction,
    others,
)
OF_IDLE = frozenset(
    {"cpu-latency", "launch-bound", "sync", "torch-compile", "data-loader", "memory-churn"}
    | {"warm-up"}
)
"""These gain idle time of the devices, the others what runs there (fusion and what is made again:
both)."""
OF_BOTH = frozenset({"kernel-fusion", "duplicated-work"})
SAMPLED = NcuKernel(GEMM, lines=[NcuLine("0x10", "LDG", {"long_scoreboard": 700, "selected": 300})])


@settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
@given(
    st.lists(
        st.tuples(st.sampled_from((*WAITING, *WORKING)), st.integers(1, 900)),
        min_size=3,
        max_size=40,
    )
)
def test_no_gain_is_more_than_what_there_was(pieces: list[tuple[Piece, int]]) -> None:
    """Every analyzer, with every condition at zero: it finds all that it can."""
    program = Program()
    program.launch(GEMM, 20)
    for piece, us in pieces:
        piece(program, us)
    with tempfile.TemporaryDirectory() as folder:
        store = open_trace(program.write(Path(folder)), cache=False)
        with closing(store):
            facts = Facts(Trace(store), measured=[SAMPLED])
            idle = sum(device.report.timeline.idle_ns for device in facts.devices)
            for analyzer in ANALYZERS:
                limits = dict.fromkeys(default_finding_limits()[analyzer.id], 0.0)
                for finding in analyzer.run(facts, limits):
                    gain = finding.gain
                    if gain is None:
                        continue
                    assert 0 <= gain.ns <= facts.window_ns, finding.id
                    assert gain.share == gain.ns / facts.window_ns
                    if finding.id in OF_IDLE:
                        assert gain.ns <= idle, finding.id
                    elif finding.id not in OF_BOTH:
                        assert gain.ns <= facts.total_ns, finding.id


def steps(cause: Piece, us: int, kernel_us: int) -> Callable[[bool], Program]:
    """A step of one product, four times, with the cause before it or without."""

    def program(caused: bool) -> Program:
        made = Program()
        for _ in range(4):
            if caused:
                cause(made, us)
            with made.within(op, "aten::mm"):
                made.launch(GEMM, kernel_us)
        return made

    return program


def chain(caused: bool) -> Program:
    """Four elementwise kernels, or one that takes as long as the longest."""
    made = Program()
    for _ in range(3):
        with made.within(op, "aten::mm"):
            made.launch(GEMM, 300)
        with made.within(python, "model.py(4): gelu"):
            for us in (30, 50, 20, 40) if caused else (50,):
                with made.within(op, "aten::mul"):
                    made.launch(ADD, us)
    return made


def _arange(name: str, ts: float, dur: float) -> Event:
    """A call with recorded arguments: equal ones make equal constants."""
    arguments: dict[str, Any] = {"Input Dims": [[]], "Input type": ["Scalar"]}
    return op(name, ts, dur, **arguments)


def constants(caused: bool) -> Program:
    """A constant that is made in each step, or once."""
    made = Program()
    for step in range(4):
        if caused or not step:
            with made.within(_arange, "aten::arange"):
                made.launch(ADD, 100)
        with made.within(op, "aten::mm"):
            made.launch(GEMM, 300)
    return made


CASES = {
    "data-loader": steps(loader, 500, 100),
    "sync": steps(wait, 60, 400),
    "cpu-latency": steps(host, 700, 100),
    "memory-churn": steps(memory, 180, 50),
    "warm-up": steps(module, 900, 100),
    "torch-compile": steps(compiling, 400, 50),
    "layout-conversion": steps(launches("aten::contiguous", COPY), 80, 200),
    "type-casts": steps(launches("aten::_to_copy", COPY), 80, 200),
    "exposed-communication": steps(reduction, 200, 100),
    "elementwise-chain": chain,
    "duplicated-work": constants,
}
HIDDEN_US = 3 * (2 + 5 + 5)
"""Once the host is not held up, what the next launch takes (the contexts around it, the call, its
latency) hides behind the kernel before, too: of three steps. It is no time of the cause."""


@pytest.mark.parametrize("key", CASES)
def test_without_the_cause_no_more_is_saved_than_was_told(tmp_path: Path, key: str) -> None:
    slow, fast = CASES[key](True), CASES[key](False)
    facts = slow.facts(tmp_path)
    [analyzer] = [one for one in ANALYZERS if one.id == key]
    limits = dict.fromkeys(default_finding_limits()[key], 0.0)
    [finding] = analyzer.run(facts, limits)
    assert finding.gain is not None
    hidden_ns = 1000 * HIDDEN_US if key in OF_IDLE else 0
    saved = facts.window_ns - fast.facts(tmp_path).window_ns
    assert 0 < saved <= finding.gain.ns + hidden_ns
