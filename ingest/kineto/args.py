"""Arguments of events: interned shapes, what has no column of its own, launch shapes, NCCL."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool, intern_rows
from ..arrays import I32, I64, NULL32, NULL64
from ..timeline import Timeline
from .recording import Recording, Table

_SHAPE_COLUMNS: Final = {
    "shapes": "dims",
    "types": "types",
    "strides": "strides",
    "concrete": "concrete",
}
_TEXT_COLUMNS: Final = {"stack": "Call stack", "module": "Module Hierarchy"}
_TRITON_COLUMNS: Final = {
    "backend": "kernel_backend",
    "file": "kernel_file",
    "hash": "kernel_hash",
    "kwargs": "kernel_kwargs",
    "kernel": "kernel_name",
    "num_warps": "num_warps",
    "num_stages": "num_stages",
}
_CONFIG_COLUMNS: Final = {
    "grid_x": "grid_x",
    "grid_y": "grid_y",
    "grid_z": "grid_z",
    "block_x": "block_x",
    "block_y": "block_y",
    "block_z": "block_z",
    "registers_per_thread": "registers",
    "shared_bytes": "smem_bytes",
}
_CONFIG_RATES: Final = {
    "blocks_per_sm": "blocks_per_sm",
    "warps_per_sm": "warps_per_sm",
    "occupancy_percent": "occupancy_pct",
}
_COLLECTIVE_TEXTS: Final = {
    "name": "name",
    "dtype": "dtype",
    "in_split": "in_split",
    "out_split": "out_split",
    "group_name": "pg_name",
    "group_description": "pg_desc",
    "group_ranks": "pg_ranks",
}
_COLLECTIVE_COUNTS: Final = {
    "in_elements": "in_nelems",
    "out_elements": "out_nelems",
    "sequence": "seq",
}
_COLLECTIVE_NUMBERS: Final = {
    "group_size": "group_size",
    "rank": "rank",
    "peer_source": "src_rank",
    "peer_target": "dst_rank",
}


class Arguments:
    """Enters the arguments of one recording into the timeline's interned tables."""

    def __init__(self, recording: Recording, timeline: Timeline) -> None:
        self._recording = recording
        self._timeline = timeline
        self._pool: StringPool = timeline.pool

    def rows(self, table: Table) -> I32 | None:
        """Row of op_args of each event, -1 without arguments; None when no event has any."""
        keys = {
            name: table[name]
            for name in ("args", "shape", *_TEXT_COLUMNS, "triton")
            if name in table and bool((table[name] >= 0).any())
        }
        if not keys:
            return None
        index, first = intern_rows(list(keys.values()))
        columns = {name: np.ascontiguousarray(column[first]) for name, column in keys.items()}
        bare = np.all([column < 0 for column in columns.values()], axis=0)
        used = np.flatnonzero(~bare)
        number = np.full(len(first), -1, np.int32)
        entered = self._enter({name: column[used] for name, column in columns.items()}, len(used))
        number[used] = entered + np.arange(len(used), dtype=np.int32)
        return number[index]

    def _enter(self, keys: dict[str, I32], rows: int) -> int:
        nothing = np.full(rows, -1, np.int32)
        columns: dict[str, I32] = {}
        shape = self._recording.table("shape")
        if shape is not None and "shape" in keys:
            for name, source in _SHAPE_COLUMNS.items():
                columns[name] = _picked(shape[source], keys["shape"])
        columns["other"] = self._other(keys, keys.get("args", nothing))
        return self._timeline.add_args(columns)

    def _other(self, keys: dict[str, I32], args: I32) -> I32:
        """JSON of what has no column: the remainder, and texts that few events have."""
        extra = {name: keys[name] for name in (*_TEXT_COLUMNS, "triton") if name in keys}
        if not extra:
            return args
        out = args.copy()
        with_more = np.any([column >= 0 for column in extra.values()], axis=0)
        for row in np.flatnonzero(with_more).tolist():
            values = self._extra(extra, row)
            rest = self._pool[int(args[row])] if args[row] >= 0 else "{}"
            try:
                values.update(json.loads(rest))
            except (ValueError, RecursionError):
                values["args"] = rest
            out[row] = self._pool.intern(json.dumps(values, ensure_ascii=False))
        return out

    def _extra(self, extra: dict[str, I32], row: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, key in _TEXT_COLUMNS.items():
            if name in extra and extra[name][row] >= 0:
                values[key] = self._pool[int(extra[name][row])]
        triton = self._recording.table("triton")
        if triton is not None and "triton" in extra and extra["triton"][row] >= 0:
            at = int(extra["triton"][row])
            for name, key in _TRITON_COLUMNS.items():
                value = int(triton[name][at])
                if name.startswith("num_"):
                    if value != NULL64:
                        values[key] = value
                elif value >= 0:
                    values[key] = self._pool[value]
        return values

    def configs(self, config: I32, work_items: NDArray[np.bool_] | None) -> I32 | None:
        """Row of launch_config of each kernel; None when none is recorded. `work_items`: kernels
        whose grid counts work-items (AMD); blocks are what is stored."""
        table = self._recording.table("config")
        if table is None or not len(config) or not bool((config >= 0).any()):
            return None
        items = np.zeros(len(config), np.uint8)
        if work_items is not None:
            items = (work_items & (config >= 0)).astype(np.uint8)
        index, first = intern_rows([config, items])
        source, items = config[first], items[first].astype(np.bool_)
        used = source >= 0
        columns: dict[str, NDArray[Any]] = {}
        for name, key in _CONFIG_COLUMNS.items():
            columns[name] = _narrow(table[key][source[used]])
        for axis in "xyz":
            grid, block = columns[f"grid_{axis}"], columns[f"block_{axis}"]
            by_items = items[used] & (grid >= 0) & (block > 0)
            blocks = -(-grid // np.maximum(block, 1))
            columns[f"grid_{axis}"] = np.where(by_items, blocks, grid).astype(np.int32)
        for name, key in _CONFIG_RATES.items():
            columns[name] = np.ascontiguousarray(table[key][source[used]])
        number = np.full(len(first), -1, np.int32)
        number[used] = self._timeline.add_configs(columns) + np.arange(used.sum(), dtype=np.int32)
        return number[index]

    def collectives(self) -> I32 | None:
        """Row of `collective` by row of the scanner's table; None without any."""
        table = self._recording.table("collective")
        if table is None:
            return None
        columns: dict[str, NDArray[Any]] = {
            **{name: np.ascontiguousarray(table[key]) for name, key in _COLLECTIVE_TEXTS.items()},
            **{name: np.ascontiguousarray(table[key]) for name, key in _COLLECTIVE_COUNTS.items()},
            **{name: _narrow(table[key]) for name, key in _COLLECTIVE_NUMBERS.items()},
        }
        rows = len(columns["name"])
        first = self._timeline.add_collectives(columns)
        return np.arange(first, first + rows, dtype=np.int32)


def _picked(values: I32, index: I32) -> I32:
    """values[index], -1 where the index is."""
    return np.where(index >= 0, values[index], -1).astype(np.int32)


def picked(values: I32 | None, index: I32 | None) -> I32 | None:
    """values[index], -1 where the index is; None when there is nothing to pick."""
    if values is None or index is None or not bool((index >= 0).any()):
        return None
    return _picked(values, index)


def _narrow(column: I64) -> I32:
    """int64 as int32; what does not fit is NULL32."""
    fits = (column > NULL32) & (column < 2**31)
    return np.where(fits & (column != NULL64), column, NULL32).astype(np.int32)
