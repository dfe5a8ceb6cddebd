"""By which metric two traces side by side are looked at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..queries.metric import Metric
from ..queries.pathview import GPU_LAYERS
from .conclusion import Outcome

if TYPE_CHECKING:
    from .pairing import Compared
    from .side_by_side import SideBySide


def first_metric(sides: SideBySide, compared: Compared) -> Metric:
    """GPU time of GPU work, where steps got slower by what they execute on it, and of whole runs;
    else host time, which is where steps lose time. Where that was not measured on both sides the
    first one that was. ValueError where none was."""
    on_gpu = len(sides) > 0 and bool(np.isin(sides.layer, sorted(GPU_LAYERS)).all())
    conclusion = compared.conclusion
    in_steps = conclusion is None or (
        conclusion.outcome is Outcome.STEP and conclusion.gpu_unchanged is False
    )
    wanted = Metric.GPU if on_gpu or in_steps else Metric.HOST
    if wanted in sides.metrics:
        return wanted
    known = list(sides.metrics)
    if not known:
        raise ValueError("nothing was measured on both sides")
    return known[0]
