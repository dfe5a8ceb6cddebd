"""The verdict on real exports, against figures computed independently."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.host_overhead import HostOverhead, analyze
from dctx.analyzers.idle_blame import idle_blame
from dctx.analyzers.verdict import Answer
from tests.analyzers.workload import opened

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
EXPORTS = sorted((TRACES / "nsys").glob("*.sqlite"))

pytestmark = pytest.mark.skipif(not EXPORTS, reason="DCTX_TRACES names no folder with traces")

# Per GPU: idle, idle when copies count as work; then launch gross sum, gross, net; NCCL per GPU;
# crossed, applicable; conditions that must be there.
REFERENCE: dict[str, dict[str, Any]] = {
    "h100-2gpu-mfu-before": {
        "idle": [0.0968, 0.1186], "headline": 0.1077, "copies": [0.0869, 0.1087],
        "launch": (0.1046, 0.0545, 0.0545), "nccl": [0.0634, 0.0311], "crossed": (0, 3),
        "answer": Answer.NO, "codes": set(),
    },
    "h100-2gpu-mfu-after": {
        "idle": [0.2064, 0.1600], "headline": 0.1832, "copies": [0.1976, 0.1513],
        "launch": (0.1318, 0.0676, 0.0676), "nccl": [0.0421, 0.0945], "crossed": (0, 3),
        "answer": Answer.NO, "codes": set(),
    },
    "handmade-healthy-400-kernels": {
        "idle": [0.0099], "headline": 0.0099, "copies": [0.0099],
        "launch": (0.0025, 0.0025, 0.0025), "nccl": [0.0], "crossed": (0, 3),
        "answer": Answer.NO, "codes": set(),
    },
    "a100-saxpy-mpi-2022": {
        "idle": [0.9149], "headline": 0.9149, "copies": [0.6957],
        "launch": (0.0001, 0.0001, 0.0001), "nccl": [0.0], "crossed": (2, 3),
        "answer": Answer.YES, "codes": {"R3"},
    },
    "rtx6000-query-2021-a": {
        "idle": [0.9839], "headline": 0.9839, "copies": [0.3746],
        "launch": (0.0008, 0.0008, 0.0008), "nccl": [0.0], "crossed": (1, 3),
        "answer": Answer.NO, "codes": {"R3"},
    },
}  # fmt: skip


def result_of(name: str, window: str = "trace") -> HostOverhead:
    with opened(TRACES / "nsys" / f"{name}.sqlite") as trace:
        return analyze(trace, window=window)


@pytest.mark.parametrize("name", REFERENCE)
def test_figures_of_real_exports(name: str) -> None:
    expected = REFERENCE[name]
    result = result_of(name)
    devices, launch = result.measured.devices, result.measured.launch
    assert [round(d.idle_ratio, 4) for d in devices] == expected["idle"]
    assert round(result.measured.metrics.gpu_idle_ratio or 0, 4) == expected["headline"]
    assert [round((d.idle_ns - d.copy_only_ns) / d.window_ns, 4) for d in devices] == (
        expected["copies"]
    )
    assert launch is not None
    ratios = (launch.sum_ratio, launch.gross_ratio, launch.net_ratio)
    assert tuple(round(ratio, 4) for ratio in ratios) == expected["launch"]
    assert [round(d.nccl_ratio or 0, 4) for d in devices] == expected["nccl"]
    whole = result.overall.aggregate
    assert (whole.crossed_count, whole.applicable_count) == expected["crossed"]
    assert result.answer is expected["answer"]
    assert expected["codes"] <= set(result.reliability.codes)


def test_saxpy_launches() -> None:
    """Second rows of the same call (backtraces) would double its five launches."""
    launch = result_of("a100-saxpy-mpi-2022", "0:10").measured.launch
    assert launch is not None
    assert sum(thread.calls for thread in launch.threads) == 5


@pytest.mark.parametrize("name", ["rtx5060ti-no-kernels-2025", "titanrtx-nvtx-only-2022-a"])
def test_without_kernels_there_is_no_verdict(name: str) -> None:
    with opened(TRACES / "nsys" / f"{name}.sqlite") as trace:
        result = analyze(trace)
        assert idle_blame(result) is None
    assert result.answer is result.guide.answer is Answer.NOT_APPLICABLE
    assert result.window is None


@pytest.mark.parametrize("variant", ["base", "regressed"])
def test_a_serving_trace_of_two_ranks(variant: str) -> None:
    name = f"synthetic-llm-tp2-{variant}"
    truth = json.loads(
        (TRACES / "expected" / "independent" / "nsys" / f"{name}.sqlite.json").read_text()
    )
    check = truth["host_overhead_check"]
    result = result_of(name)
    first, last = truth["kernels"]["window_ns"]
    assert result.window is not None
    assert result.window.length_ns == last - first
    for device in result.measured.devices:
        assert device.busy_ns == truth["kernels"]["devices"][str(device.device)]["busy_ns"]
    launch = result.measured.launch
    assert launch is not None
    assert round(launch.gross_ratio, 4) == check["launch_ratio_busiest_thread"]
    assert round(launch.sum_ratio, 4) == check["launch_ratio_all_threads"]
    assert result.answer is Answer.YES
    ranges = {name: phase.ranges for name, phase in result.phases.items()}
    assert ranges == {
        name: phase["ranges"] for name, phase in truth["phases_by_own_ranges"].items()
    }
    for phase in result.phases.values():
        assert round(phase.measured.metrics.host_prep_exposed_ratio or 0, 4) == 1.0


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_causes_explain_all_idle_time(path: Path) -> None:
    with opened(path) as trace:
        result = analyze(trace, window="trace")
        blamed = idle_blame(result)
    if blamed is None:
        assert result.window is None
        return
    for device in result.measured.taking_part:
        assert blamed.idle_ns[device.device] == device.idle_ns
        own = [cause.ns for cause in blamed.causes if cause.device == device.device]
        assert sum(own) == device.idle_ns
        assert min(own, default=1) > 0
    assert int(blamed.by_step.sum() + blamed.outside.sum()) == sum(blamed.idle_ns.values())


TORCH = [
    "a100-ddp-nccl-metadata-rank0of2",
    "a100-legacy-flows-rank3of8",
    "h100-qwen1.5-0.5b",
    "mi300x-vllm-decode-graph/graph_execution",
]


@pytest.mark.parametrize("name", TORCH)
def test_recordings_of_the_pytorch_profiler(name: str) -> None:
    """The same formulas: work and copies together are busy as computed independently."""
    truth = json.loads(
        (TRACES / "expected" / "independent" / "torch" / f"{name}.json.gz.json").read_text()
    )
    with opened(TRACES / "torch" / f"{name}.json.gz") as trace:
        result = analyze(trace, window="trace")
        blamed = idle_blame(result)
    data = result.data
    busy = (data.running | data.copies).lengths().tolist()
    assert sum(busy) == truth["timeline_all"]["busy_ns"]
    assert result.measured.metrics.launch_overhead_ratio is not None
    assert blamed is not None
    assert sum(cause.ns for cause in blamed.causes) == sum(blamed.idle_ns.values())
    assert sum(blamed.idle_ns.values()) == sum(d.idle_ns for d in result.measured.taking_part)
