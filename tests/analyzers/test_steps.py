"""Where steps are, what they are called, and which are the steady state."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.errors import RequestError
from dctx.analyzers.steps import Label, Method, Phase, StepOptions, Steps, find_steps
from tests.analyzers.workload import Workload


def found(work: Workload, **options: object) -> Steps:
    with work.opened() as trace:
        return find_steps(trace, StepOptions(**options))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def marked(work: Workload, *texts: str, period: float = 1000.0, pid: int = 1) -> None:
    """One range per text, 600 of every `period` microseconds, with a kernel each."""
    for i, text in enumerate(texts):
        at = 100 + i * period
        work.range(text, at, at + 600, pid=pid)
        work.kernel(at + 100, at + 500, launch=(at + 10, at + 20), pid=pid)


TEXTS = [
    ("[Executor] _forward_step 7: 2 ctx reqs, 30 gen reqs", Method.TRTLLM, 7, 2, 30),
    ("[Executor] _forward_step 7: 0 ctx reqs, 0 ctx tokens, 30 gen reqs", Method.TRTLLM, 7, 0, 30),
    ("[Executor] _forward_step: 1 ctx reqs, 0 gen reqs", Method.TRTLLM, -1, 1, 0),
    ("execute_context_1(512)_generation_3(3)", Method.VLLM, -1, 1, 3),
    ("execute_12_context_0(0)_generation_4(4)", Method.VLLM, 12, 0, 4),
    ("vllm_iteration(5): 1 context requests, 9 context tokens, 2 generation requests",
     Method.VLLM, 5, 1, 2),
    ("v2_gpu_model_runner: forward", Method.VLLM, -1, -1, -1),
    ("[Executor] _forward_step 99999999999999999999999: 0 ctx reqs, 8 gen reqs",
     Method.TRTLLM, -1, 0, 8),
    ("step[DECODE bs=16]", Method.SGLANG, -1, 0, 16),
    ("step[EXTEND bs=2 toks=900]", Method.SGLANG, -1, 2, 0),
    ("step[MIXED bs=4 toks=9]", Method.SGLANG, -1, 4, -1),
    ("scheduler.run_batch", Method.SGLANG, -1, -1, -1),
    ("ProfilerStep#3", Method.PROFILER, 3, -1, -1),
    ("megatron.training.train_step", Method.MEGATRON, -1, -1, -1),
]  # fmt: skip


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "registered"])
@pytest.mark.parametrize(("text", "method", "number", "context", "generation"), TEXTS)
def test_what_the_text_of_a_step_says(
    work: Workload, text: str, method: Method, number: int, context: int, generation: int,
    inline: bool,
) -> None:  # fmt: skip
    work.range(text, 100, 700, inline=inline)
    work.kernel(200, 500, launch=(110, 120))
    work.range("after", 800, 900)
    steps = found(work)
    assert steps.method is method
    assert [int(c[0]) for c in (steps.number, steps.context, steps.generation)] == [
        number, context, generation,
    ]  # fmt: skip
    expected = Phase.CONTEXT if context > 0 else Phase.STEP
    if context == 0 and generation > 0:
        expected = Phase.GENERATION
    assert steps.phase.tolist() == [expected]


def test_a_step_marked_twice_is_one_step(work: Workload) -> None:
    for i in range(6):
        work.range(f"vllm_iteration({i})", 1000 * i, 1000 * i + 800)
        work.range("execute_context_0(0)_generation_4(4)", 1000 * i + 50, 1000 * i + 600)
        work.range("gpu_model_runner: forward", 1000 * i + 60, 1000 * i + 500)
    steps = found(work)
    assert len(steps) == steps.count == 6
    assert set(steps.generation.tolist()) == {4}


def test_the_framework_with_most_ranges_is_used(work: Workload) -> None:
    marked(work, *(f"step[DECODE bs={8}]" for _ in range(12)))
    work.range("ProfilerStep#1", 0, 20_000)
    assert found(work).method is Method.SGLANG


def test_numbered_ranges_in_a_rhythm_are_steps(work: Workload) -> None:
    marked(work, *(f"train Step {i}" for i in range(8)))
    steps = found(work)
    assert (steps.method, steps.count) == (Method.GENERIC, 8)
    assert steps.number.tolist() == list(range(8))
    assert "train Step #" in steps.reason
    assert Counter(steps.label.tolist()) == {Label.WARM_UP: 3, Label.STEADY: 5}


def test_ranges_of_libraries_are_no_iterations(work: Workload) -> None:
    for i in range(12):
        at = 1000 * i
        work.range(f"iteration {i}", at, at + 500, domain="CUB")
        work.kernel(at + 100, at + 400, launch=(at + 10, at + 20))
    steps = found(work)
    assert (steps.method, len(steps), steps.count) == (Method.NONE, 0, 0)
    assert "no iterations detected" in steps.reason


@pytest.mark.parametrize(
    ("starts", "length"),
    [
        ([0, 1000, 2000, 3000], 500),  # too few
        ([0, 100, 200, 9000, 9100, 30_000], 50),  # no rhythm
    ],
)
def test_numbered_ranges_without_a_rhythm_are_none(
    work: Workload, starts: list[int], length: int
) -> None:
    for i, start in enumerate(starts):
        work.range(f"batch {i}", start, start + length)
    assert found(work).method is Method.NONE


def test_a_pattern_of_the_user_is_the_only_one_tried(work: Workload) -> None:
    marked(work, *(f"tick {i} (c2 g{i % 3})" for i in range(1, 7)), *(["ProfilerStep#1"] * 9))
    steps = found(work, step_regex=r"^tick (?P<step>\d+) \(c(?P<ctx>\d+) g(?P<gen>\d+)")
    assert (steps.method, steps.count) == (Method.USER, 6)
    assert steps.number.tolist() == [1, 2, 3, 4, 5, 6]
    assert steps.generation.tolist() == [1, 2, 0, 1, 2, 0]


def test_a_pattern_that_finds_nothing_says_so(work: Workload) -> None:
    marked(work, *(["ProfilerStep#1"] * 6))
    steps = found(work, step_regex="nothing like that")
    assert (steps.method, len(steps)) == (Method.NONE, 0)
    assert "nothing like that" in steps.reason


def test_a_broken_pattern_is_refused(work: Workload) -> None:
    work.range("x", 1, 2)
    with pytest.raises(RequestError, match="no regular expression"):
        found(work, step_regex="(unclosed")


def test_a_pattern_that_would_backtrack_is_searched_in_linear_time(work: Workload) -> None:
    """Python's own engine would try 2^400 ways to read this text."""
    marked(work, *(f"{'a' * 400}! {i}" for i in range(6)))
    with work.opened() as trace:
        nothing = find_steps(trace, StepOptions(step_regex=r"^(a+)+$"))
        said = StepOptions(step_regex=r"^(a+)+! (?P<step>\d+)(x(?P<gen>\d+))?$")
        steps = find_steps(trace, said)
    assert nothing.method is Method.NONE
    assert (steps.number.tolist(), steps.generation.tolist()) == ([0, 1, 2, 3, 4, 5], [-1] * 6)


