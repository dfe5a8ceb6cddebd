"""Sampled stalls of a profile: metrics of kernels and, below them, of source lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...native import StringPool
from ..arrays import I16, I32, I64, NULL32, NULL64
from ..stall_names import canonical
from ..stalls import StallSamples

PREFIX: Final = "stalled_"
"""Of the metrics: `stalled_long_scoreboard`."""
LINE: Final = re.compile(r"(?s)(.+):(\d{1,9})@(.+)")
"""A frame of the program, or a line of a kernel: file:line@function."""


def stall_samples(
    pool: StringPool,
    row: I32,
    reason: Sequence[str],
    samples: I64,
    *,
    names: I32,
    parents: I32,
    node: I32,
    device: I16,
) -> StallSamples | None:
    """Of `samples` whose metric is named `reason` on context `row`; the other columns are those of
    the contexts. A line belongs to the nearest context above it that is no line."""
    rows = len(row)
    if not rows:
        return None
    kernel, function, file = (np.full(rows, -1, np.int32) for _ in range(3))
    line, holder = np.full(rows, NULL32, np.int32), row.copy()
    for at, context in enumerate(row.tolist()):
        found = LINE.fullmatch(pool[int(names[context])])
        if found is not None:
            file[at], function[at] = pool.intern(found[1]), pool.intern(found[3])
            line[at] = int(found[2])
        above = context
        while found is not None and parents[above] > 0:
            above = int(parents[above])
            found = LINE.fullmatch(pool[int(names[above])])
        holder[at], kernel[at] = above, names[above]
    unknown = np.full(rows, -1, np.int32)
    return StallSamples(
        kernel=kernel,
        module=unknown,
        function=function,
        offset=np.full(rows, NULL64),
        text=unknown,
        file=file,
        line=line,
        node=node[holder],
        device=device[holder],
        reason=np.array([pool.intern(canonical(name)) for name in reason], np.int32),
        samples=samples,
        not_issued=np.full(rows, NULL64),
        spread=np.zeros(rows, np.bool_),
    )
