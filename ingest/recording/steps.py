"""The training steps that a recording counted become rows of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import ColumnStream
from ..arrays import I64, NULL64
from .content import Recording

STEP_COLUMNS: Final = (
    "steps", "wall_ns", "longest_ns", "before_ns", "inside_ns", "cpu_ns", "host_gap_ns", "faults",
    "switches", "rss_bytes", "gpu_busy_ns", "copied_bytes",
    "device_peak_bytes",
)  # fmt: skip
"""Columns of the chunk STEP from 0. `before_ns`, `inside_ns`: pauses of the recording before the
row and between its steps; `host_gap_ns`: -1 where it is not known. The two after
`rss_bytes` are missing where no work of a GPU was recorded, the last one where no memory was."""


def step_table(recordings: Sequence[Recording]) -> ColumnStream | None:
    """Rows of the table `step`; None when no step was counted. Processes are numbered as they
    come; times count from the start of the first recording."""
    start_utc_ns = min(recording.header.start_utc_ns for recording in recordings)
    parts = [
        _rows(recording, number, recording.header.start_utc_ns - start_utc_ns)
        for number, recording in enumerate(recordings)
        if len(recording.steps)
    ]
    if not parts:
        return None
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    nulls = {name: NULL64 for name, values in columns.items() if values.dtype == np.int64}
    return ColumnStream(columns, nulls=nulls)


def _rows(recording: Recording, process: int, shift_ns: int) -> dict[str, NDArray[Any]]:
    column: dict[str, I64] = dict(zip(STEP_COLUMNS, recording.steps.T, strict=True))
    steps, wall = column["steps"], column["wall_ns"]
    length = wall + column["inside_ns"]
    begin = recording.commit["steps_begin_ns"] - recording.header.start_monotonic_ns + shift_ns
    end = begin + np.cumsum(column["before_ns"] + length)
    measured = column["rss_bytes"] > 0  # older recordings tell the time alone
    gap = column["host_gap_ns"]
    known = {name: column[name] for name in ("cpu_ns", "faults", "switches", "rss_bytes")}
    return {
        "process": np.full(len(steps), process, np.int16),
        "number": np.cumsum(steps) - steps,
        "steps": steps,
        "start_ns": end - length,
        "end_ns": end,
        "wall_ns": wall,
        "longest_ns": np.where(steps == 1, wall, column["longest_ns"]),
        **{name: np.where(measured, values, NULL64) for name, values in known.items()},
        "host_gap_ns": np.where(measured & (gap >= 0), gap, NULL64),
        **{name: _known(column[name]) for name in STEP_COLUMNS[10:]},
    }


def _known(values: I64) -> I64:
    """No sum is negative: those are of a file that does not tell them."""
    return np.where(values >= 0, values, NULL64)
