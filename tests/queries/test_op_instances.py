"""The table of single operations: order, filter, pages."""

import pytest

from dctx.ingest.model import GpuKind
from dctx.queries.instances import InstanceSort, OpInstances
from dctx.queries.trace import NotReadyError, Trace


@pytest.fixture
def table(small: Trace) -> OpInstances:
    return OpInstances(small)


def test_sorted_by_start(table: OpInstances) -> None:
    assert table.prepare() == 6  # the wait is no GPU work
    rows = table.page(0, 10)
    assert [(row.start_ns, row.id) for row in rows] == [
        (100, 0),
        (200, 5),
        (300, 1),
        (300, 3),
        (600, 2),
        (950, 4),
    ]


def test_row_values(table: OpInstances) -> None:
    table.prepare(InstanceSort.DURATION, descending=True)
    longest = table.page(0, 1)[0]
    assert (longest.name, longest.full_name, longest.dur_ns) == ("ncclAllReduce", None, 400)
    assert (longest.device, longest.stream, longest.node) == (1, "stream 13", 6)
    assert (longest.grid, longest.block, longest.registers) == ((16, 2, 1), (256, 1, 1), 64)
    assert (longest.correlation, longest.launched) == (3, True)
    orphan = table.page(2, 1)[0]
    assert (orphan.id, orphan.launched, orphan.full_name) == (4, False, "void gemm<float>(int)")
    copy = table.page(5, 1)[0]
    assert (copy.kind, copy.bytes, copy.grid, copy.registers) == (GpuKind.MEMCPY, 1024, None, None)


@pytest.mark.parametrize(
    ("sort", "descending", "ids"),
    [
        (InstanceSort.DURATION, True, [3, 1, 4, 0, 2, 5]),
        (InstanceSort.DURATION, False, [5, 0, 2, 4, 1, 3]),
        (InstanceSort.NAME, False, [0, 1, 2, 4, 5, 3]),
        (InstanceSort.STREAM, True, [3, 4, 0, 1, 2, 5]),
        (InstanceSort.BYTES, False, [5, 0, 1, 2, 3, 4]),
        (InstanceSort.BYTES, True, [5, 0, 1, 2, 3, 4]),  # what has no bytes comes last
    ],
)
def test_orders(table: OpInstances, sort: InstanceSort, descending: bool, ids: list[int]) -> None:
    assert table.prepare(sort, descending) == 6
    assert [row.id for row in table.page(0, 6)] == ids


def test_pages_are_slices(table: OpInstances) -> None:
    table.prepare(InstanceSort.DURATION)
    assert [row.id for row in table.page(2, 3)] == [2, 4, 1]
    assert [row.id for row in table.page(5, 60)] == [3]
    assert table.page(6, 60) == []


def test_filter_by_short_or_full_name(table: OpInstances) -> None:
    assert table.prepare(text="GEMM") == 4
    assert table.prepare(text="gemm<float") == 4
    assert table.prepare(text="allreduce") == 1
    assert table.prepare(text="nothing like it") == 0
    assert table.page(0, 10) == []


def test_selection_by_name_kind_and_device(table: OpInstances) -> None:
    assert table.prepare(name_id=5, device=0) == 3
    assert table.prepare(kinds=(GpuKind.SYNC,)) == 1
    assert table.page(0, 1)[0].node is None


def test_two_tables_at_once(small: Trace, table: OpInstances) -> None:
    other = OpInstances(small)
    table.prepare(InstanceSort.DURATION, descending=True)
    other.prepare(name_id=6)
    assert len(table.page(0, 10)) == 6
    assert len(other.page(0, 10)) == 1


def test_not_before_the_events(small: Trace, table: OpInstances) -> None:
    small.store.events_ready = False
    with pytest.raises(NotReadyError):
        table.prepare()
    assert table.page(0, 10) == []
