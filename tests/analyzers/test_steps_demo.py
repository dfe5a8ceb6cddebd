"""Steps of the demo traces, against the plan they were made from."""

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.step_timing import step_timing
from dctx.analyzers.steps import Label, Method, Phase, Steps, find_steps
from dctx.demo_data.llm_recipe import VARIANTS
from dctx.demo_data.llm_tp2 import write_trace
from tests.analyzers.workload import opened

DEMO = Path(str(files("dctx.demo_data")))
TRUTH: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())["traces"]


def steps_of(path: Path) -> Steps:
    with opened(path) as trace:
        return find_steps(trace)


@pytest.mark.parametrize("name", TRUTH)
def test_the_planted_steps_are_found(name: str) -> None:
    truth = TRUTH[name]["steps"]
    steps = steps_of(DEMO / name)
    assert steps.method is Method.TRTLLM
    assert steps.count == truth["context"] + truth["steady"] + truth["drain"]
    assert len(steps) == 2 * steps.count
    assert Counter(steps.label.tolist()) == {
        Label.RAMP_UP: 2 * truth["context"],
        Label.STEADY: 2 * truth["steady"],
        Label.DRAIN: 2 * truth["drain"],
    }
    assert steps.steady_generation == truth["steady_generation_requests"]
    assert int(steps.number[steps.steady].min()) == truth["first_steady"]
    assert len(steps.pairs) == 2 * truth["pairs"]
    assert steps.phases == (Phase.CONTEXT, Phase.GENERATION)
    assert steps.validated is True
    assert "33 per GPU (66 in all)" in steps.validation
    assert [s.label for s in steps.segments] == ["load", "JIT / capture", "teardown"]


@pytest.mark.parametrize("name", TRUTH)
def test_the_planted_times_are_found_per_rank(name: str) -> None:
    timing = step_timing(steps_of(DEMO / name))
    assert timing is not None
    assert timing.gap is not None
    assert timing.wall is not None
    for index, rank in enumerate(timing.ranks):
        truth = TRUTH[name]["per_rank"][str(index)]
        assert rank.gap is not None
        assert rank.wall is not None
        assert round(rank.duration.avg_ns / 1000, 4) == truth["step_duration_us"]
        assert round(rank.gap.avg_ns / 1000, 4) == truth["gap_mean_us"]
        assert rank.gap.p50_ns / 1000 == truth["gap_p50_us"]
        assert round(rank.wall.avg_ns / 1000, 4) == truth["wall_per_step_us"]
        assert rank.negative_gaps == 0
    truth = TRUTH[name]["per_rank"]["0"]  # the ranks run in lockstep
    assert round(timing.wall.avg_ns / 1000, 4) == truth["wall_per_step_us"]
    assert round(timing.gap.avg_ns / 1000, 4) == truth["gap_mean_us"]


def test_ranks_far_apart_give_the_same_steps(tmp_path: Path) -> None:
    """150 µs between the ranks defeats matching by time; processes and numbers do not care."""
    near, far = tmp_path / "near.sqlite", tmp_path / "far.sqlite"
    write_trace(near, VARIANTS[1])
    write_trace(far, VARIANTS[1], skew_ns=150_000)
    close, apart = steps_of(near), steps_of(far)
    assert close.count == apart.count == 230
    assert step_timing(close) == step_timing(apart)
    assert apart.validated is True


def test_in_graph_mode_markers_still_give_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite"
    write_trace(path, VARIANTS[0], mode="graph")
    steps = steps_of(path)
    assert (steps.method, steps.count) == (Method.TRTLLM, 230)
    assert steps.validated is not True
