"""The verdict on small traces: every figure is worked out by hand. Times in microseconds."""

import os
import sqlite3
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.analyzers.errors import RequestError
from dctx.analyzers.host_metrics import HIDDEN_GRAPHS, NO_GPU_WORK, NO_LAUNCHES, NO_PREP
from dctx.analyzers.host_overhead import HostOverhead, analyze
from dctx.analyzers.reliability import Trust
from dctx.analyzers.verdict import Answer
from tests.analyzers.workload import LAUNCH, Workload, opened


def judged(work: Workload, window: str = "trace", **options: Any) -> HostOverhead:
    with work.opened() as trace:
        return analyze(trace, window=window, **options)


def idle(result: HostOverhead) -> list[float]:
    return [round(device.idle_ratio, 4) for device in result.measured.devices]


def test_idle_time_is_per_device_and_has_its_edges(work: Workload) -> None:
    """GPU 0 works 0-400 and 600-1000, GPU 1 200-500: what one does never hides the other's."""
    work.kernel(0, 400, launch=(0, 10))
    work.kernel(600, 1000, launch=(20, 30))
    work.kernel(200, 500, device=1, launch=(40, 50))
    result = judged(work)
    assert idle(result) == [0.2, 0.7]
    assert result.measured.metrics.gpu_idle_ratio == (200 + 700) / 2000
    assert result.measured.metrics.gpu_utilization == 1100 / 2000
    assert round(result.measured.idle_spread, 4) == 0.5


def test_overlapping_streams_are_one_busy_time(work: Workload) -> None:
    for stream in range(4):
        work.kernel(100 * stream, 700, stream=stream, launch=(stream, stream + 1))
    work.kernel(900, 1000, launch=(10, 11))
    (device,) = judged(work).measured.devices
    assert (device.busy_ns, device.window_ns) == (800_000, 1_000_000)


def test_a_device_that_hardly_works_takes_no_part(work: Workload) -> None:
    work.kernel(0, 1000, launch=(0, 1))
    work.kernel(100, 140, device=1, launch=(2, 3))
    result = judged(work)
    assert [device.takes_part for device in result.measured.devices] == [True, False]
    assert result.measured.metrics.gpu_idle_ratio == 0.0


def test_copies_are_no_work_but_explain_idle_time(work: Workload) -> None:
    work.kernel(0, 50, launch=(0, 1))
    work.copy(50, 900)
    work.kernel(950, 1000, launch=(2, 3))
    result = judged(work)
    (device,) = result.measured.devices
    assert (device.idle_ns, device.copy_only_ns) == (900_000, 850_000)
    assert result.overall.aggregate.explained_by_copies
    assert (result.answer, result.guide.answer) == (Answer.NO, Answer.YES)
    assert "R4" in result.reliability.codes


def test_graph_replays_are_work(work: Workload) -> None:
    """The pitfall of decode traces: 99 % idle when replays are not counted."""
    for i in range(60):
        work.replay(1000 * i, 1000 * i + 950, launch=(1000 * i, 1000 * i + 5))
    work.kernel(60_000, 60_100, launch=(59_000, 59_010))
    result = judged(work)
    assert idle(result) == [round(1 - (60 * 950 + 100) / 60_100, 4)]
    assert "R2" in result.reliability.codes
    assert result.graph_use.replays == 60


def test_graphs_that_were_not_recorded_leave_no_verdict(work: Workload) -> None:
    for i in range(60):
        work.call("cudaGraphLaunch_v10000", 1000 * i, 1000 * i + 5)
    work.kernel(0, 10, launch=(0, 1))
    work.kernel(60_000, 60_100, launch=(59_900, 59_910))
    result = judged(work)
    metrics = result.measured.metrics
    assert result.answer is Answer.NOT_APPLICABLE
    assert (metrics.gpu_idle_ratio, metrics.gpu_utilization, metrics.nccl_ratio) == (None,) * 3
    assert metrics.missing["gpu_idle_ratio"] == HIDDEN_GRAPHS
    assert result.reliability.level is Trust.UNRELIABLE
    assert "R1" in result.reliability.codes
    assert metrics.launch_overhead_ratio is not None


LAUNCH_NAMES = ["cudaLaunchKernel_v7000", "cudaLaunchKernel_ptsz_v7000", "cuLaunchKernelEx",
                "cudaLaunchKernelExC_v11060", "cudaLaunchCooperativeKernel_v9000"]  # fmt: skip


