"""The distinct values of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """In ascending order. As `numpy.unique`, which loads the masked arrays first: a tenth of the
    time of a short command."""
    found: NDArray[Any] = np.sort(values, axis=None)
    keep = np.ones(len(found), bool)
    keep[1:] = found[1:] != found[:-1]
    return found[keep]
