"""Occupancy by hand-worked launches, and against what the PyTorch profiler computed with CUDA's own
calculator."""

import os
from pathlib import Path

import pytest

from dctx.analyzers.kernel_panel import kernel_panel
from dctx.analyzers.occupancy import LIMITS, OccupancyError, occupancy, waves
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import op_stats
from dctx.queries.trace import Trace
from tests.near import near


def test_warps_limit_a_small_kernel() -> None:
    """Turing: 32 warps; a block of 256 threads has 8, so 4 blocks. 32 registers: 1,024 for a warp,
    16 warps in each of 4 partitions of 16,384, 64 / 8 = 8 blocks."""
    found = occupancy((7, 5), 256, 32, 0)
    assert (found.by_warps, found.by_registers, found.by_shared, found.by_blocks) == (
        4,
        8,
        None,
        16,
    )
    assert (found.blocks, found.warps, found.share, found.limiters) == (4, 32, 1.0, ("warps",))


def test_registers_limit() -> None:
    """Hopper: 246 registers are 7,872 for a warp, given as 7,936: 2 warps in each partition of
    16,384, 8 of the multiprocessor, 2 blocks of 4 warps."""
    found = occupancy((9, 0), 128, 246, 65_536)
    assert (found.by_registers, found.by_shared, found.by_warps) == (2, 3, 16)
    assert (found.warps, found.share, found.limiters) == (8, 8 / 64, ("registers",))


def test_shared_memory_limits() -> None:
    """Ampere: 49,152 + 1,024 reserved = 50,176 of 167,936 bytes: 3 blocks."""
    found = occupancy((8, 0), 128, 32, 49_152)
    assert (found.by_shared, found.by_registers, found.blocks) == (3, 16, 3)
    assert (found.share, found.limiters) == (12 / 64, ("shared memory",))
    # One byte more takes another unit of 128: 50,304, still 3; 54,912 and over are not.
    assert occupancy((8, 0), 128, 32, 49_153).by_shared == 3
    assert occupancy((8, 0), 128, 32, 54_912).by_shared == 3
    assert occupancy((8, 0), 128, 32, 54_913).by_shared == 2


def test_block_slots_limit() -> None:
    """Ada: 24 blocks of one warp each, of 48 warps."""
    found = occupancy((8, 9), 32, 16, 0)
    assert (found.blocks, found.share, found.limiters) == (24, 0.5, ("block slots",))


def test_two_limits_at_once() -> None:
    """Volta, 1,024 threads with 32 registers: 2 blocks by warps and by registers."""
    found = occupancy((7, 0), 1024, 32, 0)
    assert (found.blocks, found.limiters) == (2, ("registers", "warps"))


def test_pascal_has_two_partitions() -> None:
    """168 registers are 5,376 for a warp: 6 warps in each of two halves of 32,768."""
    assert occupancy((6, 0), 128, 168, 0).by_registers == 3


def test_part_of_a_warp_takes_a_whole_one() -> None:
    assert occupancy((8, 0), 33, 16, 0).by_warps == occupancy((8, 0), 64, 16, 0).by_warps == 32


@pytest.mark.parametrize(
    ("compute", "threads", "registers", "shared", "why"),
    [
        ((3, 5), 128, 32, 0, "capability 3.5 are not known"),
        ((8, 0), 0, 32, 0, "0 threads"),
        ((8, 0), 1056, 32, 0, "1,056 threads"),
        ((8, 0), 128, 256, 0, "do not fit"),
        ((8, 0), 1024, 128, 0, "do not fit"),
        ((7, 5), 128, 32, 65_537, "do not fit"),
    ],
)
def test_what_cannot_run(
    compute: tuple[int, int], threads: int, registers: int, shared: int, why: str
) -> None:
    with pytest.raises(OccupancyError, match=why):
        occupancy(compute, threads, registers, shared)


def test_every_capability_holds_its_own_most() -> None:
    for compute, limits in LIMITS.items():
        full = occupancy(compute, 32 * limits.warps // limits.blocks, 16, 0)
        assert (full.blocks, full.share) == (limits.blocks, 1.0)


def test_waves_and_their_tail() -> None:
    """1,024 blocks, 4 on each of 40 multiprocessors: 6.4 waves, 64 of 160 in the last; 0.6 of 7
    waves stay empty."""
    found = waves((1024, 1, 1), 4, 40)
    assert (found.slots, found.waves, found.rounds, found.last_blocks) == (160, 6.4, 7, 64)
    assert found.idle_share == near(0.6 / 7)
    full = waves((8, 4, 5), 4, 40)
    assert (full.waves, full.rounds, full.last_blocks, full.idle_share) == (1.0, 1, 160, 0.0)
    assert waves((1, 1, 1), 4, 40).idle_share == near(159 / 160)


def test_impossible_grids() -> None:
    with pytest.raises(OccupancyError):
        waves((0, 1, 1), 4, 40)
    with pytest.raises(OccupancyError):
        waves((1, 1, 1), 4, 0)


@pytest.mark.skipif("DCTX_TRACES" not in os.environ, reason="needs recorded traces")
@pytest.mark.parametrize(
    "name", ["h100-qwen1.5-0.5b", "rtx2080ti-resnet", "v100-ddp-memory-rank1of2"]
)
def test_equals_the_profilers_own(name: str, tmp_path: Path) -> None:
    """The profiler asks CUDA's calculator and counts no more blocks than the grid has. It fails,
    and records 0, where a block takes more than 48 KiB of shared memory."""
    path = Path(os.environ["DCTX_TRACES"]) / "torch" / f"{name}.json.gz"
    trace = Trace(open_trace(path, cache=False))
    compared = 0
    for op in op_stats(trace, kinds=(GpuKind.KERNEL,)):
        for use in kernel_panel(trace, op).shapes:
            shape = use.shape
            if (shape.shared_bytes or 0) > 48 * 1024 or shape.recorded_occupancy is None:
                continue
            assert use.occupancy is not None
            assert use.waves is not None
            ours = use.occupancy.share * min(1, use.waves.waves)
            assert ours == near(shape.recorded_occupancy, abs=0.0051), shape
            compared += 1
    trace.store.close()
    assert compared >= 20
