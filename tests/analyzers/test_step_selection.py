"""Some steps of a run: their times, and what is measured when only they are looked at."""

import numpy as np

from dctx.analyzers.config import default_config
from dctx.analyzers.step_report import judged_steps, selected_steps
from dctx.analyzers.step_selection import (
    Selection,
    mean_times,
    narrowed,
    rows_of,
    span_ns,
    step_series,
    windows_of,
)
from dctx.analyzers.steps import Steps, find_steps
from dctx.queries.trace import Trace
from tests.analyzers.workload import Workload

STEP_US, PERIOD_US, RANKS, COUNT = 400, 1000, 2, 30


def two_ranks(work: Workload) -> Workload:
    """30 generation steps on two ranks: 400 µs each, 600 µs apart; step i of rank 1 takes i µs
    longer and begins 20 µs later. A kernel of 100 µs in each."""
    for rank in range(RANKS):
        pid = rank + 1
        for i in range(COUNT):
            start = 10_000 + i * PERIOD_US + 20 * rank
            end = start + STEP_US + i * rank
            text = f"[Executor] _forward_step {i + 1}: 0 ctx reqs, 8 gen reqs"
            work.range(text, start, end, pid=pid)
            work.range("_prepare_inputs", start + 10, start + 60, pid=pid)
            work.kernel(
                start + 200, start + 300, device=rank, pid=pid, launch=(start + 100, start + 110)
            )
    return work


def steps_of(trace: Trace) -> Steps:
    return find_steps(trace)


def test_the_series_of_one_rank_and_of_all(work: Workload) -> None:
    two_ranks(work)
    with work.opened() as trace:
        steps = steps_of(trace)
        assert steps.count == COUNT
        one = step_series(steps, 1)
        assert one.duration_ns.tolist() == [(STEP_US + i) * 1000 for i in range(COUNT)]
        assert one.gap_ns.tolist()[:-1] == [(600 - i) * 1000 for i in range(COUNT - 1)]
        assert one.has_next.tolist() == [True] * (COUNT - 1) + [False]
        assert set(one.wall_ns.tolist()[:-1]) == {PERIOD_US * 1000}
        both = step_series(steps)
        assert both.duration_ns.tolist() == [STEP_US * 1000 + i * 500 for i in range(COUNT)]
        assert both.start_ns.tolist() == step_series(steps, 0).start_ns.tolist()
        assert both.number.tolist() == list(range(1, COUNT + 1))


def test_means_are_of_the_rows(work: Workload) -> None:
    two_ranks(work)
    with work.opened() as trace:
        steps = steps_of(trace)
        rows = rows_of(steps, Selection(2, 4, 1))
        times = mean_times(steps, rows)
        assert (times.iterations, times.duration_ns, times.gap_ns) == (3, 403_000.0, 597_000.0)
        last = rows_of(steps, Selection(COUNT - 1, COUNT - 1))
        assert mean_times(steps, last).gap_ns is None


def test_windows_reach_to_the_step_after(work: Workload) -> None:
    two_ranks(work)
    with work.opened() as trace:
        steps = steps_of(trace)
        first = int(steps.start_ns.min())
        windows = windows_of(steps, Selection(2, 4))
        assert [end - start for _, start, end in windows] == [3 * PERIOD_US * 1000] * RANKS
        assert sorted(start - first for _, start, _ in windows) == [2_000_000, 2_020_000]
        assert len({process for process, _, _ in windows}) == RANKS
        assert span_ns(steps, Selection(2, 4)) == (first + 2_000_000, first + 5_020_000)
        assert span_ns(steps, Selection(COUNT, COUNT)) is None


def test_only_selected_steps_count(work: Workload) -> None:
    two_ranks(work)
    with work.opened() as trace:
        steps = steps_of(trace)
        for rank, expected in ((None, 2 * 3), (0, 3)):
            selection = Selection(2, 4, rank)
            pairs = narrowed(steps, selection).pairs
            assert len(pairs) == expected
            assert np.array_equal(pairs, rows_of(steps, selection))


def test_the_report_of_a_selection(work: Workload) -> None:
    two_ranks(work)
    with work.opened() as trace:
        whole = judged_steps(trace, default_config(), "auto")
        part = selected_steps(trace, whole, Selection(5, 9))
        profile = part.judged.profile
        assert profile.pairs == 2 * 5
        assert profile.wall_per_step_ns == PERIOD_US * 1000
        window = part.judged.result.window
        assert window is not None
        assert (window.start_ns, window.end_ns) == span_ns(whole.steps, Selection(5, 9))
        blame, gaps = part.judged.blame, part.gaps
        assert blame is not None
        assert gaps is not None
        assert sum(cause.ns for cause in blame.causes) == sum(blame.idle_ns.values())
        assert gaps.idle_ns == blame.idle_ns
        # 5 periods and the 20 µs of the other rank, less 5 kernels on each device.
        assert blame.idle_ns == {0: 4_520_000, 1: 4_520_000}
        steady = judged_steps(trace, default_config(), "steady", whole)
        assert steady.steps is whole.steps, "found once"
