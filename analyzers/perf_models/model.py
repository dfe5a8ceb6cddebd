"""Which operators a model is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .call import Call
from .perf import Perf

ModelFunction = Callable[[Call], Perf | None]
MATRIX, VECTOR = "matrix", "vector"


@dataclass(frozen=True, slots=True)
class Model:
    """A performance model and what its operators are counted as."""

    category: str
    family: str
    """Name of the sheet; empty: in no sheet of its own."""
    unit: str
    """matrix or vector: the part of the hardware that does the work."""
    work: ModelFunction
    backward: ModelFunction | None = None
    """The gradients, from the arguments of the forward call."""
    reads_step: bool = False
    """The annotation of the serving step is an argument too."""
    ours: bool = False
    """TraceLens has no such model."""
