"""Work whose recorded end is doubtful, cut where the next on its stream begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..queries.quality import overruns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.trace import Trace


def clipped_ends(
    trace: Trace, ids: NDArray[np.integer], end_ns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Ends of GPU work (`gpu_op.id`) without what `data_quality` tells as overruns. Reads
    events."""
    ends = {event: next_ns for event, next_ns, _ in overruns(trace)}
    result = end_ns.copy()
    for row in np.flatnonzero(np.isin(ids, list(ends))).tolist():
        result[row] = ends[int(ids[row])]
    return result
