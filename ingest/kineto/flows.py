"""Flows: arrows between events of threads (`s`, `t`, `f`), as other tools than ours draw them."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I32
from ..model import FlowPhase
from ..timeline import Flows, Timeline
from .owners import Owners
from .recording import Recording, Table

_PHASES: Final = {
    ord("s"): FlowPhase.START,
    ord("t"): FlowPhase.STEP,
    ord("f"): FlowPhase.END,
}


def add_flows(recording: Recording, timeline: Timeline, owners: Owners) -> None:
    """Enter every flow but those that repeat the launch of GPU work, which the scanner counts."""
    table = recording.table("flow")
    if table is None:
        return
    codes = np.zeros(256, np.uint8)
    for phase, code in _PHASES.items():
        codes[phase] = code
    order, number = _numbered(table)
    timeline.add_flows(
        Flows(
            flow=number,
            phase=codes[table["ph"][order]],
            lane=owners.threads(table["lane"][order]),
            time=table["ts_ns"][order],
            name=table["name"][order],
            category=table["cat"][order],
        )
    )


def _numbered(table: Table) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], I32]:
    """Rows in the order of their flows, and the number of each one's flow.

    A flow is what has the same category, name and id; where an id is used again, each start
    begins another one."""
    keys = [table[name] for name in ("cat", "name", "id", "id_text")]
    group, _ = intern_rows(keys)
    # Ties: a start comes before what it leads to, then as they are in the file.
    rank = table["ph"] != ord("s")
    order = np.lexsort((table["seq"], rank, table["ts_ns"], group))
    group = group[order]
    begins = table["ph"][order] == ord("s")
    begins[1:] |= group[1:] != group[:-1]
    begins[:1] = True
    return order, (np.cumsum(begins) - 1).astype(np.int32)
