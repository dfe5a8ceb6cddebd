"""The split of a GPU's time."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx import demo_data
from dctx.analyzers.gpu_timeline import GpuTimeline, gpu_timeline
from dctx.analyzers.op_report import op_report
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.model import GpuKind
from dctx.queries.capture import device_times
from dctx.queries.report_events import Work
from tests.analyzers.workload import opened

KERNEL, COPY, SET, COMM = range(4)
SPANS = st.lists(
    st.tuples(st.sampled_from((KERNEL, COPY, SET, COMM)), st.integers(0, 60), st.integers(0, 12)),
    max_size=12,
)


def split(spans: list[tuple[int, int, int]], micro_idle_ns: int = 0) -> GpuTimeline:
    """Of (class, start, length)."""
    spans = sorted(spans, key=lambda span: span[1])
    kinds = {COPY: GpuKind.MEMCPY, SET: GpuKind.MEMSET}
    start = np.array([start for _, start, _ in spans], np.int64)
    length = np.array([length for _, _, length in spans], np.int64)
    none = np.full(len(spans), -1, np.int32)
    work = Work(
        id=np.arange(len(spans), dtype=np.int32),
        kind=np.array([kinds.get(c, GpuKind.KERNEL) for c, _, _ in spans], np.uint8),
        device=none,
        lane=none,
        start_ns=start,
        end_ns=start + length,
        name=none,
        launch=none,
        op=none,
        flow=none >= 0,
    )
    return gpu_timeline(work, np.array([c == COMM for c, _, _ in spans], bool), micro_idle_ns)


def parts(t: GpuTimeline) -> tuple[int, ...]:
    return t.computation_ns, t.exposed_comm_ns, t.exposed_memcpy_ns, t.idle_ns, t.total_ns


def test_computation_goes_before_communication_and_that_before_copies() -> None:
    found = split([(KERNEL, 0, 10), (COMM, 5, 15), (COPY, 18, 12), (SET, 40, 5)])
    assert found == GpuTimeline(
        computation_ns=15,
        exposed_comm_ns=10,
        exposed_memcpy_ns=10,
        busy_ns=35,
        micro_idle_ns=0,
        macro_idle_ns=10,
        total_ns=45,
        comm_ns=15,
        memcpy_ns=12,
    )


def test_short_gaps_are_told_from_long_ones() -> None:
    # Gaps of 5, 6 and 7 ns: the limit itself is a long one.
    found = split([(KERNEL, 0, 10), (KERNEL, 15, 5), (COPY, 26, 4), (KERNEL, 37, 3)], 6)
    assert (found.micro_idle_ns, found.macro_idle_ns, found.idle_ns) == (5, 13, 18)


def test_work_without_length_parts_a_pause_and_takes_no_time() -> None:
    found = split([(KERNEL, 0, 10), (KERNEL, 14, 0), (KERNEL, 24, 6)], 5)
    assert (found.micro_idle_ns, found.macro_idle_ns, found.busy_ns) == (4, 10, 16)


def test_no_work_takes_no_time() -> None:
    assert split([]).total_ns == 0


@pytest.mark.parametrize("name", ["llama-1b-main.sqlite", "torch-ddp"])
def test_the_overview_splits_as_the_report_does(name: str) -> None:
    with opened(Path(demo_data.__file__).parent / name) as trace:
        report, times = op_report(trace, DCTX), device_times(trace)
        assert [parts(part.timeline) for part in report.devices] == [
            (t.compute_ns, t.comm_exposed_ns, t.copy_exposed_ns, t.idle_ns, t.window_ns)
            for t in times
        ]
        assert len(times) > 1


@given(SPANS)
def test_it_is_what_a_painter_of_each_nanosecond_finds(spans: list[tuple[int, int, int]]) -> None:
    found = split(spans)
    running = [{c for c, start, length in spans if start <= t < start + length} for t in range(80)]
    computing = sum(bool(now & {KERNEL, SET}) for now in running)
    assert found.computation_ns == computing
    assert found.exposed_comm_ns == sum(COMM in now and not now & {KERNEL, SET} for now in running)
    assert found.exposed_memcpy_ns == sum(now == {COPY} for now in running)
    assert found.busy_ns == sum(map(bool, running))
    exposed = found.exposed_comm_ns + found.exposed_memcpy_ns
    assert found.computation_ns + exposed + found.idle_ns == found.total_ns
