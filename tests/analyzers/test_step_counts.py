"""One number of steps and one set of steps, wherever they are counted or averaged."""

from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.config import default_config
from dctx.analyzers.errors import RequestError
from dctx.analyzers.host_overhead import analyze
from dctx.analyzers.step_report import judged_steps
from dctx.analyzers.step_selection import mean_times
from dctx.analyzers.step_timing import RankTiming, StepTiming, step_timing
from dctx.analyzers.steps import find_steps
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from dctx.reports.host_json import host_json
from dctx.reports.step_panels import step_panels
from tests.analyzers.workload import Workload
from tests.near import near


def few_steps(work: Workload, *, ranks: int = 2, steps: int = 6) -> None:
    """Serving steps of uneven length; the first begins before its first kernel, and the last rank
    skips a number, so that one of its steps is followed by none."""
    for rank in range(ranks):
        for i in range(steps):
            start = 10_000 + 1_000 * i + 15 * rank
            number = i + 100 + (i > 3 and rank == ranks - 1)
            text = f"[Executor] _forward_step {number}: 0 ctx reqs, 8 gen reqs"
            work.range(text, start, start + 300 + 40 * i, pid=rank + 1)
            work.kernel(
                start + 200,
                start + 290,
                device=rank,
                pid=rank + 1,
                launch=(start + 100, start + 110),
            )


def test_wall_is_duration_and_gap_in_every_mean(work: Workload) -> None:
    few_steps(work)
    with work.opened() as trace:
        steps = find_steps(trace)
    timing = step_timing(steps)
    assert timing is not None
    parts: list[StepTiming | RankTiming] = [timing, *timing.ranks]
    for part in parts:
        assert part.wall is not None
        assert part.gap is not None
        assert part.wall.avg_ns == near(part.duration.avg_ns + part.gap.avg_ns)
        assert part.wall.count == part.gap.count == part.duration.count
    counts = [rank.duration.count for rank in timing.ranks]
    assert counts == [5, 4]
    followed = np.arange(5)
    times = mean_times(steps, np.arange(6))
    assert times.iterations == 6
    assert times.duration_ns == near(float((300 + 40 * followed).mean()) * 1000)


def test_without_a_next_step_only_the_duration_is_known(work: Workload) -> None:
    few_steps(work, ranks=1, steps=1)
    with work.opened() as trace:
        timing = step_timing(find_steps(trace))
    assert timing is not None
    assert (timing.gap, timing.wall, timing.duration.count) == (None, None, 1)


@pytest.mark.parametrize("window", ["auto", "trace"])
def test_every_count_of_steps_is_the_same(work: Workload, window: str) -> None:
    few_steps(work, steps=8)
    with work.opened() as trace:
        report = judged_steps(trace, default_config(), window)
        panels = {panel.id: panel for panel in step_panels(trace, report).panels}
    result = report.judged.result
    assert result.iterations == result.steps.count == result.phases["generation"].iterations
    assert report.divisor == result.divisor == result.iterations
    assert panels["phases"].lines[0].figures.split()[0] == str(result.iterations)


def test_the_window_of_one_step_holds_one(work: Workload) -> None:
    few_steps(work, steps=8)
    with work.opened() as trace:
        result = analyze(trace, window="0.0113:0.01202")  # the second step is from 11 to 11.34 ms
        assert result.iterations == 1
        assert result.steps.number[result.step_rows].tolist() == [101, 101]


def test_a_window_outside_the_trace_is_refused(work: Workload) -> None:
    few_steps(work)
    with work.opened() as trace:
        with pytest.raises(RequestError, match=r"lies outside the trace, which ends after 0\.01"):
            analyze(trace, window="5:6")
        cut = analyze(trace, window="0.011:6")
        asked = analyze(trace, window="0.011:0.012")
    assert cut.window is not None
    assert asked.window is not None
    assert cut.window.end_ns < 20_000_000
    assert "cut where the trace ends" in cut.window.reason
    assert asked.window.reason == "as asked for"


def test_idle_time_is_not_spread_over_steps_that_do_not_fill_the_window(work: Workload) -> None:
    few_steps(work)
    work.kernel(500_000, 500_100, launch=(499_000, 499_010))
    with work.opened() as trace:
        assert analyze(trace, window="trace").divisor == 0


def test_the_demo_of_training_has_as_many_steps_everywhere() -> None:
    from importlib.resources import files

    from dctx.analyzers.judging import judge_trace
    from dctx.reports.host_json import HostReport

    store = open_trace(Path(str(files("dctx.demo_data"))) / "torch-ddp", cache=False)
    try:
        trace = Trace(store)
        report = judged_steps(trace, default_config(), "auto")
        document = host_json(HostReport(("x",), judge_trace(trace)))
        panels = {panel.id: panel for panel in step_panels(trace, report).panels}
    finally:
        store.close()
    assert report.steps.count == 4
    assert document["phases"]["step"]["iteration_count"] == 4
    assert document["dctx"]["iterations"]["count"] == 4
    assert panels["phases"].lines[0].figures.split()[0] == "4"
    assert report.divisor == 4
