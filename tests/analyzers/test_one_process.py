"""One process of a trace judged as if it had been recorded alone. Times in microseconds.

Every rank runs ten steps, one a millisecond: the step takes 800, its preparation the first 200, the
launch 100 to 110, the kernel begins at 150. The window is the first nine milliseconds.
"""

from collections.abc import Callable

import pytest

from dctx.analyzers.config import default_config
from dctx.analyzers.host_overhead import HostOverhead, analyze
from dctx.analyzers.idle_blame import idle_blame
from dctx.analyzers.step_report import StepReport, judged_steps, process_steps
from dctx.queries.lanes import processes
from tests.analyzers.workload import LAUNCH, Workload

WINDOW = "0:0.009"
STEP = "[Executor] _forward_step #: # ctx reqs, # gen reqs"
Make = Callable[[Workload], None]


def rank(work: Workload, pid: int, device: int, shift: float, kernel: float, stream: int) -> None:
    for i in range(10):
        at = 1000 * i + shift
        text = f"[Executor] _forward_step {i}: 0 ctx reqs, 4 gen reqs"
        work.range(text, at, at + 800, pid=pid)
        work.range("_prepare_inputs", at, at + 200, pid=pid)
        work.kernel(
            at + 150, at + 150 + kernel, launch=(at + 100, at + 110), pid=pid, device=device,
            stream=stream,
        )  # fmt: skip


def apart(work: Workload) -> None:
    """Each rank on its own GPU: 500 of 1000 busy, and 400 of 1000, 150 later."""
    rank(work, 1, 0, 0, 500, 7)
    rank(work, 2, 1, 150, 400, 7)


def shared(work: Workload) -> None:
    """Both on one GPU, which runs kernels of one at 150 to 650, of the other at 650 to 1050."""
    work.export.add("TARGET_INFO_GPU", id=0, cuDevice=0, name="H100", vmId=1 << 48)
    for pid in (1, 2):
        work.export.add("TARGET_INFO_CUDA_DEVICE", gpuId=0, cudaId=0, pid=pid)
    rank(work, 1, 0, 0, 500, 7)
    rank(work, 2, 0, 500, 400, 8)


def reports(work: Workload, make: Make) -> tuple[StepReport, dict[int, StepReport]]:
    """Of all, and of each process by its pid."""
    make(work)
    with work.opened() as trace:
        whole = judged_steps(trace, default_config(), WINDOW)
        numbers = {p.pid: p.process for p in processes(trace).values()}
        return whole, {pid: process_steps(trace, whole, WINDOW, numbers[pid]) for pid in (1, 2)}