@pytest.mark.parametrize("name", LAUNCH_NAMES)
def test_every_launch_call_counts_under_its_base_name(work: Workload, name: str) -> None:
    work.kernel(0, 1000, launch=(0, 1))
    work.call(name, 100, 300)
    work.call("cudaMemcpyAsync_v3020", 400, 900)
    launch = judged(work).measured.launch
    assert launch is not None
    assert launch.net_ratio == 0.201


def test_the_busiest_thread_is_the_headline(work: Workload) -> None:
    work.kernel(0, 1000)
    for pid, length in ((1, 100), (2, 300)):
        work.call(LAUNCH, 200, 200 + length, pid=pid)
        work.kernel(0, 1000, pid=pid, device=pid)
    launch = judged(work).measured.launch
    assert launch is not None
    assert (launch.net_ratio, launch.sum_ratio) == (0.3, 0.4)
    assert [thread.gross_ns for thread in launch.threads] == [300_000, 100_000]


def test_time_blocked_in_a_full_queue_is_no_overhead(work: Workload) -> None:
    work.kernel(0, 1000, launch=(0, 10))
    work.call(LAUNCH, 100, 700)
    work.overhead(8, 150, 690)
    result = judged(work)
    launch = result.measured.launch
    assert launch is not None
    assert launch.blocked_by == "overhead rows"
    assert (launch.gross_ratio, round(launch.net_ratio, 6)) == (0.61, 0.07)
    assert "R5" in result.reliability.codes
    assert not result.overall.aggregate.crossed["launch_overhead_ratio"]
    assert result.guide.aggregate.crossed["launch_overhead_ratio"]


def test_long_launches_under_gpu_work_count_as_blocked_without_overhead_rows(
    tmp_path: Path,
) -> None:
    work = Workload(tmp_path / "old.sqlite", year=2024)
    for i in range(20):
        work.kernel(100 * i, 100 * i + 99, launch=(100 * i, 100 * i + 4))
    work.kernel(2000, 5000, launch=(2000, 2900))  # GPU works meanwhile
    work.kernel(9000, 9010, launch=(6000, 6900))  # GPU idles meanwhile: real overhead
    launch = judged(work).measured.launch
    assert launch is not None
    assert launch.blocked_by == "long launches under GPU work"
    [thread] = launch.threads
    assert (thread.gross_ns, thread.blocked_ns) == (1_880_000, 900_000)


def steps(work: Workload, count: int = 10, pid: int = 1, device: int = 0, shift: float = 0) -> None:
    """Each step of 800 µs: preparation 0-200, kernel 150-650."""
    for i in range(count):
        at = 1000 * i + shift
        text = f"[Executor] _forward_step {i}: 0 ctx reqs, 4 gen reqs"
        work.range(text, at, at + 800, pid=pid)
        work.range("_prepare_inputs", at, at + 200, pid=pid)
        work.kernel(at + 150, at + 650, launch=(at + 100, at + 110), pid=pid, device=device)


def test_preparation_is_exposed_while_its_gpu_idles(work: Workload) -> None:
    steps(work)
    result = judged(work, "auto")
    metrics = result.measured.metrics
    window = 9800.0
    assert result.window is not None
    assert (result.window.start_ns, result.window.end_ns) == (0, 9_800_000)
    assert "benchmark phase" in result.window.reason
    assert metrics.host_prep_exposed_ratio == 150 / 200
    assert metrics.host_prep_perf_impact == 1500 / window
    assert metrics.host_prep_idle_attribution == 1500 / (window - 5000)
    generation = result.phases["generation"]
    assert (generation.iterations, generation.ranges, generation.graphs) == (10, 10, False)
    assert generation.measured.metrics.gpu_idle_ratio == 300 / 800
    assert generation.measured.metrics.host_prep_idle_attribution == 150 / 300


def test_ranks_do_not_double_preparation(work: Workload) -> None:
    """Two ranks, 150 µs apart: each against its own GPU."""
    steps(work)
    steps(work, pid=2, device=1, shift=150)
    metrics = judged(work, "auto").measured.metrics
    assert metrics.host_prep_exposed_ratio == 150 / 200


def test_preparation_of_one_process_is_set_against_its_own_gpu(work: Workload) -> None:
    """Two processes with the same correlation ids; only the first one prepares."""
    steps(work, 6)
    for i in range(6):
        work.kernel(1000 * i, 1000 * i + 900, device=1, pid=2, correlationId=2 * i + 1)
        work.call(LAUNCH, 1000 * i, 1000 * i + 1, pid=2, correlationId=2 * i + 1)
    result = judged(work, "auto")
    first, second = result.measured.devices
    assert (first.prep_ns, first.prep_exposed_ns) == (6 * 200_000, 6 * 150_000)
    assert (second.prep_ns, second.prep_exposed_ns) == (0, 0)


