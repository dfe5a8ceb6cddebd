"""The texts that say how a kernel was launched and what a copy moved."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...native import intern_rows
from ..arrays import I32, I64, MOST_BYTES, NULL32, NULL64
from ..timeline import Timeline

_FIELD: Final = re.compile(r"(\w+):(\S+)")
_NUMBERS: Final = {
    "regs": "registers_per_thread",
    "static_shared": "static_shared_bytes",
    "dynamic_shared": "dynamic_shared_bytes",
    "shm": "shared_bytes",
    "group_mem": "shared_bytes",
    "private_mem": "local_bytes_per_thread",
}
_SIZES: Final = {"grid": ("grid_x", "grid_y", "grid_z"), "block": ("block_x", "block_y", "block_z")}
_COLUMNS: Final = (
    *(name for names in _SIZES.values() for name in names),
    *dict.fromkeys(_NUMBERS.values()),
)


def fields_of(text: str) -> dict[str, str]:
    """`regs:38 shm:0 grid:160,1,1` as a dictionary."""
    return dict(_FIELD.findall(text))


def launch_config(text: str) -> dict[str, int]:
    """Columns of launch_config that `kernel_details` tells. Grids count blocks on every GPU."""
    config: dict[str, int] = {}
    for name, value in fields_of(text).items():
        if name in _SIZES:
            sizes = value.split(",")
            if len(sizes) == 3 and all(size.isdecimal() for size in sizes):
                config.update(zip(_SIZES[name], map(int, sizes), strict=True))
        elif name in _NUMBERS and value.isdecimal():
            config[_NUMBERS[name]] = int(value)
    return {name: value for name, value in config.items() if value < 2**31}


def occupancy(text: str) -> float:
    """Percent; NaN where not told (0 is written where it is not known)."""
    value = fields_of(text).get("occ_pct", "")
    try:
        percent = float(value)
    except ValueError:
        return np.nan
    return percent if 0 < percent <= 100 else np.nan


def add_configs(line: Timeline, details: I32) -> I32:
    """Rows of launch_config for `kernel_details` texts of the pool, -1 where there is none."""
    known = np.flatnonzero(details >= 0)
    config = np.full(len(details), -1, np.int32)
    if not len(known):
        return config
    number, first = intern_rows([details[known]])
    texts = [line.pool[text] for text in details[known[first]].tolist()]
    rows = [launch_config(text) for text in texts]
    columns = {
        name: np.array([row.get(name, NULL32) for row in rows], np.int32) for name in _COLUMNS
    }
    start = line.add_configs(
        {**columns, "occupancy_percent": np.array([occupancy(text) for text in texts])}
    )
    config[known] = number + start
    return config


def sizes(texts: Sequence[str]) -> I64:
    """Bytes that `memcpy_details` (`size:112 dest:4 async:0`) or `memset_details` tell."""
    found = [fields_of(text).get("size", "") for text in texts]
    return np.array(
        [
            int(value) if value.isdecimal() and 0 < int(value) < MOST_BYTES else NULL64
            for value in found
        ],
        np.int64,
    )


def copied_bytes(line: Timeline, details: I32) -> I64:
    """Bytes of each event by its text of the pool, NULL64 where not told."""
    number, first = intern_rows([details])
    texts = ["" if text < 0 else line.pool[text] for text in details[first].tolist()]
    return sizes(texts)[number] if len(details) else np.empty(0, np.int64)
