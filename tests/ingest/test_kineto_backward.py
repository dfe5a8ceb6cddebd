"""Backward work belongs to its forward operator."""

from pathlib import Path

import pytest

from tests.kineto_files import (
    AUTOGRAD,
    MAIN,
    Event,
    backward,
    call,
    flow,
    forward,
    kernel,
    opened,
    python,
)


def test_backward_kernels_hang_below_the_forward_operator(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            python("model.py(7): forward", 0, 50),
            forward("aten::linear", 5, 40, 3),
            forward("aten::addmm", 10, 30, 3),
            backward("autograd::engine::evaluate_function: AddmmBackward0", 100, 60, 3),
            backward("AddmmBackward0", 105, 50, 3),
            call("cudaLaunchKernel", 110, 5, 9, AUTOGRAD),
            kernel("dgrad", 200, 30, 9),
        ],
    )
    assert trace.path("dgrad") == [
        "main thread 100",
        "forward",
        "aten::linear",
        "aten::addmm",
        "[backward]",
        "autograd::engine::evaluate_function: AddmmBackward0",
        "AddmmBackward0",
        "cudaLaunchKernel",
        "dgrad",
    ]
    assert set(trace.forwards().values()) == {"aten::addmm"}
    assert trace.lanes()["AddmmBackward0"] == "thread 200"


def test_of_operators_that_share_a_number_the_latest_start_counts(tmp_path: Path) -> None:
    """Inner operators and those without gradient repeat the number of the next one."""
    operators = [forward(f"op{at}", 10 * at, 5, 4) for at in range(5)]
    trace = opened(
        tmp_path / "t.json",
        [
            *operators,
            forward("after", 90, 5, 4),
            backward("Backward", 80, 5, 4),
        ],
    )
    assert trace.forwards() == {"Backward": "op4"}


def two_threads() -> list[Event]:
    """Numbers count per thread: 0 is used by both, 1 by the first alone, 2 by the second alone."""
    return [
        forward("first zero", 0, 5, 0, MAIN),
        forward("first one", 10, 5, 1, MAIN),
        forward("second zero", 1, 5, 0, 300),
        forward("second two", 11, 5, 2, 300),
        backward("Back second zero", 50, 5, 0, thread=2),
    ]


def test_the_thread_is_learnt_from_numbers_that_one_thread_uses(tmp_path: Path) -> None:
    events = [*two_threads(), backward("Back second two", 60, 5, 2, thread=2)]
    trace = opened(tmp_path / "t.json", events)
    assert trace.forwards() == {
        "Back second zero": "second zero",
        "Back second two": "second two",
    }


@pytest.mark.parametrize(("tid", "name"), [(MAIN, "first zero"), (300, "second zero")])
def test_flows_tell_the_thread(tmp_path: Path, tid: int, name: str) -> None:
    start = 0 if tid == MAIN else 1
    flows = [flow("s", start, 1, tid), flow("f", 50, 1, AUTOGRAD)]
    trace = opened(tmp_path / "t.json", [*two_threads(), *flows])
    assert trace.forwards() == {"Back second zero": name}


def test_a_number_of_several_threads_alone_tells_nothing(tmp_path: Path) -> None:
    trace = opened(tmp_path / "t.json", two_threads())
    assert trace.forwards() == {}
    assert "1 backward operators have a sequence number that several threads use" in trace.notes()
    assert trace.path("Back second zero", "host_event")[0] == "thread 200"


def test_backward_on_the_thread_of_the_forward(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            python("train.py(1): step", 0, 100),
            forward("aten::mul", 5, 5, 1),
            python("tensor.py(9): backward", 20, 60),
            backward("MulBackward0", 30, 10, 1, tid=MAIN),
        ],
    )
    assert trace.forwards() == {"MulBackward0": "aten::mul"}
    path = ["main thread 100", "step", "aten::mul", "[backward]", "MulBackward0"]
    assert trace.path("MulBackward0", "host_event") == path
    assert trace.parents()["MulBackward0"] == "tensor.py(9): backward"


def test_recomputed_forward_operators_run_on_the_backward_thread(tmp_path: Path) -> None:
    """Activation checkpointing: the thread of the recomputation numbers its operators itself."""
    trace = opened(
        tmp_path / "t.json",
        [
            forward("CheckpointFunction", 0, 30, 0),
            backward("CheckpointFunctionBackward", 100, 90, 0),
            forward("aten::relu", 110, 10, 0, AUTOGRAD),
            forward("aten::gelu", 125, 3, 7, AUTOGRAD),
            backward("ReluBackward0", 130, 10, 0, thread=2, tid=AUTOGRAD),
            backward("GeluBackward0", 145, 10, 7, thread=2, tid=AUTOGRAD),
            call("cudaLaunchKernel", 132, 2, 1, AUTOGRAD),
            kernel("relu_backward", 200, 5, 1),
            flow("s", 0, 5, MAIN),
            flow("f", 100, 5, AUTOGRAD),
        ],
    )
    assert trace.forwards() == {
        "CheckpointFunctionBackward": "CheckpointFunction",
        "ReluBackward0": "aten::relu",
        "GeluBackward0": "aten::gelu",
    }
    assert trace.path("relu_backward") == [
        "main thread 100",
        "CheckpointFunction",
        "[backward]",
        "CheckpointFunctionBackward",
        "ReluBackward0",
        "cudaLaunchKernel",
        "relu_backward",
    ]


def test_gradients_that_have_no_forward_operator_stay_on_their_thread(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            forward("aten::mul", 5, 5, 1),
            backward("AccumulateGrad", 30, 10, 99),
        ],
    )
    assert trace.forwards() == {}
    assert trace.path("AccumulateGrad", "host_event") == ["thread 200", "AccumulateGrad"]
    facts = trace.facts()
    assert (facts["backward"], facts["linked.backward"]) == ("1", "0")