def test_communication_is_per_device(work: Workload) -> None:
    work.kernel(0, 1000, launch=(0, 1))
    work.kernel(500, 700, name="ncclDevKernel_AllGather", stream=9, launch=(2, 3))
    work.kernel(700, 750, name="cross_device_reduce_1stage", stream=9, launch=(4, 5))
    work.kernel(0, 1000, device=1, launch=(6, 7))
    work.kernel(100, 500, name="ncclDevKernel_AllGather", device=1, stream=9, launch=(8, 9))
    result = judged(work)
    assert [(d.nccl_ratio, d.comm_ratio) for d in result.measured.devices] == [
        (0.2, 0.25), (0.4, 0.4),
    ]  # fmt: skip
    assert result.measured.metrics.nccl_ratio == 0.3
    assert result.overall.aggregate.nccl_caveat


def test_load_before_the_benchmark_does_not_count(work: Workload) -> None:
    work.kernel(0, 10, launch=(0, 1))
    work.call("cudaMalloc_v3020", 20, 200_000)
    for i in range(10):
        at = 400_000 + 1000 * i
        work.range(f"[Executor] _forward_step {i + 20}: 0 ctx reqs, 4 gen reqs", at, at + 990)
        work.kernel(at, at + 900, launch=(at, at + 5))
    with work.opened() as trace:
        auto, all_of_it = analyze(trace), analyze(trace, window="trace")
        steady = analyze(trace, window="steady")
        span = analyze(trace, window="0.4:0.40999")
    assert idle(auto) == idle(steady) == idle(span)
    assert idle(all_of_it)[0] > 0.97
    assert "R8" in all_of_it.reliability.codes
    assert "R8" not in auto.reliability.codes


@pytest.mark.parametrize("window", ["whole", "3:1", "1:x", "", "-1:4", "1:1e300"])
def test_windows_that_are_none(work: Workload, window: str) -> None:
    work.kernel(0, 10, launch=(0, 1))
    with pytest.raises(RequestError, match="window"):
        judged(work, window)


def test_the_steady_window_needs_steady_steps(work: Workload) -> None:
    work.kernel(0, 10, launch=(0, 1))
    with pytest.raises(RequestError, match="no iterations detected"):
        judged(work, "steady")


def test_a_process_without_gpu_work_is_named(work: Workload) -> None:
    work.kernel(0, 10, launch=(0, 1))
    work.call(LAUNCH, 5, 9, pid=2)
    result = judged(work)
    [text] = [c.text for c in result.reliability.conditions if c.code == "R6"]
    assert "pid 2" in text


def test_lost_data_makes_a_verdict_unreliable(work: Workload) -> None:
    work.kernel(0, 10, launch=(0, 1))
    work.export.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=1, source=1, severity=2,
                    text="CUDA event buffers overflow: 12 events were dropped")  # fmt: skip
    result = judged(work)
    assert "R7" in result.reliability.codes
    assert result.reliability.level is Trust.UNRELIABLE


def test_orphans_stay_in_the_totals(work: Workload) -> None:
    work.kernel(0, 500, launch=(0, 1))
    work.kernel(600, 1000)
    result = judged(work)
    assert idle(result) == [0.1]
    assert "R10" in result.reliability.codes


def healthy(work: Workload) -> None:
    for i in range(120):
        work.range(f"iteration {i}", 200 * i, 200 * i + 190)
        work.kernel(200 * i, 200 * i + 190, launch=(200 * i, 200 * i + 3))


def test_a_healthy_trace_has_nothing_to_say(work: Workload) -> None:
    healthy(work)
    result = judged(work, "auto")
    assert (result.answer, result.reliability.conditions) == (Answer.NO, ())
    assert result.reliability.level is Trust.OK


