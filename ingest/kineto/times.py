"""Durations that may enter sums."""

from __future__ import annotations

import numpy as np

from ..arrays import I64
from ..overrun import LONGEST_NS


def possible(dur: I64) -> tuple[I64, int]:
    """Durations without those that cannot be (0 instead), and how many there were."""
    wrong = dur > LONGEST_NS
    count = int(np.count_nonzero(wrong))
    return (np.where(wrong, 0, dur), count) if count else (dur, 0)
