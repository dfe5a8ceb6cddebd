"""Per-step figures of small traces, against values computed by hand. Times in µs."""

import pytest

from dctx.analyzers.step_profile import StepProfile, step_profile
from dctx.analyzers.step_table import StepTable
from dctx.analyzers.steps import StepOptions, find_steps
from dctx.queries.trace import Trace
from tests.analyzers.workload import Workload
from tests.near import near

STEPS = 12
STEADY = STEPS - 3  # the first three are warm-up
PAIRS = STEADY - 1
OPTIONS = StepOptions(step_regex=r"^my step (?P<step>\d+)$")


def profiled(trace: Trace) -> StepProfile:
    return step_profile(trace, find_steps(trace, OPTIONS))


def row(table: StepTable | None, name: str, *, other: bool = False) -> dict[str, float]:
    assert table is not None
    [at] = [
        i for i, n in enumerate(table.names) if n == name and bool(table.other_thread[i]) == other
    ]
    return {
        "total": float(table.total.mean[at]) / 1000,
        "self": float(table.self_per_step_ns[at]) / 1000,
        "calls": float(table.calls_per_step[at]),
        "inside": float(table.in_step_share[at]),
    }


def mean_us(series: object) -> float:
    value = series.mean  # type: ignore[attr-defined]  # pyright: ignore
    assert isinstance(value, float)
    return value / 1000


def host_step(work: Workload, i: int, *, pid: int = 1, offset: float = 0) -> None:
    """600 of step, 400 of gap: 100 of `prep` (20 of it `inner`) inside, 50 of `poll` outside."""
    at = 1000 * i + offset
    work.range(f"my step {i}", at, at + 600, pid=pid)
    work.range("prep", at + 10, at + 110, pid=pid)
    work.range("inner", at + 50, at + 70, pid=pid)
    work.range("poll", at + 700, at + 750, pid=pid)


@pytest.fixture
def plain(work: Workload) -> Workload:
    for i in range(STEPS):
        at = 1000 * i
        host_step(work, i)
        work.range("again", at + 200, at + 260)
        work.range("again", at + 210, at + 230)  # in itself: counts once
        work.kernel(at + 320, at + 360, launch=(at + 300, at + 305))
        work.kernel(at + 400, at + 430, launch=(at + 310, at + 312), name="norm")
        work.range("background", at + 20, at + 920, tid=2)
        work.kernel(at + 800, at + 810, launch=(at + 30, at + 40), tid=2, name="side")
    return work


def test_operations_per_step(plain: Workload) -> None:
    with plain.opened() as trace:
        profile = profiled(trace)
    host = profile.host
    assert row(host, "prep") == {"total": 100, "self": 80, "calls": 1, "inside": 1}
    assert row(host, "inner") == {"total": 20, "self": 20, "calls": 1, "inside": 1}
    assert row(host, "poll") == {"total": 50, "self": 50, "calls": 1, "inside": 0}
    assert row(host, "again") == {"total": 60, "self": 60, "calls": 2, "inside": 1}
    assert row(host, "cudaLaunchKernel") == {"total": 7, "self": 7, "calls": 2, "inside": 1}
    other = row(host, "background", other=True)
    assert other == {"total": 900, "self": 890, "calls": 1, "inside": 1}
    assert row(host, "my step #") == {
        "total": 600, "self": 600 - 100 - 60 - 7, "calls": 1, "inside": 1
    }  # fmt: skip
    assert host is not None
    assert [host.names[i] for i in host.is_step.nonzero()[0]] == ["my step #"]


def test_times_and_what_is_left_over(plain: Workload) -> None:
    with plain.opened() as trace:
        profile = profiled(trace)
    assert profile.pairs == PAIRS
    assert profile.duration.count == PAIRS
    assert (mean_us(profile.duration), mean_us(profile.gap)) == (600, 400)
    assert mean_us(profile.wall) == 1000
    # Step: 600 less prep (with inner), again and launches; gap: 400 less poll.
    assert profile.unattributed_step_ns == near(1000 * (600 - 100 - 60 - 7))
    assert profile.unattributed_gap_ns == near(1000 * (400 - 50))


def test_the_parts_of_the_step_thread_sum_to_the_wall_time(plain: Workload) -> None:
    with plain.opened() as trace:
        profile = profiled(trace)
    table = profile.host
    assert table is not None
    named = ~table.other_thread & ~table.is_step
    own = float(table.self_per_step_ns[named].sum())
    rest = (profile.unattributed_step_ns or 0) + (profile.unattributed_gap_ns or 0)
    assert own + rest == near(profile.wall_per_step_ns)


