"""Collectives of hand-made ranks: matching, waits, clocks, missing ranks, bandwidth."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers import collective_match
from dctx.analyzers.collective_exchange import exchanges, sent
from dctx.analyzers.collective_names import bus_factor, inferred_name, kind_of, numbers
from dctx.analyzers.collective_report import CollectiveReport, collective_report
from dctx.analyzers.collective_stragglers import stragglers
from dctx.analyzers.collective_timing import Settings
from dctx.analyzers.errors import RequestError
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.registry import open_trace
from dctx.queries.scope import TimeScope
from dctx.queries.trace import Trace
from tests.kineto_files import Event, kernel
from tests.near import near
from tests.rank_files import all_reduces, arguments, collective, write_rank

ENDS = (160.0, 360.0, 560.0)
STARTS = {0: (100.0, 300.0, 500.0), 1: (110.0, 310.0, 510.0), 2: (150.0, 350.0, 550.0)}
"""Rank 2 is late by 50 µs for rank 0 and 40 µs for rank 1; the collective itself takes 10 µs."""


def report(folder: Path, rules: Any = DCTX, **settings: Any) -> CollectiveReport:
    store = open_trace(folder, cache=False)
    try:
        return collective_report(Trace(store), rules, Settings(**settings))
    finally:
        store.close()


def write_ranks(
    folder: Path,
    shifts: Sequence[float] = (0, 0, 0),
    skip: Sequence[int] = (),
    args: dict[int, dict[str, Any]] | None = None,
) -> Path:
    for rank, starts in STARTS.items():
        if rank not in skip:
            own = arguments((0, 1, 2), **(args or {}).get(rank, {}))
            write_rank(folder, rank, all_reduces(starts, ENDS, own), shifts[rank])
    return folder


def waits(of: CollectiveReport) -> dict[int, int]:
    return {s.rank: s.total_wait_ns for s in stragglers(of.timed)}


def test_the_planted_straggler_waits_least(tmp_path: Path) -> None:
    of = report(write_ranks(tmp_path)).timed
    found = stragglers(of)
    assert [s.rank for s in found] == [2, 1, 0]
    assert [s.total_wait_ns for s in found] == [0, 120_000, 150_000]
    assert [s.times_last for s in found] == [3, 0, 0]
    assert [s.times_first for s in found] == [0, 0, 3]
    assert [s.judged_wait_ns for s in found] == [0, 120_000, 150_000]
    assert [s.late_ns for s in found] == [40_000, None, None]
    assert [s.stands_out for s in found] == [True, False, False]
    assert [s.total_dur_ns for s in found] == [30_000, 150_000, 180_000]
    assert of.latency_ns.tolist() == [10_000] * 3
    assert of.skew_start_ns().tolist() == [50_000] * 3
    assert of.skew_end_ns().tolist() == [0] * 3
    assert of.mean_wait_ns().tolist() == near([30_000] * 3)
    assert [of.found.members[int(m)].rank for m in of.earliest()] == [0, 0, 0]


def test_bandwidth_is_as_nccl_tests_count_it(tmp_path: Path) -> None:
    algorithm, bus = report(write_ranks(tmp_path)).timed.bandwidth()
    # 262,144 floats are 1,048,576 bytes in 10 µs; an all-reduce of 3 moves 2 * 2 / 3 of it.
    assert algorithm.tolist() == near([104.8576] * 3)
    assert bus.tolist() == near([104.8576 * 4 / 3] * 3)


@pytest.mark.parametrize("shift_us", [5_000.0, -3_000.0])
def test_shifted_clocks_are_told_and_taken_off(tmp_path: Path, shift_us: float) -> None:
    found = report(write_ranks(tmp_path, (0, 0, shift_us)), gpus_per_node=2)
    assert waits(found) == {0: 150_000, 1: 120_000, 2: 0}
    apart = [clock.offset_ns for clock in found.timed.clocks]
    assert apart[1] - apart[0] == round(shift_us * 1000)
    assert stragglers(found.timed)[0].rank == 2
    assert any("The clock of host 1" in note for note in found.notes)


def test_shifted_clocks_as_recorded_still_give_the_straggler_across_hosts(tmp_path: Path) -> None:
    found = report(write_ranks(tmp_path, (0, 0, -3_000.0)), gpus_per_node=2, align=False)
    assert waits(found)[2] > 8_000_000  # rank 2 seems to be early by 3 ms
    first = stragglers(found.timed)[0]
    assert (first.rank, first.times_last, first.wait_est_ns) == (2, 3, 0)


def test_files_without_a_base_time_have_clocks_of_their_own(tmp_path: Path) -> None:
    for rank, starts in STARTS.items():
        events = all_reduces(starts, ENDS, arguments((0, 1, 2)))
        early = kernel("gemm", 10.0 * rank, 1, 99)  # each file is shown from its first event on
        path = write_rank(tmp_path, rank, [early, *events])
        document = json.loads(path.read_text(encoding="utf-8"))
        del document["baseTimeNanoseconds"]
        path.write_text(json.dumps(document), encoding="utf-8")
    found = report(tmp_path, gpus_per_node=8)
    assert len(found.timed.clocks) == 3
    assert found.timed.several_clocks
    first = stragglers(found.timed)[0]
    assert (first.rank, first.times_last, first.wait_est_ns) == (2, 3, 0)
    assert any("do not tell when they were recorded" in note for note in found.notes)


def test_a_missing_rank_is_told(tmp_path: Path) -> None:
    found = report(write_ranks(tmp_path, skip=[1]))
    assert waits(found) == {0: 150_000, 2: 0}
    assert {traits.missing for traits in found.timed.traits} == {(1,)}
    assert any("1 of 3 ranks are not in the trace (1)" in note for note in found.notes)


def test_parts_hold_whole_collectives_and_sum_to_the_whole(tmp_path: Path) -> None:
    """Launches are 15 µs before the kernels: the second collective's first one at 285 µs, that of
    its last rank at 335 µs. Times count from the first event, 80 µs."""
    store = open_trace(write_ranks(tmp_path, shifts=(0, 0, 40)), cache=False)
    trace = Trace(store)
    whole = collective_report(trace, DCTX)

    def part(start_us: float, end_us: float) -> CollectiveReport:
        scope = TimeScope("a part", ((None, round(start_us * 1e3), round(end_us * 1e3)),))
        return collective_report(trace, DCTX, scope=scope)

    # The edge lies between the launches of the ranks of the second one.
    early, late = part(0, 230), part(230, 10_000)
    assert [len(p.timed.first) for p in (early, late)] == [2, 1]
    assert [len(p.timed.found) for p in (early, late)] == [6, 3]
    for rank, total in waits(whole).items():
        assert waits(early)[rank] + waits(late)[rank] == total
    assert early.timed.clocks == whole.timed.clocks
    assert late.timed.wait_ns.tolist() == whole.timed.wait_ns[2:].tolist()
    assert late.timed.matched.index_in_group.tolist() == [2, 2, 2]
    sums = [int(p.signatures.dur_ns.total.sum()) for p in (early, late, whole)]
    assert sums[0] + sums[1] == sums[2]
    with pytest.raises(RequestError, match="no collective was launched in a part"):
        part(4_000, 5_000)
    store.close()


def test_a_file_of_a_rank_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path, skip=[1])
    (folder / "rank1.json").write_bytes(b"")
    [note] = [note for note in report(folder).notes if "named as a rank" in note]
    assert "rank1.json: the file is empty" in note


def test_sizes_that_differ_leave_the_bandwidth_out(tmp_path: Path) -> None:
    found = report(write_ranks(tmp_path, args={1: {"In msg nelems": 7}}))
    assert found.timed.sizes_differ.all()
    assert [str(v) for v in found.timed.bandwidth()[0]] == ["nan"] * 3
    assert waits(found) == {0: 150_000, 1: 120_000, 2: 0}
    assert any("sizes or types that differ" in note for note in found.notes)


def test_a_rank_that_began_late_is_lined_up_at_the_end(tmp_path: Path) -> None:
    sizes = (1024, 2048, 4096)

    def events(rank: int, first: int) -> list[Event]:
        return [
            event
            for number in range(first, 3)
            for event in collective(
                STARTS[rank][number],
                ENDS[number] - STARTS[rank][number],
                number + 1,
                arguments((0, 1)) | {"In msg nelems": sizes[number]},
            )
        ]

    write_rank(tmp_path, 0, events(0, 0))
    write_rank(tmp_path, 1, events(1, 1))
    found = report(tmp_path)
    assert found.timed.present.tolist() == [[True, False], [True, True], [True, True]]
    assert waits(found) == {0: 20_000, 1: 0}
    assert any("Rank 1 has 2 of 3" in note and "the first 1" in note for note in found.notes)


def test_sequence_numbers_match_whatever_is_missing(tmp_path: Path) -> None:
    def events(rank: int, numbers_: Sequence[int]) -> list[Event]:
        return [
            event
            for n in numbers_
            for event in collective(
                STARTS[rank][n], ENDS[n] - STARTS[rank][n], n + 1, arguments((0, 1), Seq=n)
            )
        ]

    write_rank(tmp_path, 0, events(0, [0, 1, 2]))
    write_rank(tmp_path, 1, events(1, [0, 2]))
    of = report(tmp_path).timed
    assert of.present.tolist() == [[True, True], [True, False], [True, True]]
    assert of.matched.basis.tolist() == [0, 0, 0]


def test_groups_of_one_name_and_other_ranks_are_apart(tmp_path: Path) -> None:
    for rank in range(4):
        pair = (0, 1) if rank < 2 else (2, 3)
        starts = (100.0 + 10 * rank,)
        write_rank(tmp_path, rank, all_reduces(starts, (200.0,), arguments(pair)))
    of = report(tmp_path, gpus_per_node=2).timed
    assert of.present.tolist() == [[True, True, False, False], [False, False, True, True]]
    assert [traits.span for traits in of.traits] == ["intra_node", "intra_node"]
    across = report(tmp_path, gpus_per_node=1).timed
    assert [traits.span for traits in across.traits] == ["inter_node", "inter_node"]


def test_kernels_without_arguments_match_by_stream_and_name(tmp_path: Path) -> None:
    def bare(name: str, start: float, number: int, stream: int) -> Event:
        return kernel(name, start, 50, number, stream=stream)

    for rank in (0, 1):
        late = 5.0 * rank
        write_rank(
            tmp_path,
            rank,
            [
                bare("ncclDevKernel_AllReduce_Sum", 100 + late, 1, 7 + rank),
                bare("cross_device_reduce_1stage", 300 + late, 2, 20 + rank),
                bare("ncclDevKernel_AllGather", 120 + late, 3, 20 + rank),
            ],
        )
    of = report(tmp_path).timed
    assert of.present.all()
    assert len(of.first) == 3
    assert {int(b) for b in of.matched.basis} == {2}
    assert [of.found.name_at(int(e)) for e in of.first] == ["allreduce", "allgather", "allreduce"]
    assert waits(report(tmp_path)) == {0: 15_000, 1: 0}


def test_equal_rank_numbers_are_told_and_not_compared(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        write_rank(folder, 0, all_reduces(STARTS[0], ENDS, arguments((0, 1))))
    found = report(tmp_path)
    assert len(found.timed.first) == 0
    assert any("Several processes say that they are rank 0" in note for note in found.notes)


def test_the_rank_comes_from_the_collectives_where_the_file_does_not_tell(tmp_path: Path) -> None:
    for rank in (0, 1):
        own = arguments((0, 1), Rank=1 - rank)
        write_rank(tmp_path, rank, all_reduces(STARTS[rank], ENDS, own), distributedInfo={})
    found = report(tmp_path)
    assert waits(found) == {1: 30_000, 0: 0}


def test_exchanges_with_sizes_of_their_own(tmp_path: Path) -> None:
    for rank, split in ((0, [1, 3]), (1, [2, 2])):
        own = arguments(
            (0, 1),
            "all_to_allv",
            **{"In msg nelems": 4096 * (rank + 1), "In split size": str(split)},
        )
        name = "ncclDevKernel_SendRecv"
        events = collective(100.0 + 10 * rank, 100 - 20 * rank, 1, own, name)
        write_rank(tmp_path, rank, events)
    of = report(tmp_path).timed
    found = exchanges(of)
    assert found.in_bytes.tolist() == [[16_384, 32_768]]
    assert found.wall_ns.tolist() == [100_000]
    assert found.throughput.tolist() == near([49_152 / 100e-6 / 1e9])
    assert found.imbalance.tolist() == near([32_768 / 24_576])
    assert [(s.source, s.target, s.total_bytes, s.count) for s in sent(of, found)] == [
        (0, 0, 4_096, 1),
        (0, 1, 12_288, 1),
        (1, 0, 16_384, 1),
        (1, 1, 16_384, 1),
    ]


def test_the_exposed_part_is_what_no_computation_covers(tmp_path: Path) -> None:
    events = [
        *all_reduces((100.0,), (200.0,), arguments((0, 1))),
        kernel("gemm", 90, 30, 20, stream=9),
        kernel("gemm", 150, 20, 21, stream=9),
        kernel("gemm", 160, 20, 22, stream=10),
        kernel("quick_reduce_2shot", 190, 5, 23, stream=11),
    ]
    found = report(write_rank(tmp_path, 0, events))
    assert sorted(found.signatures.exposed_ns.tolist()) == [5_000, 100_000 - 20_000 - 30_000]
    # To TraceLens quick reduce is computation.
    plain = report(tmp_path, replace(DCTX, few_patterns=True))
    assert plain.signatures.exposed_ns.tolist() == [45_000]


def test_more_than_fits_into_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collective_match, "MOST_CELLS", 8)
    with pytest.raises(RequestError, match="3 collectives of 3 ranks are too many"):
        report(write_ranks(tmp_path))


def test_no_communication_is_no_failure(tmp_path: Path) -> None:
    found = report(write_rank(tmp_path, 0, [kernel("gemm", 1, 2, 1)]))
    assert (len(found.timed.found), found.notes, len(found.timed.first)) == (0, (), 0)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("allreduce", "allreduce"),
        ("_allgather_base", "allgather"),
        ("reduce_scatter_tensor_coalesced", "reducescatter"),
        ("all_to_all", "alltoall"),
        ("all_to_allv", "alltoallv"),
        ("broadcast", None),
        (None, None),
    ],
)
def test_kinds(name: str | None, kind: str | None) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("kernel_name", "name"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float", "allreduce"),
        ("ncclDevKernel_ReduceScatter_Sum", "reducescatter"),
        ("ncclDevKernel_Reduce_Sum", "reduce"),
        ("ncclDevKernel_Generic", None),
        ("void vllm::cross_device_reduce_1stage<__half, 2>", "allreduce"),
        ("ncclDevKernel_SendRecv", "sendrecv"),
    ],
)
def test_names_that_kernels_tell(kernel_name: str, name: str | None) -> None:
    assert inferred_name(kernel_name) == name


def test_shares_of_the_bus() -> None:
    assert bus_factor("allreduce", 8) == near(1.75)
    assert bus_factor("allgather", 8) == near(0.875)
    assert bus_factor("broadcast", 8) is None
    assert bus_factor("allreduce", None) is None


def test_lists_that_are_cut_are_no_numbers() -> None:
    assert numbers("[0, 1]") == [0, 1]
    assert numbers("[]") == []
    assert numbers("[0, 1, ..., 31]") is None
    assert numbers(None) is None
