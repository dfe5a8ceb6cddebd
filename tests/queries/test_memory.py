"""Memory of a hand-made PyTorch step, and of allocations without totals."""

from collections.abc import Generator
from pathlib import Path

import pytest

from dctx.ingest.registry import open_trace
from dctx.queries.memory import memory_use, pools
from dctx.queries.trace import Trace
from tests.kineto_files import Event, event, op, write_json
from tests.torch_step import write_step


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Generator[Trace]:
    store = open_trace(write_step(tmp_path_factory.mktemp("memory") / "step.json"), cache=False)
    yield Trace(store)
    store.close()


def test_a_pool(trace: Trace) -> None:
    [pool] = pools(trace)
    assert (pool.label, pool.host, pool.device) == ("GPU 0", False, 0)
    assert (pool.events, pool.allocations, pool.allocated_bytes) == (5, 3, 832)
    assert (pool.first_ns, pool.last_ns) == (45_000, 440_000)
    assert pool.recorded
    assert pool.reserved


def test_the_peak_and_who_held_it(trace: Trace) -> None:
    use = memory_use(trace, pools(trace)[0], buckets=4)
    assert (use.peak_bytes, use.peak_ns, use.earlier_bytes) == (1768, 125_000, 1000)
    assert use.peak_reserved_bytes == 4096
    assert [(c.names[-1], c.bytes, c.count, c.share) for c in use.live] == [
        ("aten::mm", 768, 2, 1.0)
    ]
    assert sum(c.bytes for c in use.live) + (use.earlier_bytes or 0) == use.peak_bytes
    assert [(c.names[-1], c.bytes, c.count) for c in use.allocating] == [
        ("aten::mm", 768, 2),
        ("aten::add", 64, 1),
    ]
    assert sum(c.bytes for c in use.allocating) == use.pool.allocated_bytes


def test_buckets_hold_the_most_in_them_and_what_they_began_with(trace: Trace) -> None:
    curve = memory_use(trace, pools(trace)[0], buckets=4).curve
    assert (curve.start_ns, curve.end_ns) == (45_000, 440_000)
    # Edges at 143.75, 242.5 and 341.25 us; 1256 bytes are left at 210 us.
    assert curve.allocated_bytes == (1768, 1768, 1256, 1320)
    assert curve.reserved_bytes == (4096,) * 4
    fine = memory_use(trace, pools(trace)[0], buckets=395).curve
    assert max(b for b in fine.allocated_bytes if b is not None) == 1768
    assert fine.allocated_bytes[100] == 1768
    assert fine.allocated_bytes[200] == 1256


def test_totals_that_are_not_recorded_are_summed_up(tmp_path: Path) -> None:
    def allocation(ts: float, address: int, size: int, device: int = -1) -> Event:
        args = {"Addr": address, "Bytes": size, "Device Type": 0, "Device Id": device}
        return event("cpu_instant_event", "[memory]", ts, 0, **args) | {"ph": "i", "s": "t"}

    events = [
        op("aten::empty", 0, 100),
        allocation(10, 1, 100),
        allocation(20, 2, 50),
        allocation(30, 1, -100),
        allocation(40, 3, 60),
    ]
    store = open_trace(write_json(tmp_path / "t.json", events), cache=False)
    trace = Trace(store)
    [pool] = pools(trace)
    assert (pool.label, pool.host, pool.recorded, pool.reserved) == (
        "host memory",
        True,
        False,
        False,
    )
    use = memory_use(trace, pool, buckets=3)
    assert (use.peak_bytes, use.peak_ns) == (150, 20_000)
    assert use.earlier_bytes is None
    assert use.peak_reserved_bytes is None
    assert use.curve.allocated_bytes == (100, 150, 150)
    assert use.curve.reserved_bytes == (None, None, None)
    assert [(c.names[-1], c.bytes) for c in use.live] == [("aten::empty", 150)]
    store.close()


def test_a_trace_without_memory_events(tmp_path: Path) -> None:
    store = open_trace(write_step(tmp_path / "t.json", memory=False), cache=False)
    assert pools(Trace(store)) == []
    store.close()
