"""What the launching thread did while its GPU was idle. Times in microseconds."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.analyzers.host_overhead import analyze
from dctx.analyzers.idle_blame import IdleBlame, idle_blame
from dctx.analyzers.thread_states import IdleClass
from tests.analyzers.workload import LAUNCH, Workload


def blamed(work: Workload, window: str = "trace") -> IdleBlame:
    with work.opened() as trace:
        found = idle_blame(analyze(trace, window=window))
    assert found is not None
    return found


def causes(found: IdleBlame, device: int = 0) -> dict[tuple[str, str], float]:
    return {
        (cause.idle_class.name, cause.text): cause.ns / 1000
        for cause in found.causes
        if cause.device == device
    }


def test_the_first_class_that_fits_takes_the_time(work: Workload) -> None:
    work.kernel(0, 100, launch=(0, 5))
    work.copy(100, 150)
    work.range("outer", 100, 900)
    work.range("inner #3", 200, 300)
    work.call(LAUNCH, 300, 400)
    work.overhead(8, 350, 390)
    work.call("cudaStreamSynchronize_v3020", 400, 500)
    work.system("futex", 450, 600)
    work.range("Waiting for GIL", 600, 650)
    work.kernel(1000, 1100, launch=(950, 960))
    found = blamed(work)
    assert causes(found) == {
        ("COPY", ""): 50.0,
        ("CODE", "outer"): 50.0 + 250.0,
        ("CODE", "inner #"): 100.0,
        ("BLOCKED_LAUNCH", "launch waiting for room in the queue"): 40.0,
        ("API_CALL", "cudaLaunchKernel"): 60.0 + 10.0,
        ("BLOCKING_CALL", "cudaStreamSynchronize"): 100.0,
        ("SYSTEM_WAIT", "futex"): 100.0,
        ("GIL", "waiting for Python's lock (GIL)"): 50.0,
        ("UNATTRIBUTED", ""): 90.0,
    }
    assert found.idle_ns == {0: 900_000}
    assert found.totals()[IdleClass.CODE] == 400_000


def test_a_thread_that_is_not_scheduled(work: Workload) -> None:
    from dctx.demo_data.nsys_export import global_tid

    work.kernel(0, 100, launch=(0, 5))
    work.range("code", 100, 900)
    for at, comes in ((0, 1), (200, 0), (500, 1), (1100, 0)):
        work.export.add("SCHED_EVENTS", start=at * 1000, cpu=1, isSchedIn=comes,
                        globalTid=global_tid(1, 1))  # fmt: skip
    work.kernel(900, 1000, launch=(890, 895))
    assert causes(blamed(work)) == {
        ("OFF_CPU", "not scheduled"): 300.0,
        ("CODE", "code"): 495.0,
        ("API_CALL", "cudaLaunchKernel"): 5.0,
    }


def test_each_device_asks_the_thread_that_launches_to_it(work: Workload) -> None:
    for pid in (1, 2):
        for at in (0, 500):
            work.kernel(at, at + 100, pid=pid, device=pid - 1, launch=(at, at + 5))
        work.range(f"rank {'ab'[pid - 1]}", 100, 500, pid=pid)
    found = blamed(work)
    assert causes(found, 0) == {("CODE", "rank a"): 400.0}
    assert causes(found, 1) == {("CODE", "rank b"): 400.0}


def test_of_threads_that_launch_as_much_the_issuer_of_the_next_one(work: Workload) -> None:
    for i in range(10):
        at = 200 * i
        work.kernel(at + 100, at + 200, launch=(at, at + 10), tid=1 + i % 2)
        work.range(f"thread {'ab'[i % 2]}", at + 10, at + 100, tid=1 + i % 2)
    found = blamed(work)
    assert found.launching.keys() == {0}
    assert len(found.launching[0]) == 2
    assert causes(found) == {
        ("CODE", "thread b"): 5 * 90.0,
        ("CODE", "thread a"): 4 * 90.0,
        ("API_CALL", "cudaLaunchKernel"): 9 * 10.0,
    }


def test_a_helper_thread_is_not_asked(work: Workload) -> None:
    for i in range(10):
        work.kernel(200 * i, 200 * i + 100, launch=(200 * i, 200 * i + 1))
    work.kernel(2000, 2100, launch=(1990, 1991), tid=2)
    work.range("helper", 0, 3000, tid=2)
    assert causes(blamed(work)) == {("UNATTRIBUTED", ""): 9 * 100.0 + 100.0}


def test_idle_time_by_step(work: Workload) -> None:
    """A step reaches to the next one: gaps between steps belong to the step before."""
    for i in range(6):
        at = 1000 * i
        work.range(f"[Executor] _forward_step {i}: 0 ctx reqs, 2 gen reqs", at, at + 700)
        work.range("_schedule", at + 700, at + 900 + 10 * i)
        work.kernel(at + 200, at + 700, launch=(at + 190, at + 195))
    with work.opened() as trace:
        result = analyze(trace)
        found = idle_blame(result)
    assert found is not None
    assert result.window is not None
    code = found.by_step[0, :, IdleClass.CODE].tolist()
    assert code[:5] == [1000 * (195 + 200 + 10 * i) for i in range(5)]
    assert code[5] == 195_000  # the window ends with the last step's range
    assert found.by_step[0, 0, IdleClass.UNATTRIBUTED] == 100_000
    assert not found.outside.any()
    mean = found.per_step_ns(result.steps.steady)
    assert mean[IdleClass.API_CALL] == 5000.0
    assert sum(mean.values()) * 6 == found.idle_ns[0]


def test_no_launch_in_the_trace_leaves_all_unattributed(work: Workload) -> None:
    work.kernel(0, 100)
    work.kernel(300, 400)
    found = blamed(work)
    assert causes(found) == {("UNATTRIBUTED", ""): 200.0}
    assert found.launching == {0: ()}


events = st.lists(
    st.tuples(st.sampled_from(["kernel", "copy", "range", "call", "os"]), st.integers(0, 400),
              st.integers(1, 90), st.integers(1, 2)),
    min_size=2, max_size=14,
)  # fmt: skip


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=events, seed=st.integers(0, 1 << 30))
def test_causes_sum_to_the_idle_time(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int, int]], seed: int
) -> None:
    path: Path = tmp_path_factory.mktemp("blame") / f"{seed}.sqlite"
    work = Workload(path)
    work.kernel(0, 10, launch=(0, 1))
    work.kernel(480, 500, launch=(450, 460), device=1, pid=2)
    for i in range(5):
        work.range(f"iteration {i}", 100 * i, 100 * i + 80)
    for kind, start, length, pid in rows:
        end = start + length
        if kind == "kernel":
            work.kernel(start, end, pid=pid, device=pid - 1, launch=(start, start + 1), tid=length)
        elif kind == "copy":
            work.copy(start, end, pid=pid, device=pid - 1)
        elif kind == "range":
            work.range(f"r{length % 3}", start, end, pid=pid)
        elif kind == "call":
            work.call("cudaMalloc_v3020" if length % 2 else LAUNCH, start, end, pid=pid)
        else:
            work.system("poll", start, end, pid=pid)
    found = blamed(work)
    for device, idle in found.idle_ns.items():
        assert sum(cause.ns for cause in found.causes if cause.device == device) == idle
    assert int(found.by_step.sum() + found.outside.sum()) == sum(found.idle_ns.values())
    assert sum(found.totals().values()) == sum(found.idle_ns.values())