def test_gpu_work_belongs_to_the_step_that_launched_it(plain: Workload) -> None:
    with plain.opened() as trace:
        profile = profiled(trace)
    assert row(profile.gpu, "gemm") == {"total": 40, "self": 40, "calls": 1, "inside": 1}
    assert row(profile.gpu, "side", other=True)["total"] == 10
    assert profile.launched_kernels is not None
    assert profile.launched_kernels.mean == 2  # of the step's thread
    assert mean_us(profile.launched_ns) == 70
    assert mean_us(profile.gpu_ns) == 80  # of any thread
    assert profile.launches is not None
    assert profile.launches.mean == 2
    assert mean_us(profile.launch_ns) == 7


def test_ranks_are_apart_and_averaged(work: Workload) -> None:
    for i in range(STEPS):
        host_step(work, i)
        host_step(work, i, pid=2, offset=150)
        work.range("only here", 1000 * i + 120, 1000 * i + 140, pid=2)
        work.range("only here", 1000 * i + 170, 1000 * i + 190, pid=2, tid=9)
    with work.opened() as trace:
        profile = profiled(trace)
    assert profile.ranks == ("pid 1", "pid 2")
    assert profile.pairs == 2 * PAIRS
    host = profile.host
    # pid 2 begins 150 later: the range at 120 lies in the gap of the step before.
    assert row(host, "only here") == {"total": 10, "self": 10, "calls": 0.5, "inside": 0}
    assert row(host, "only here", other=True)["total"] == 10
    assert row(host, "prep")["total"] == 100


def test_overlapping_steps_keep_their_negative_gaps(work: Workload) -> None:
    for i in range(STEPS):
        work.range(f"my step {i}", 1000 * i, 1000 * i + 1100)
        work.range("late", 1000 * i + 1050, 1000 * i + 1060)
    with work.opened() as trace:
        profile = profiled(trace)
    assert mean_us(profile.gap) == -100
    assert mean_us(profile.wall) == 1000
    assert row(profile.host, "late")["calls"] == 1


def test_ranges_without_an_end_are_counted_not_averaged(work: Workload) -> None:
    for i in range(STEPS):
        host_step(work, i)
    work.range("never ends", 5_005, None, tid=2)
    with work.opened() as trace:
        profile = profiled(trace)
    assert profile.open_ranges == 1
    assert profile.host is not None
    assert "never ends" not in profile.host.names


def test_without_steps_everything_is_unknown(work: Workload) -> None:
    work.kernel(10, 20, launch=(1, 2))
    with work.opened() as trace:
        profile = profiled(trace)
    assert profile.pairs == 0
    assert profile.wall_per_step_ns is None
    assert (profile.host, profile.gpu, profile.launched_kernels) == (None, None, None)
    assert profile.host_missing == profile.gpu_missing
    assert profile.host_missing == "no two consecutive steady steps were found"
    assert profile.unattributed_step_ns is None


def test_without_calls_gpu_work_is_unknown(work: Workload) -> None:
    for i in range(STEPS):
        host_step(work, i)
        work.kernel(1000 * i + 320, 1000 * i + 360)  # no launch
    with work.opened() as trace:
        profile = profiled(trace)
    assert profile.gpu is None
    assert profile.gpu_missing is not None
    assert "launches of the GPU work are not in the trace" in profile.gpu_missing
    assert profile.launches is None
    assert row(profile.host, "prep")["total"] == 100


def test_without_kernels_gpu_work_is_unknown(work: Workload) -> None:
    for i in range(STEPS):
        host_step(work, i)
        work.call("cudaLaunchKernel_v7000", 1000 * i + 300, 1000 * i + 305)
    with work.opened() as trace:
        profile = profiled(trace)
    assert profile.gpu_missing == "no GPU work was recorded in the steps"
    assert profile.launches is not None
    assert profile.launches.mean == 1


def test_steps_found_on_the_gpu_have_gpu_figures_only(work: Workload) -> None:
    for i in range(STEPS):
        at = 10_000 * i
        for k in range(4):
            work.kernel(at + 100 * k, at + 100 * k + 50, name="allreduce_kernel",
                        launch=(at + 100 * k - 9, at + 100 * k - 6) if i + k else None)  # fmt: skip
    with work.opened() as trace:
        steps = find_steps(trace)
        profile = step_profile(trace, steps)
    assert profile.host is None
    assert profile.host_missing == "the steps were found on the GPU: no thread is known to run them"
    assert profile.executed_kernels is not None
    assert profile.executed_kernels.mean == 4
    assert row(profile.gpu, "allreduce_kernel")["total"] == 200
