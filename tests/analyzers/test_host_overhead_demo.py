"""The verdict on the demo traces, against the plan they were made from."""

import json
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest

from dctx.analyzers.host_overhead import analyze
from dctx.analyzers.idle_blame import idle_blame
from dctx.analyzers.verdict import Answer
from dctx.demo_data.llm_recipe import VARIANTS
from dctx.demo_data.llm_tp2 import write_trace
from tests.analyzers.workload import opened

DEMO = Path(str(files("dctx.demo_data")))
TRUTH: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())["traces"]


@pytest.mark.parametrize("name", TRUTH)
def test_planted_figures(name: str) -> None:
    truth = TRUTH[name]
    with opened(DEMO / name) as trace:
        result = analyze(trace, window="0:1.5")
        blamed = idle_blame(result)
    assert result.window is not None
    for device in result.measured.devices:
        assert device.busy_ns == truth["devices"][str(device.device)]["busy_ns"]
        assert device.window_ns == result.window.length_ns  # cut where the trace ends
    prep = truth["ranges"]["_prepare_inputs"]["sum_ns"]
    assert sum(device.prep_ns for device in result.measured.devices) == prep
    phases = {name: (phase.iterations, phase.ranges) for name, phase in result.phases.items()}
    steps = truth["steps"]
    generation = steps["steady"] + steps["drain"]
    assert phases == {
        "context": (steps["context"], 2 * steps["context"]),
        "generation": (generation, 2 * generation),
    }
    assert result.phases["generation"].graphs
    assert (result.answer, result.guide.answer) == (Answer.YES, Answer.YES)
    assert result.overall.phases["generation"].host_prep_confirmed
    assert blamed is not None
    assert sum(cause.ns for cause in blamed.causes) == sum(
        device.idle_ns for device in result.measured.devices
    )


def test_the_benchmark_phase_is_the_window() -> None:
    with opened(DEMO / "llama-1b-main.sqlite") as trace:
        auto, everything = analyze(trace), analyze(trace, window="trace")
    assert auto.window is not None
    assert everything.window is not None
    assert auto.window.start_ns > everything.window.start_ns  # without load, JIT and capture
    assert "benchmark phase" in auto.window.reason


def test_graph_replays_count_and_missing_ones_decline(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite"
    truth = write_trace(path, VARIANTS[1], mode="graph")
    planted = cast("dict[str, dict[str, int]]", truth["devices"])
    with opened(path) as trace:
        result = analyze(trace, window="0:1.5")
    assert [device.busy_ns for device in result.measured.devices] == [
        planted[str(device.device)]["busy_ns"] for device in result.measured.devices
    ]
    assert "R2" in result.reliability.codes
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
    connection.commit()
    connection.close()
    with opened(path) as trace:
        blind = analyze(trace)
    assert blind.answer is Answer.NOT_APPLICABLE
    assert "R1" in blind.reliability.codes
    assert "--cuda-graph-trace=node" in blind.measured.metrics.missing["gpu_idle_ratio"]