def test_preparation_ranges(work: Workload) -> None:
    for i in range(5):
        at = 1000 * i
        work.range(f"[Executor] _forward_step {i}: 0 ctx reqs, 8 gen reqs", at, at + 800)
        work.range("_prepare_inputs", at + 10, at + 90)
        work.range("unrelated", at + 100, at + 200)
    with work.opened() as trace:
        assert set(find_steps(trace).prep.values()) == {"_prepare_inputs"}
        own = find_steps(trace, StepOptions(prep_regex="^unrel"))
    assert set(own.prep.values()) == {"unrelated"}


def test_ranks_are_processes_and_steps_are_matched_by_number(work: Workload) -> None:
    """The second rank runs 150 µs behind and has lost its first step."""
    text = "[Executor] _forward_step {}: 0 ctx reqs, 8 gen reqs"
    for i in range(20, 30):
        work.range(text.format(i), 1000 * i, 1000 * i + 700, pid=1)
        if i > 20:
            work.range(text.format(i), 1000 * i + 150, 1000 * i + 850, pid=2)
    steps = found(work)
    assert [rank.pid for rank in steps.ranks] == [1, 2]
    assert (len(steps), steps.count) == (19, 10)
    first, second = steps.rank == 0, steps.rank == 1
    assert steps.iteration[first].tolist() == list(range(10))
    assert steps.iteration[second].tolist() == list(range(1, 10))
    assert len(steps.pairs) == 9 + 8