@pytest.mark.parametrize(
    "table", ["NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"]
)
def test_a_missing_table_makes_its_metrics_unknown(work: Workload, table: str) -> None:
    steps(work, 60)
    work.export.close()
    connection = sqlite3.connect(work.path)
    connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    with opened(work.path) as trace:
        result = analyze(trace)
    metrics = result.measured.metrics
    if table == "NVTX_EVENTS":
        assert metrics.missing == dict.fromkeys(
            ("host_prep_exposed_ratio", "host_prep_perf_impact", "host_prep_idle_attribution"),
            NO_PREP,
        )
        assert (result.answer, result.overall.aggregate.applicable_count) == (Answer.YES, 3)
        assert result.phases == {}
    elif table == "CUPTI_ACTIVITY_KIND_RUNTIME":
        assert metrics.launch_overhead_ratio is None
        assert "API call" in metrics.missing["launch_overhead_ratio"]
        assert result.overall.aggregate.applicable_count == 5
    else:
        assert result.answer is Answer.NOT_APPLICABLE
        assert metrics.missing["gpu_idle_ratio"] == NO_GPU_WORK
        assert NO_LAUNCHES not in metrics.missing.values()


def test_the_trace_is_not_written(work: Workload) -> None:
    healthy(work)
    work.export.close()
    before = (work.path.read_bytes(), os.stat(work.path).st_mtime_ns)
    with opened(work.path) as trace:
        analyze(trace)
    assert (work.path.read_bytes(), os.stat(work.path).st_mtime_ns) == before


spans = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=8)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(kernels=spans, preps=spans, seed=st.integers(0, 1 << 30))
def test_identities_of_the_metrics(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[tuple[int, int]],
    preps: list[tuple[int, int]], seed: int,
) -> None:  # fmt: skip
    """M3b = M3c · M1 and M3a · preparation = M3b · window, whatever ran when."""
    work = Workload(tmp_path_factory.mktemp("identity") / f"{seed}.sqlite")
    for i, (start, length) in enumerate(kernels):
        work.kernel(start, start + length, device=i % 2, stream=i % 3, launch=(start, start + 1))
    for start, length in preps:
        work.range("prepare_inputs", start, start + length)
    result = judged(work)
    metrics, measured = result.measured.metrics, result.measured
    if metrics.host_prep_exposed_ratio is None:
        assert not measured.prep_ns
        return
    assert metrics.host_prep_perf_impact is not None
    assert metrics.host_prep_idle_attribution is not None
    assert metrics.gpu_idle_ratio is not None
    assert measured.prep_ns is not None
    window = sum(device.window_ns for device in measured.taking_part)
    assert isclose(
        metrics.host_prep_perf_impact,
        metrics.host_prep_idle_attribution * metrics.gpu_idle_ratio,
        abs_tol=1e-12,
    )
    assert isclose(
        metrics.host_prep_exposed_ratio * measured.prep_ns,
        metrics.host_prep_perf_impact * window,
        abs_tol=1e-6,
    )
    busy_oracle = [
        len({t for i, (s, n) in enumerate(kernels) if i % 2 == d.device for t in range(s, s + n)})
        for d in measured.devices
    ]
    assert [device.busy_ns for device in measured.devices] == [1000 * b for b in busy_oracle]


def test_the_profilers_own_time_is_a_caution(work: Workload) -> None:
    healthy(work)
    work.overhead(4, 1000, 6000)  # instrumentation: not a wait of the program
    result = judged(work, "auto")
    assert result.reliability.codes == ("R9",)
    launch = result.measured.launch
    assert launch is not None
    assert launch.blocked_share == 0.0


def test_devices_that_differ_are_a_caution(work: Workload) -> None:
    for i in range(60):
        work.kernel(1000 * i, 1000 * i + 900, launch=(1000 * i, 1000 * i + 3))
        work.kernel(1000 * i, 1000 * i + 500, device=1, launch=(1000 * i + 4, 1000 * i + 7))
    result = judged(work)
    [text] = [c.text for c in result.reliability.conditions if c.code == "R11"]
    assert "differs by 4" in text


def test_impossible_times_are_a_caution(work: Workload) -> None:
    healthy(work)
    work.range("ends before it starts", 500, 400)
    work.kernel(24_000, 23_990, launch=(23_900, 23_901))
    assert "R12" in judged(work, "auto").reliability.codes


def test_a_process_that_replays_graphs_without_steps(work: Workload) -> None:
    work.range("load", 10, 90)  # the process without steps comes first
    for i in range(12):
        at = 100 + i * 1000
        work.range(f"[Executor] _forward_step {i}: 0 ctx reqs, 4 gen reqs", at, at + 600, pid=2)
        work.replay(at + 100, at + 500, launch=(at + 10, at + 20), pid=2)
        work.replay(at + 100, at + 500, launch=(at + 10, at + 20))
    assert judged(work).phases["generation"].graphs
