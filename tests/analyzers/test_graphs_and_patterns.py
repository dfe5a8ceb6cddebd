"""Graph coverage, and the kernels that repeat from layer to layer. Times in microseconds."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.graph_coverage import (
    GraphCoverage,
    graph_coverage,
    graph_kernels,
    is_capturable,
)
from dctx.analyzers.host_overhead import analyze
from dctx.analyzers.kernel_pattern import KernelPattern, kernel_pattern, repeating
from tests.analyzers.workload import Workload, opened

DEMO = Path(str(files("dctx.demo_data")))


def covered(work: Workload) -> GraphCoverage:
    with work.opened() as trace:
        found = graph_coverage(analyze(trace, window="trace"))
    assert found is not None
    return found


def test_graph_kernels_of_all_kernels(work: Workload) -> None:
    launch = work.call("cudaGraphLaunch_v10000", 0, 5)
    for i in range(3):
        work.kernel(10 * i, 10 * i + 8, correlationId=launch, graphNodeId=100 + i)
    work.kernel(30, 50, name="nvjet_gemm", launch=(20, 21))
    found = covered(work)
    assert (found.basis, found.coverage) == ("kernels", 0.75)
    [eager] = found.eager
    assert (eager.kernel.name, eager.kernel.count, eager.kernel.gpu_ns) == (
        "nvjet_gemm", 1, 20_000,
    )  # fmt: skip
    assert eager.capturable


def test_graph_kernels_told_by_their_launch(work: Workload) -> None:
    """As in traces that number no graph nodes."""
    launch = work.call("cudaGraphLaunch_v10000", 0, 5)
    for i in range(3):
        work.kernel(10 * i, 10 * i + 8, correlationId=launch)
    work.kernel(30, 50, name="nvjet_gemm", launch=(20, 21))
    with work.opened() as trace:
        result = analyze(trace, window="trace")
        found = graph_coverage(result)
        assert found is not None
        assert graph_kernels(result) == found.graph_kernels  # what findings go by
    assert (found.basis, found.coverage, found.graph_kernels) == ("launches", 0.75, 3)
    assert found.eager == ()


def test_replay_time_of_busy_time(work: Workload) -> None:
    for i in range(4):
        work.replay(100 * i, 100 * i + 30, launch=(100 * i, 100 * i + 2))
    work.kernel(350, 430, launch=(340, 341))
    found = covered(work)
    assert (found.basis, found.coverage, found.replays) == ("time", 120 / 200, 4)
    assert found.replay_ns == {0: 120_000}
    assert not found.eager[0].capturable or is_capturable("gemm")


def test_without_graphs_nothing_is_flagged(work: Workload) -> None:
    work.kernel(0, 10, name="gemm", launch=(0, 1))
    found = covered(work)
    assert (found.basis, found.coverage) == ("none", 0.0)
    assert not found.eager[0].capturable


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8], (1, 3, 3)),
        ([1, 1, 2, 1, 1, 2, 1, 1, 2], (0, 3, 3)),
        ([5, 5, 5, 5], (0, 1, 4)),
        ([1, 2, 3, 4, 5, 6], None),
        ([1, 2, 1, 2], None),
        ([], None),
    ],
)
def test_repeating_sequences(names: list[int], expected: tuple[int, int, int] | None) -> None:
    assert repeating(np.array(names, np.int32)) == expected


def test_pauses_of_a_layer_add_up(work: Workload) -> None:
    """Five layers of three kernels: 4 µs before the second one, 1 µs before the others."""
    for step in range(6):
        at = 1000.0 * step
        work.range(f"[Executor] _forward_step {step}: 0 ctx reqs, 2 gen reqs", at, at + 900)
        at += 50
        work.kernel(at, at + 5, name="embed", launch=(at - 9, at - 8))
        at += 6
        for _ in range(5):
            for name, pause in (("norm", 1), ("gemm", 4), ("silu", 1)):
                at += pause
                work.kernel(at, at + 10, name=name, launch=(at - 9, at - 8))
                at += 10
        work.kernel(at + 2, at + 4, name="sample", launch=(at - 9, at - 8))
    with work.opened() as trace:
        found = kernel_pattern(analyze(trace))
    assert found is not None
    assert [position.name for position in found.positions] == ["norm", "gemm", "silu"]
    assert (found.repeats, found.coverage) == (5, 15 / 17)
    assert [p.kernel_ns for p in found.positions] == [50_000] * 3
    assert [p.gap_ns for p in found.positions] == [5 * 1000 + 1000, 5 * 4000, 5 * 1000]
    assert found.by_gap()[0].name == "gemm"
    assert found.gap_ns == 31_000


def test_the_layers_of_the_demo() -> None:
    """Llama 3.2 1B has 16 layers."""
    with opened(DEMO / "llama-1b-main.sqlite") as trace:
        result = analyze(trace)
        pattern, graphs = kernel_pattern(result), graph_coverage(result)
    assert isinstance(pattern, KernelPattern)
    assert pattern.repeats in (15, 16)
    assert graphs is not None
    assert graphs.basis == "kernels"
    assert 0.5 < graphs.coverage < 1.0


def test_no_steps_no_pattern(work: Workload) -> None:
    work.kernel(0, 10, launch=(0, 1))
    with work.opened() as trace:
        assert kernel_pattern(analyze(trace)) is None