def test_pairs_need_consecutive_numbers(work: Workload) -> None:
    numbers = [20, 21, 22, 25, 26, 27]
    marked(work, *(f"[Executor] _forward_step {n}: 0 ctx reqs, 8 gen reqs" for n in numbers))
    steps = found(work)
    assert [(int(steps.number[i]), int(steps.number[i + 1])) for i in steps.pairs] == [
        (20, 21), (21, 22), (25, 26), (26, 27),
    ]  # fmt: skip


def test_labels_of_a_serving_run(work: Workload) -> None:
    def text(i: int, ctx: int, gen: int) -> str:
        return f"[Executor] _forward_step {i}: {ctx} ctx reqs, {gen} gen reqs"

    plan = [(0, 3), (0, 3), (4, 3), (0, 8), (0, 8), (1, 8), (0, 8), (0, 9), (0, 2)]
    marked(work, *(text(i + 1, *step) for i, step in enumerate(plan)))
    steps = found(work)
    names = [Label(code).name for code in steps.label.tolist()]
    assert names == [
        "WARM_UP", "WARM_UP", "RAMP_UP", "STEADY", "STEADY", "RAMP_UP", "STEADY", "WARM_UP",
        "WARM_UP",
    ]  # fmt: skip
    assert steps.steady_generation == 8  # the commonest: none lasts 20 steps
    assert dict(steps.generation_counts) == {2: 1, 3: 2, 8: 3, 9: 1}


def test_the_largest_batch_that_lasts_is_the_steady_one(work: Workload) -> None:
    sizes = [4] * 30 + [8] * 20 + [3] * 3
    marked(
        work,
        *(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, {g} gen reqs"
          for i, g in enumerate(sizes)),
    )  # fmt: skip
    with work.opened() as trace:
        steps = find_steps(trace)
        other = find_steps(trace, StepOptions(generation=4))
    assert (steps.steady_generation, len(steps.steady)) == (8, 20)
    assert Counter(steps.label.tolist()) == {
        Label.WARM_UP: 30, Label.STEADY: 20, Label.DRAIN: 3
    }  # fmt: skip
    assert (other.steady_generation, len(other.steady)) == (4, 30)


def test_the_last_run_with_enough_steps_is_the_benchmark(work: Workload) -> None:
    for base, count in ((0, 8), (400_000, 6), (900_000, 2)):
        for i in range(count):
            at = base + 1000 * i
            work.range(f"iteration {base + i}", at, at + 600)
            work.kernel(at + 10, at + 500, launch=(at + 1, at + 5))
    steps = found(work)
    assert [run.iterations for run in steps.runs] == [8, 6, 2]
    assert steps.benchmark == 1
    assert "run 2 of 3" in steps.benchmark_reason
    assert steps.steady_window() == (403_000_000, 405_600_000)
    assert [segment.label for segment in steps.segments] == ["pause", "pause"]


