"""How many blocks of a kernel fit on one multiprocessor, what limits them, and how they fill the
device: waves and the last one.

Arithmetic of the CUDA occupancy calculator (`cuda_occupancy.h` of the toolkit, technical
specifications by compute capability in the CUDA C++ Programming Guide). The cache that shares its
memory with shared memory is taken to give up as much as it can; clusters are not considered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WARP_THREADS: Final = 32
_REGISTER_UNIT: Final = 256
"""Registers are given to warps in units of so many."""
_MOST_REGISTERS: Final = 255
"""Of one thread."""
_MOST_BLOCK_THREADS: Final = 1024


@dataclass(frozen=True, slots=True)
class SmLimits:
    """What one multiprocessor holds."""

    warps: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int
    """Of shared memory, taken by the system for each block."""
    shared_unit_bytes: int
    registers: int = 65_536
    block_registers: int = 65_536
    partitions: int = 4
    """Each with its share of the registers."""


def _limits(warps: int, blocks: int, shared_kib: int, *, since_ampere: bool = False) -> SmLimits:
    unit, reserved = (128, 1024) if since_ampere else (256, 0)
    return SmLimits(warps, blocks, shared_kib * 1024, reserved, unit)


LIMITS: Final = {
    (5, 0): _limits(64, 32, 64),
    (5, 2): _limits(64, 32, 96),
    (6, 0): SmLimits(64, 32, 65_536, 0, 256, partitions=2),
    (6, 1): _limits(64, 32, 96),
    (7, 0): _limits(64, 32, 96),
    (7, 2): _limits(64, 32, 96),
    (7, 5): _limits(32, 16, 64),
    (8, 0): _limits(64, 32, 164, since_ampere=True),
    (8, 6): _limits(48, 16, 100, since_ampere=True),
    (8, 7): _limits(48, 16, 164, since_ampere=True),
    (8, 9): _limits(48, 24, 100, since_ampere=True),
    (9, 0): _limits(64, 32, 228, since_ampere=True),
    (10, 0): _limits(64, 32, 228, since_ampere=True),
    (10, 3): _limits(64, 32, 228, since_ampere=True),
    (12, 0): _limits(48, 24, 100, since_ampere=True),
    (12, 1): _limits(48, 24, 100, since_ampere=True),
}
"""By compute capability."""


class OccupancyError(ValueError):
    """It cannot be computed; the text says what is missing or impossible."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Of one multiprocessor when nothing else runs there."""

    by_warps: int
    """Blocks that fit by the number of warps; the next ones likewise by what they name."""
    by_blocks: int
    by_registers: int | None
    """None, here and below: the kernel uses none."""
    by_shared: int | None
    blocks: int
    """The least of them."""
    warps: int
    """Of these blocks."""
    most_warps: int

    @property
    def share(self) -> float:
        """Theoretical occupancy: warps, of those that the multiprocessor can hold."""
        return self.warps / self.most_warps

    @property
    def limiters(self) -> tuple[str, ...]:
        """Which of the four allow no more than this: block slots first only where alone."""
        found = (
            ("registers", self.by_registers),
            ("shared memory", self.by_shared),
            ("warps", self.by_warps),
            ("block slots", self.by_blocks),
        )
        return tuple(name for name, blocks in found if blocks == self.blocks)


def occupancy(
    compute: tuple[int, int], block_threads: int, registers: int, shared_bytes: int
) -> Occupancy:
    """For blocks of so many threads, with registers a thread and shared memory a block (static and
    dynamic together). OccupancyError where the capability is unknown or no block fits."""
    limits = LIMITS.get(compute)
    if limits is None:
        major, minor = compute
        raise OccupancyError(f"the limits of compute capability {major}.{minor} are not known")
    if not 0 < block_threads <= _MOST_BLOCK_THREADS:
        raise OccupancyError(f"a block of {block_threads:,} threads cannot run")
    warps = -(-block_threads // WARP_THREADS)
    by_warps = limits.warps // warps
    by_registers = _by_registers(limits, warps, registers)
    by_shared = None
    if shared_bytes:
        taken = _up(shared_bytes + limits.reserved_bytes, limits.shared_unit_bytes)
        by_shared = limits.shared_bytes // taken
    blocks = min(
        fit for fit in (by_warps, limits.blocks, by_registers, by_shared) if fit is not None
    )
    if blocks == 0:
        raise OccupancyError("the recorded registers or shared memory do not fit once")
    return Occupancy(
        by_warps, limits.blocks, by_registers, by_shared, blocks, blocks * warps, limits.warps
    )


def _by_registers(limits: SmLimits, warps: int, registers: int) -> int | None:
    if registers <= 0:
        return None
    of_warp = _up(registers * WARP_THREADS, _REGISTER_UNIT)
    of_block = of_warp * _up(warps, limits.partitions)
    if registers > _MOST_REGISTERS or of_block > limits.block_registers:
        return 0
    of_partition = limits.registers // limits.partitions // of_warp
    return of_partition * limits.partitions // warps


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


@dataclass(frozen=True, slots=True)
class Waves:
    """How a grid fills the device, `slots` blocks at a time."""

    blocks: int
    slots: int
    """Blocks that run at once: those of one multiprocessor times their number."""

    @property
    def waves(self) -> float:
        return self.blocks / self.slots

    @property
    def rounds(self) -> int:
        """Waves, the last one counted as a whole."""
        return -(-self.blocks // self.slots)

    @property
    def last_blocks(self) -> int:
        """Blocks of the last wave: from 1 to `slots`."""
        return self.blocks - (self.rounds - 1) * self.slots

    @property
    def idle_share(self) -> float:
        """Share of all slots, over all waves, that stay empty in the last one. Where blocks take
        equally long it is the time that the tail costs at most."""
        return 1 - self.blocks / (self.rounds * self.slots)


def waves(grid: tuple[int, int, int], blocks: int, multiprocessors: int) -> Waves:
    """Of a grid, when `blocks` fit on each multiprocessor. OccupancyError for impossible ones."""
    number = grid[0] * grid[1] * grid[2]
    if number <= 0 or multiprocessors <= 0:
        raise OccupancyError("the recorded grid or number of multiprocessors is impossible")
    return Waves(number, blocks * multiprocessors)
