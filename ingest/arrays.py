"""Array types and the markers of NULL, shared by the readers."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
Mask = NDArray[np.bool_]

NULL32: Final = -(2**31)
NULL64: Final = -(2**63)
MOST_BYTES: Final = 2**40
"""No single copy or allocation is larger."""


def as_unsigned(values: I32) -> I64:
    """int32 that holds an unsigned value as int64; NULL32 becomes NULL64."""
    wide = values.view(np.uint32).astype(np.int64)
    wide[values == NULL32] = NULL64
    return wide


def distinct(ids: I32, size: int) -> I32:
    """The ids >= 0 that occur, ascending; all are below `size`."""
    seen = np.zeros(size + 1, np.bool_)
    seen[ids] = True  # -1 marks the last, which is not an id
    return np.flatnonzero(seen[:size]).astype(np.int32)
