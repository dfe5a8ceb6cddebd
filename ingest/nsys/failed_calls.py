"""CUDA calls that returned an error, with the context they were made in."""

from typing import Final

import numpy as np

from ...native import PathTree, intern_rows
from ..arrays import NULL32
from .calls import Calls
from .paths import HostStack
from .strings import Strings

_NOT_READY: Final = 600
"""What a query returns while the work is still running."""
_MEANINGS: Final = {
    1: "invalid value",
    2: "out of memory",
    3: "not initialised",
    100: "no device",
    101: "invalid device",
    209: "no kernel image for the device",
    400: "invalid handle",
    600: "not ready",
    700: "illegal address",
    701: "out of launch resources",
    702: "launch timed out",
    716: "misaligned address",
    719: "launch failed",
    801: "not supported",
}
_SHOWN: Final = 5


def failed_calls_text(
    calls: Calls, host: HostStack, tree: PathTree, strings: Strings
) -> str | None:
    """A sentence about the calls that failed, the most frequent first, each with the path of its
    first occurrence; None when none failed. The tree is renumbered already."""
    rows = np.flatnonzero((calls.result != 0) & (calls.result != NULL32))
    if not len(rows):
        return None
    base, code = calls.base[rows], calls.result[rows]
    dense, first = intern_rows([base, code])
    counts = np.bincount(dense, minlength=len(first))
    parts: list[str] = []
    total = 0
    for kind in np.argsort(-counts, kind="stable").tolist():
        row = int(first[kind])
        name, returned = strings.pool[int(base[row])], int(code[row])
        if returned == _NOT_READY and name.endswith("Query"):
            continue
        total += int(counts[kind])
        meaning = f" ({_MEANINGS[returned]})" if returned in _MEANINGS else ""
        node = int(host.node[host.annotations + int(rows[row])])
        path = " > ".join(_names(tree, strings, node))
        often = f"{counts[kind]} times" if counts[kind] > 1 else "once"
        parts.append(f"{name} returned {returned}{meaning} {often}, first at {path}")
    if not parts:
        return None
    more = f"; {len(parts) - _SHOWN} more kinds" if len(parts) > _SHOWN else ""
    return f"{total} CUDA calls failed: {'; '.join(parts[:_SHOWN])}{more}."


def _names(tree: PathTree, strings: Strings, node: int) -> list[str]:
    """Names from below the root to the node's parent."""
    parent, frame = (tree.columns()[name] for name in ("parent", "frame"))
    name_of = tree.frame_columns()["name"]
    names: list[str] = []
    node = int(parent[node])
    while node > 0:
        names.append(strings.pool[int(name_of[frame[node]])])
        node = int(parent[node])
    return names[::-1]
