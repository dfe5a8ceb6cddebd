"""In how many ways contexts were called: launch configurations of GPU work, arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .trace import Trace

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Variants:
    """Calls by context and way. Columns of one length, sorted by context."""

    node: I32
    way: I32
    """An id; see the mapping that comes with it."""
    calls: I64


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """How a kernel was launched. None: not recorded."""

    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    """Per thread."""
    shared_bytes: int | None
    """Per block, static and dynamic."""


@dataclass(frozen=True, slots=True)
class ArgumentTypes:
    """JSON lists as recorded. None: not recorded."""

    shapes: str | None
    types: str | None


def launch_variants(trace: Trace) -> tuple[Variants, dict[int, LaunchConfig]]:
    """Launch configurations of GPU work. Reads events."""
    ways = {
        way: LaunchConfig(_triple(*sizes[:3]), _triple(*sizes[3:6]), sizes[6], sizes[7])
        for way, *sizes in trace.rows("launch_variants.configs")
    }
    return Variants(**trace.event_arrays("launch_variants.launches")), ways


def argument_variants(trace: Trace) -> tuple[Variants, dict[int, ArgumentTypes]]:
    """Shapes and types of calls. Reads events."""
    ways = {
        way: ArgumentTypes(*rest) for way, *rest in trace.rows("launch_variants.argument_texts")
    }
    return Variants(**trace.event_arrays("launch_variants.arguments")), ways


def _triple(x: int | None, y: int | None, z: int | None) -> tuple[int, int, int] | None:
    return None if x is None or y is None or z is None else (x, y, z)
