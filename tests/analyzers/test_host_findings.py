"""Findings of one trace: known causes, and none where there is none. Times in µs."""

from pathlib import Path

from dctx.analyzers.findings import Finding
from dctx.analyzers.gates import named_gates, regression_gate
from dctx.analyzers.judging import Judged, judge_trace
from tests.analyzers.test_pairing import compared, serving
from tests.analyzers.workload import Workload, opened
from tests.near import near


def judged(path: Path, window: str = "auto") -> Judged:
    with opened(path) as trace:
        return judge_trace(trace, window=window)


def found(work: Workload, window: str = "auto") -> dict[str, Finding]:
    work.export.close()
    return {finding.id: finding for finding in judged(work.path, window).findings}


def busy_steps(work: Workload, *, devices: int = 1, steps: int = 40, share: float = 0.9) -> None:
    """Decode steps of 1000 whose kernel takes `share` of the time, on every device."""
    for i in range(steps):
        at = 1_000 * i
        for device in range(devices):
            pid = 1 + device
            work.range(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, 8 gen reqs",
                       at, at + 900, pid=pid)  # fmt: skip
            work.kernel(at + 20, at + 20 + 1_000 * share, launch=(at + 5, at + 8), device=device,
                        pid=pid, graphNodeId=7)  # fmt: skip


def test_a_healthy_trace_has_none(work: Workload) -> None:
    busy_steps(work, devices=2)
    assert found(work) == {}


def test_waiting_for_the_gpu_inside_a_step(work: Workload) -> None:
    busy_steps(work)
    for i in range(40):
        work.range("aten::item", 1_000 * i + 10, 1_000 * i + 140)
        work.call("cudaStreamSynchronize_v3020", 1_000 * i + 20, 1_000 * i + 120)
        work.call("cudaStreamSynchronize_v3020", 1_000 * i + 950, 1_000 * i + 990)  # in the gap
    finding = found(work)["sync-in-step"]
    assert finding.sentence == (
        "Each step waits 100.0 µs for the GPU inside itself: cudaStreamSynchronize 100.0 µs "
        "(in aten::item)."
    )
    assert finding.evidence[0].value == near(100)


def test_a_rank_without_steady_steps_takes_no_part_in_the_mean(work: Workload) -> None:
    busy_steps(work)
    work.range("[Executor] _forward_step 1: 0 ctx reqs, 4 gen reqs", 10, 900, pid=2)
    work.kernel(30, 800, launch=(15, 18), device=1, pid=2)
    for i in range(40):
        work.call("cudaStreamSynchronize_v3020", 1_000 * i + 20, 1_000 * i + 120)
    assert found(work)["sync-in-step"].evidence[0].value == near(100)


def test_a_short_wait_is_none(work: Workload) -> None:
    busy_steps(work)
    for i in range(40):
        work.call("cudaStreamSynchronize_v3020", 1_000 * i + 20, 1_000 * i + 29)
    assert found(work) == {}


def test_the_last_rank_at_the_collectives(work: Workload) -> None:
    for i in range(40):
        at = 1_000 * i
        for pid in (1, 2):
            late = 50 if pid == 2 else 0
            work.range(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, 8 gen reqs",
                       at, at + 900, pid=pid)  # fmt: skip
            work.range("slow only here", at + 10, at + 12 + late, pid=pid)
            work.kernel(at + 100 + late, at + 950, launch=(at + 80, at + 85), pid=pid,
                        device=pid - 1, name="ncclDevKernel_AllReduce", graphNodeId=7)  # fmt: skip
    finding = found(work)["straggler"]
    assert finding.sentence.startswith("GPU 1 comes last to 100 % of the 39 collectives")
    assert "by 50.0 µs" in finding.sentence
    assert finding.evidence[0].name == "slow only here"
    assert finding.evidence[0].value == near(52)


def test_one_gpu_idles_more(work: Workload) -> None:
    for i in range(100):
        work.kernel(1_000 * i, 1_000 * i + 900, launch=(1_000 * i, 1_000 * i + 2))
        work.kernel(1_000 * i, 1_000 * i + 400, launch=(1_000 * i, 1_000 * i + 2), device=1, pid=2)
    finding = found(work)["device-imbalance"]
    assert finding.sentence.startswith("GPU 1 idles ")


def test_copies_that_keep_the_gpu_from_idling(work: Workload) -> None:
    for i in range(100):
        work.kernel(1_000 * i, 1_000 * i + 300, launch=(1_000 * i, 1_000 * i + 2))
        work.copy(1_000 * i + 300, 1_000 * i + 900)
    finding = found(work)["copy-bound"]
    assert finding.evidence[0].value == near(59.4)  # ms: the last one is outside


def test_a_phase_that_the_whole_hides(work: Workload) -> None:
    """Ten context steps keep the GPU busy for long, generation steps leave it half idle."""
    at = 0.0
    for i in range(10):
        work.range(f"[Executor] _forward_step {i + 1}: 4 ctx reqs, 0 gen reqs", at, at + 20_000)
        work.kernel(at, at + 20_000, launch=(at, at + 2), graphNodeId=7)
        at += 20_000
    for i in range(30):
        work.range(f"[Executor] _forward_step {i + 11}: 0 ctx reqs, 8 gen reqs", at, at + 1_000)
        work.kernel(at, at + 500, launch=(at, at + 2), graphNodeId=7)
        at += 1_000
    finding = found(work)["masked-phase"]
    assert finding.sentence.startswith("Host-bound in generation, hidden by the rest")
    assert "GPU idle generation 50.0 %" in finding.sentence


def test_a_window_without_a_model(work: Workload) -> None:
    for i in range(100):
        name = "vectorized_elementwise_kernel" if i % 4 else "scan"
        work.kernel(1_000 * i, 1_000 * i + 950, launch=(1_000 * i, 1_000 * i + 2), name=name)
    finding = found(work)["jit-in-window"]
    assert finding.sentence.startswith("Elementwise and reduction kernels take 75.0 %")
    assert finding.evidence[0].name == "vectorized_elementwise_kernel"


def test_one_matrix_product_makes_it_a_model(work: Workload) -> None:
    for i in range(100):
        name = "vectorized_elementwise_kernel" if i else "gemm"
        work.kernel(1_000 * i, 1_000 * i + 950, launch=(1_000 * i, 1_000 * i + 2), name=name)
    assert found(work) == {}


def test_generation_without_graphs(work: Workload) -> None:
    for i in range(40):
        at = 1_000 * i
        work.range(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, 8 gen reqs", at, at + 900)
        for k in range(4):
            work.kernel(at + 200 * k + 60, at + 200 * k + 90,
                        launch=(at + 200 * k, at + 200 * k + 50))  # fmt: skip
    finding = found(work)["graphs-off"]
    assert "0.0 % of the kernels run in CUDA graphs" in finding.sentence
    assert "launching takes 22.2 % of the time" in finding.sentence


def test_gates(tmp_path: Path) -> None:
    base = serving(tmp_path / "base.sqlite")
    target = serving(tmp_path / "target.sqlite", gap=1_130)
    comparison = compared(base, target).comparison
    assert comparison is not None
    assert comparison.wall.percent == near(6.5, abs=0.1)
    assert regression_gate(comparison).failed
    assert not regression_gate(comparison, 7).failed
    assert not regression_gate(None).failed
    assert regression_gate(None).value is None
    result = judged(target).result
    assert [gate.name.value for gate in named_gates(("unreliable", "verdict"), result)] == [
        "verdict", "unreliable",
    ]  # fmt: skip
    assert named_gates((), result) == ()
