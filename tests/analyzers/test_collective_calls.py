"""Collectives by their arguments, and the map of waits, of hand-made ranks."""

from pathlib import Path

import pytest

from dctx.analyzers.collective_calls import collective_calls
from dctx.analyzers.collective_report import CollectiveReport, collective_report
from dctx.analyzers.collective_waits import wait_map
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.kineto_files import Event, call, kernel
from tests.near import near
from tests.rank_files import all_reduces, arguments, collective, write_rank

ENDS = (160.0, 360.0, 560.0)
STARTS = {0: (100.0, 300.0, 500.0), 1: (110.0, 310.0, 510.0), 2: (150.0, 350.0, 550.0)}
"""Rank 2 is late by 50 us for rank 0 and 40 us for rank 1; the collective itself takes 10 us."""


def report(folder: Path) -> CollectiveReport:
    store = open_trace(folder, cache=False)
    try:
        return collective_report(Trace(store), DCTX)
    finally:
        store.close()


@pytest.fixture
def three_ranks(tmp_path: Path) -> Path:
    """Rank 0 computes during 30 us of its first all-reduce, and gathers 5 us at the end."""
    for rank, starts in STARTS.items():
        args = arguments((0, 1, 2))
        extra: list[Event] = []
        if rank == 0:
            gather = arguments((0, 1, 2), "all_gather", **{"Out msg nelems": 786_432})
            extra = [call("cudaLaunchKernel", 98, 1, 90), kernel("gemm", 120, 30, 90, stream=9)]
            extra += collective(700, 5, 91, gather, "ncclDevKernel_AllGather_RING_LL(x)")
        write_rank(tmp_path, rank, [*all_reduces(starts, ENDS, args), *extra])
    return tmp_path


def test_a_row_sums_up_all_collectives_of_its_arguments(three_ranks: Path) -> None:
    found = report(three_ranks)
    reduce, gather = collective_calls(found)
    assert (reduce.name, reduce.dtype, reduce.group_size) == ("allreduce", "Float", 3)
    assert (reduce.collectives, reduce.kernels, reduce.full_bytes) == (3, 9, 1_048_576)
    # 3 x (60 + 50 + 10) us of kernels, of which a gemm hides 30.
    assert (reduce.total_ns, reduce.exposed_ns) == (360_000, 330_000)
    assert (reduce.latency_ns, reduce.wait_ns, reduce.skew_ns) == near((10_000, 30_000, 50_000))
    # 1,048,576 bytes in 10 us; an all-reduce of 3 moves 2 * 2 / 3 of it.
    assert (reduce.algorithm_gbs, reduce.bus_gbs) == near((104.8576, 104.8576 * 4 / 3))
    assert found.timed.found.dur_ns[reduce.longest] == 60_000
    assert (gather.name, gather.collectives, gather.total_ns) == ("all_gather", 1, 5_000)
    assert (gather.wait_ns, gather.skew_ns) == (None, None)  # one rank alone


def test_the_rows_sum_to_all_communication(three_ranks: Path) -> None:
    found = report(three_ranks)
    calls = collective_calls(found)
    assert sum(one.total_ns for one in calls) == int(found.timed.found.dur_ns.sum())
    assert sum(one.exposed_ns for one in calls) == int(found.signatures.exposed_ns.sum())
    members = range(len(found.timed.found.members))
    parts = [collective_calls(found, frozenset({member})) for member in members]
    for key in ("total_ns", "exposed_ns", "kernels"):
        whole = sum(getattr(one, key) for one in calls)
        assert sum(getattr(one, key) for part in parts for one in part) == whole
    assert [one.total_ns for one in parts[2]] == [30_000]
    assert parts[2][0].latency_ns == 10_000  # of the whole collective still


def test_the_map_tells_when_each_rank_waits(three_ranks: Path) -> None:
    of = report(three_ranks).timed
    found = wait_map(of, 100)
    assert found is not None
    assert found.collectives == 3
    assert found.mean_wait_ns.tolist() == [[50_000.0] * 3, [40_000.0] * 3, [0.0] * 3]
    assert found.most_ns == 50_000
    assert [of.found.dur_ns[event] for event in found.worst] == [60_000, 50_000, 10_000]


def test_pieces_of_the_map_are_means(three_ranks: Path) -> None:
    for rank in (0, 1, 2):
        ends = (160.0, 400.0, 560.0)  # rank 0 waits 90 us in the second one
        starts = (STARTS[rank][0], 390.0 if rank == 2 else STARTS[rank][1], STARTS[rank][2])
        write_rank(three_ranks, rank, all_reduces(starts, ends, arguments((0, 1, 2))))
    found = wait_map(report(three_ranks).timed, 2)
    assert found is not None
    assert found.mean_wait_ns.tolist() == [[70_000.0, 50_000.0], [60_000.0, 40_000.0], [0.0, 0.0]]


def test_one_rank_alone_has_no_map_and_no_waits(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, all_reduces(STARTS[0], ENDS, arguments((0,))))
    found = report(tmp_path)
    assert wait_map(found.timed, 100) is None
    [only] = collective_calls(found)
    assert (only.collectives, only.total_ns, only.wait_ns) == (3, 180_000, None)


def test_without_communication_there_are_no_rows(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [call("cudaLaunchKernel", 0, 1, 1), kernel("gemm", 5, 5, 1)])
    found = report(tmp_path)
    assert collective_calls(found) == []
    assert wait_map(found.timed, 100) is None