def idle(report: StepReport) -> dict[int, int]:
    """By device, which every part of the report tells alike."""
    blame, gaps = report.judged.blame, report.gaps
    assert blame is not None
    assert gaps is not None
    measured = report.judged.result.measured
    assert gaps.idle_ns == blame.idle_ns == {d.device: d.idle_ns for d in measured.devices}
    assert sum(cause.ns for cause in blame.causes) == sum(blame.idle_ns.values())
    return {device: ns // 1000 for device, ns in blame.idle_ns.items()}


def causes(report: StepReport) -> dict[tuple[int, str, str], int]:
    blame = report.judged.blame
    assert blame is not None
    return {(c.device, c.idle_class.name, c.text): c.ns // 1000 for c in blame.causes}


def launch_us(result: HostOverhead) -> int:
    launch = result.measured.launch
    assert launch is not None
    return sum(thread.gross_ns for thread in launch.threads) // 1000


def test_ranks_on_their_own_gpus_sum_to_the_whole(work: Workload) -> None:
    whole, alone = reports(work, apart)
    assert (idle(alone[1]), idle(alone[2])) == ({0: 9000 - 9 * 500}, {1: 9000 - 9 * 400})
    assert idle(whole) == idle(alone[1]) | idle(alone[2])
    # Idle 0-150 and 650-1000 of each millisecond: preparation, launch, the rest of the step, gap.
    assert causes(alone[1]) == {
        (0, "CODE", "_prepare_inputs"): 9 * 140,
        (0, "API_CALL", "cudaLaunchKernel"): 9 * 10,
        (0, "CODE", STEP): 9 * 150,
        (0, "UNATTRIBUTED", ""): 9 * 200,
    }
    assert causes(whole) == causes(alone[1]) | causes(alone[2])
    assert [launch_us(r.judged.result) for r in (alone[1], alone[2], whole)] == [90, 90, 180]
    for pid in (1, 2):
        [device] = alone[pid].judged.result.measured.devices
        assert (device.prep_ns, device.prep_exposed_ns) == (1_800_000, 1_350_000)
    both = whole.judged.result.measured
    assert (both.prep_ns, both.prep_exposed_ns) == (3_600_000, 2_700_000)


def test_a_phase_of_one_rank_is_of_its_steps(work: Workload) -> None:
    whole, alone = reports(work, apart)
    ratios = [
        report.judged.result.phases["generation"].measured.metrics.gpu_idle_ratio
        for report in (alone[1], alone[2], whole)
    ]
    assert ratios == [300 / 800, 400 / 800, 700 / 1600]
    assert [len(report.steps) for report in (alone[1], alone[2], whole)] == [10, 10, 20]
    assert [report.judged.result.iterations for report in (alone[1], whole)] == [9, 9]


def test_a_gpu_that_ranks_share_idles_when_neither_runs(work: Workload) -> None:
    """Idle 0 to 150, then 50 to 150 of the eight next milliseconds: the same for both."""
    whole, alone = reports(work, shared)
    assert idle(alone[1]) == idle(alone[2]) == idle(whole) == {0: 150 + 8 * 100}


def test_only_the_own_threads_explain_a_shared_gpu(work: Workload) -> None:
    whole, alone = reports(work, shared)
    first = {
        (0, "CODE", "_prepare_inputs"): 140 + 8 * 90,
        (0, "API_CALL", "cudaLaunchKernel"): 9 * 10,
    }
    assert causes(alone[1]) == first
    assert causes(alone[2]) == {(0, "UNATTRIBUTED", ""): 150, (0, "CODE", STEP): 8 * 100}
    assert causes(whole) == first, "the first rank launches what ends each of them"
    assert [launch_us(r.judged.result) for r in (alone[1], alone[2], whole)] == [90, 90, 180]


def test_only_the_own_preparation_counts_on_a_shared_gpu(work: Workload) -> None:
    whole, alone = reports(work, shared)
    found = {
        name: (report.judged.result.measured.prep_ns, report.judged.result.measured.prep_exposed_ns)
        for name, report in (("whole", whole), ("first", alone[1]), ("second", alone[2]))
    }
    assert found == {
        "first": (1_800_000, 950_000), "second": (1_800_000, 0), "whole": (3_600_000, 950_000),
    }  # fmt: skip


def test_what_is_too_little_is_told_of_the_process(work: Workload) -> None:
    """60 kernels on one GPU, 6 on the other."""
    for i in range(60):
        work.kernel(1000 * i, 1000 * i + 500, launch=(1000 * i, 1000 * i + 5))
    for i in range(6):
        work.kernel(10_000 * i, 10_000 * i + 5000, device=1, pid=2, launch=(10_000 * i, 10_000 * i))
    with work.opened() as trace:
        numbers = {p.pid: p.process for p in processes(trace).values()}
        first = analyze(trace, window="trace", process=numbers[1])
        second = analyze(trace, window="trace", process=numbers[2])
    assert "R3" not in first.reliability.codes
    [text] = [c.text for c in second.reliability.conditions if c.code == "R3"]
    assert text == "too little to judge: 6 kernels and graph replays in the window"


def test_another_process_without_gpu_work_is_not_this_ones_concern(work: Workload) -> None:
    apart(work)
    work.call(LAUNCH, 5, 9, pid=3)
    with work.opened() as trace:
        numbers = {p.pid: p.process for p in processes(trace).values()}
        assert "R6" in analyze(trace, window=WINDOW).reliability.codes
        assert "R6" not in analyze(trace, window=WINDOW, process=numbers[1]).reliability.codes


def test_a_process_that_ran_no_step(work: Workload) -> None:
    rank(work, 1, 0, 0, 500, 7)
    work.kernel(0, 9000, device=1, pid=2, launch=(0, 5))
    with work.opened() as trace:
        numbers = {p.pid: p.process for p in processes(trace).values()}
        result = analyze(trace, window=WINDOW, process=numbers[2])
        blame = idle_blame(result)
    assert len(result.steps) == 0
    assert result.steps.reason == "pid 2 ran none of the steps of this trace"
    assert blame is not None
    assert blame.idle_ns == {1: 0}


@pytest.mark.parametrize(("window", "expected"), [("0:0.03", "3 of 10 steps"), ("0:0.06", "")])
def test_steps_are_counted_in_the_window(work: Workload, window: str, expected: str) -> None:
    """Ten steps of 10 ms with 20 kernels each: three of them are too few, though ten were found."""
    for i in range(10):
        at = 10_000 * i
        work.range(f"[Executor] _forward_step {i}: 0 ctx reqs, 4 gen reqs", at, at + 9900)
        for k in range(20):
            work.kernel(at + 400 * k + 50, at + 400 * k + 400, launch=(at + 400 * k, at + 400 * k))
    with work.opened() as trace:
        found = analyze(trace, window=window).reliability.conditions
    texts = [condition.text for condition in found if condition.code == "R3"]
    assert texts == ([f"too little to judge: {expected} in the window"] if expected else [])
