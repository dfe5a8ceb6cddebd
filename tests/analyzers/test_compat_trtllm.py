"""The public scripts' own figures on real exports, and on a small trace by hand."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.compat_trtllm import ScriptResult, detect, wall_per_step_ns
from dctx.analyzers.steps import find_steps
from tests.analyzers.workload import Workload, opened

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
EXPECTED = sorted(
    path
    for path in (TRACES / "expected" / "host-overhead").glob("*.json")
    if not path.name.endswith(".truth.json")
)
DEMO = Path(str(files("dctx.demo_data")))


def rounded(metrics: Any, names: dict[str, Any]) -> dict[str, float | None]:
    values = {name: metrics.value(name) for name in names}
    return {name: None if value is None else round(value, 4) for name, value in values.items()}


@pytest.mark.skipif(not EXPECTED, reason="DCTX_TRACES names no folder with traces")
@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_the_script_finds_the_same(path: Path) -> None:
    expected = json.loads(path.read_text())
    with opened(TRACES / "nsys" / f"{path.stem}.sqlite") as trace:
        found = detect(trace)
    assert isinstance(found, ScriptResult)
    assert rounded(found.aggregate, expected["aggregate_metrics"]) == expected["aggregate_metrics"]
    whole = found.overall.aggregate
    assert found.overall.answer == expected["verdict"]
    assert dict(whole.crossed) == expected["crossed_details"]
    assert (whole.crossed_count, whole.applicable_count) == (
        expected["crossed_count"], expected["applicable_count"],
    )  # fmt: skip
    assert whole.host_prep_confirmed == expected["host_prep_confirmed"]
    assert whole.nccl_caveat == expected["nccl_caveat"]
    assert found.phases.keys() == expected["phases"].keys()
    for name, phase in expected["phases"].items():
        own = found.phases[name]
        assert own.iteration_count == phase["iteration_count"]
        assert rounded(own.metrics, phase["metrics"]) == phase["metrics"]
        judged = found.overall.phases[name]
        assert (judged.answer, judged.crossed_count) == (phase["verdict"], phase["crossed_count"])


def test_all_gpus_are_one_and_only_plain_launches_count(work: Workload) -> None:
    work.kernel(0, 400, launch=(0, 10))
    work.kernel(600, 1000, name="ncclDevKernel_AllReduce")
    work.kernel(350, 500, device=1)
    work.call("cudaLaunchKernel", 20, 70)
    work.replay(400, 600, launch=(390, 395))
    work.range("prepare_inputs", 300, 550)
    with work.opened() as trace:
        found = detect(trace)
    assert found is not None
    metrics = found.aggregate
    assert (metrics.gpu_idle_ratio, metrics.gpu_utilization) == (0.1, 0.9)
    assert metrics.launch_overhead_ratio == 0.05
    assert metrics.nccl_ratio == 400 / 900
    assert metrics.host_prep_exposed_ratio == 50 / 250
    assert (metrics.host_prep_perf_impact, metrics.host_prep_idle_attribution) == (0.05, 0.5)


def test_it_stops_without_kernels_or_ranges(work: Workload) -> None:
    work.kernel(0, 400, launch=(0, 10))
    with work.opened() as trace:
        assert detect(trace) is None


@pytest.mark.parametrize("name", ["llama-1b-v1.1.sqlite", "llama-1b-main.sqlite"])
def test_wall_per_step_of_the_analysis_script(name: str) -> None:
    truth = json.loads((DEMO / "truth.json").read_text())["traces"][name]["per_rank"]["0"]
    with opened(DEMO / name) as trace:
        wall = wall_per_step_ns(find_steps(trace))
    assert wall is not None
    assert round(wall / 1000, 2) == round(truth["wall_by_span_us"], 2)