def test_a_repeating_graph_gives_steps(work: Workload) -> None:
    for i in range(7):
        at = 1000 * i
        work.replay(at + 100, at + 700, launch=(at + 10, at + 20))
    work.replay(8000, 8900, launch=(7900, 7910), graph=9)
    steps = found(work)
    assert (steps.method, steps.count) == (Method.GRAPH_CADENCE, 7)
    assert steps.start_ns.tolist() == [1_000_000 * i + 100_000 for i in range(7)]
    assert steps.end_ns.tolist()[:-1] == steps.start_ns.tolist()[1:]
    assert [(rank.lane, rank.device) for rank in steps.ranks] == [(None, 0)]


def all_reduces(work: Workload, sizes: list[int], *, pause: float = 2000.0, gap: float = 40.0,
                device: int = 0) -> None:  # fmt: skip
    at = 0.0
    for size in sizes:
        for _ in range(size):
            work.kernel(at, at + 10, name="cross_device_reduce_1stage", device=device,
                        pid=device + 1, launch=(at, at + 1))  # fmt: skip
            at += 10 + gap
        at += pause


def test_all_reduces_give_iterations(work: Workload) -> None:
    """A group cut at each edge, one group of two iterations in a row."""
    for device in (0, 1):
        all_reduces(work, [1, 4, 4, 8, 4, 4, 2], device=device)
    steps = found(work)
    assert (steps.method, steps.count) == (Method.ALL_REDUCE, 6)
    assert steps.all_reduce is not None
    assert (steps.all_reduce.size, steps.all_reduce.total) == (4, 8)
    assert "4 all-reduces per GPU (8 in all)" in steps.reason
    assert set((steps.end_ns - steps.start_ns).tolist()) == {160_000}  # 3 gaps, 4 kernels


def test_the_pause_between_iterations_is_found_when_1_ms_is_wrong(work: Workload) -> None:
    all_reduces(work, [5] * 9 + [3], pause=300.0)
    steps = found(work)
    assert steps.all_reduce is not None
    assert (steps.all_reduce.size, steps.count) == (5, 9)
    assert 40_000 < steps.all_reduce.gap_ns < 340_000


def test_markers_and_all_reduces_validate_each_other(work: Workload) -> None:
    for i in range(8):
        at = 5000 * i
        work.range(f"ProfilerStep#{i}", at + 1, at + 3000)
        for k in range(3 if i < 7 else 0):
            work.kernel(at + 100 * k + 50, at + 100 * k + 60, name="ncclDevKernel_AllReduce_Sum",
                        launch=(at + 5 + k, at + 6 + k))  # fmt: skip
    steps = found(work)
    assert steps.validated is False
    assert "7 on GPU 0" in steps.validation


def test_steps_of_a_profiler_that_touch_the_edge_are_partial(work: Workload) -> None:
    work.range("ProfilerStep#4", 0, 500)
    marked(work, *(f"ProfilerStep#{i}" for i in range(5, 12)))
    work.range("ProfilerStep#12", 8000, None)
    steps = found(work)
    assert steps.label[0] == steps.label[-1] == Label.PARTIAL
    assert Label.PARTIAL not in steps.label[1:-1]


def test_columns_are_in_order_and_windows_do_not_overlap(work: Workload) -> None:
    for pid in (1, 2):
        marked(work, *(f"iteration {i}" for i in range(9)), pid=pid)
    steps = found(work)
    for rank in (0, 1):
        rows = np.flatnonzero(steps.rank == rank)
        assert all(steps.next_ns[a] == steps.start_ns[b] for a, b in pairwise(rows.tolist()))
        assert steps.next_ns[rows[-1]] == steps.end_ns[rows[-1]]


def test_a_trace_without_events_has_no_steps(tmp_path: Path) -> None:
    work = Workload(tmp_path / "none.sqlite")
    work.export.create("CUPTI_ACTIVITY_KIND_KERNEL")
    work.export.create("NVTX_EVENTS")
    steps = found(work)
    assert (steps.method, steps.ranks, steps.runs) == (Method.NONE, (), ())
    assert steps.steady_window() is None
