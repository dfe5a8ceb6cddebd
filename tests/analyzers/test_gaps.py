"""Pauses between kernels. Times in microseconds."""

import os
from pathlib import Path

import pytest

from dctx.analyzers.gap_table import GapTable
from dctx.analyzers.gaps import Gaps, gaps
from dctx.analyzers.host_overhead import analyze
from dctx.analyzers.thread_states import IdleClass
from tests.analyzers.workload import Workload, opened

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))


def measured(work: Workload, largest: int = 20) -> Gaps:
    with work.opened() as trace:
        found = gaps(analyze(trace, window="trace"), largest=largest, by_stream=True)
    assert found is not None
    return found


def filled(table: GapTable) -> dict[int, tuple[int, int]]:
    return {b.at_least_ns: (b.count, b.total_ns) for b in table.buckets if b.count}


def test_buckets_of_a_device_and_its_streams(work: Workload) -> None:
    """Stream 7: pauses of 0.5, 5, 1000 µs; stream 9 overlaps the first two."""
    for start, end in ((0, 10), (10.5, 20), (25, 30), (1030, 1040)):
        work.kernel(start, end, launch=(start, start + 0.2))
    work.kernel(5, 26, stream=9, launch=(1, 2))
    work.kernel(1040, 1050, stream=9, launch=(3, 4))  # touches: no pause of the device
    found = measured(work)
    [device] = found.devices
    assert filled(device) == {1_000_000: (1, 1_000_000)}
    assert [filled(stream) for stream in found.streams] == [
        {0: (1, 500), 5_000: (1, 5_000), 1_000_000: (1, 1_000_000)},
        {1_000_000: (1, 1_014_000)},
    ]
    assert (device.count, device.total_ns) == (1, found.idle_ns[0])
    assert [b.below_ns for b in device.buckets][:2] == [1_000, 5_000]
    assert device.buckets[-1].below_ns is None


def test_the_largest_gaps_say_what_came_before_and_after(work: Workload) -> None:
    work.kernel(0, 10, name="first", launch=(0, 1))
    work.kernel(110, 120, name="second", launch=(100, 105))
    work.copy(130, 150)
    work.range("prepare", 20, 90)
    work.kernel(160, 400, name="third", launch=(155, 156))
    found = measured(work, largest=1)
    [gap] = found.largest
    assert (gap.start_ns, gap.end_ns, gap.length_ns) == (10_000, 110_000, 100_000)
    assert gap.before is not None
    assert gap.after is not None
    assert (gap.before.name, gap.after.name) == ("first", "second")
    assert gap.after.launch_node is not None
    assert gap.causes == (
        (IdleClass.CODE, "prepare", 70_000),
        (IdleClass.UNATTRIBUTED, "", 25_000),
        (IdleClass.API_CALL, "cudaLaunchKernel", 5_000),
    )


def test_causes_of_every_gap_sum_to_its_length(work: Workload) -> None:
    for i in range(9):
        at = 100 * i
        work.kernel(at, at + 40, device=i % 2, pid=1 + i % 2, launch=(at, at + 3))
        work.copy(at + 50, at + 55, device=i % 2, pid=1 + i % 2)
        work.range("work", at + 45, at + 70 + i, pid=1 + i % 2)
    found = measured(work)
    for gap in found.largest:
        assert sum(ns for _, _, ns in gap.causes) == gap.length_ns
    for device, idle in found.idle_ns.items():
        assert sum(gap.length_ns for gap in found.largest if gap.device == device) == idle


def test_gaps_at_the_edges_of_the_window_have_one_neighbour(work: Workload) -> None:
    work.kernel(0, 1000, launch=(0, 1))
    work.kernel(300, 700, device=1, name="late", launch=(2, 3))
    first, last = (gap for gap in measured(work).largest if gap.device == 1)
    assert (first.before, first.after and first.after.name) == (None, "late")
    assert (last.before and last.before.name, last.after) == ("late", None)


def test_no_window_no_gaps(work: Workload) -> None:
    work.call("cudaMalloc_v3020", 0, 10)
    with work.opened() as trace:
        assert gaps(analyze(trace)) is None


@pytest.mark.skipif(not TRACES.exists(), reason="DCTX_TRACES names no folder with traces")
def test_buckets_of_a_real_export() -> None:
    expected = {
        0: (34, 33.5), 1_000: (3173, 6774.3), 5_000: (237, 1270.6), 10_000: (311, 8982.8),
        50_000: (149, 10802.8), 100_000: (91, 20445.2), 500_000: (7, 4907.1),
        1_000_000: (5, 10105.8),
    }  # fmt: skip
    with opened(TRACES / "nsys" / "h100-2gpu-mfu-before.sqlite") as trace:
        found = gaps(analyze(trace, window="trace"), by_stream=True)
    assert found is not None
    sums: dict[int, tuple[int, int]] = {}
    for stream in found.streams:
        for bucket in stream.buckets:
            count, total = sums.get(bucket.at_least_ns, (0, 0))
            sums[bucket.at_least_ns] = count + bucket.count, total + bucket.total_ns
    assert {
        edge: (count, round(total / 1000, 1)) for edge, (count, total) in sums.items() if count
    } == expected
