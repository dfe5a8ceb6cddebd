"""Time that counts as communication here and as computation by the three patterns of TraceLens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import GpuKind
from ..native import IntervalSets
from .distinct import distinct
from .report_rules import DCTX, TRACELENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..queries.report_events import Work


def moved_ns(work: Work, texts: Mapping[int, str]) -> int:
    """Union of the kernels of one device whose names only the longer list holds. `texts` by
    `string.id`."""
    names = distinct(work.name[work.kind == GpuKind.KERNEL])
    told = [texts[int(i)] for i in names]
    added = [DCTX.is_communication(t) and not TRACELENS.is_communication(t) for t in told]
    rows = (work.kind == GpuKind.KERNEL) & np.isin(work.name, names[np.array(added, bool)])
    start, end = work.start_ns[rows], work.end_ns[rows]
    return int(IntervalSets(np.zeros(len(start), np.int32), start, end, 1).lengths()[0])
