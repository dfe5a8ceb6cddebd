"""Launch shapes of kernels whose work was summed up as it ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, intern_rows, sort_order
from .arrays import I16, I32, I64, NULL32
from .interner import Interner
from .writer import StoreWriter


@dataclass(slots=True)
class Launched:
    """A row a context, device and kernel; rows of the same ones with the same shape add up."""

    node: I32
    device: I16
    name: I32
    """String of the kernel, as op_stat has it."""
    count: I64
    sum_ns: I64
    shape: Mapping[str, I32]
    """Columns of launch_config, of the first launch of each row; NULL32 where not known."""


def write_launched(writer: StoreWriter, parts: Sequence[Launched], nodes: I32) -> None:
    """Fill `launch_config` and `path_config`; nodes: the store's node of each value of `node`."""
    if not any(len(part.node) for part in parts):
        return
    names = list(parts[0].shape)
    shapes = Interner()
    config = shapes.ids([np.concatenate([part.shape[name] for part in parts]) for name in names])
    columns = dict(zip(names, shapes.columns(len(names)), strict=True))
    rows: dict[str, Any] = {"id": range(len(shapes.values)), **columns}
    writer.insert("launch_config", ColumnStream(rows, nulls=dict.fromkeys(names, NULL32)))
    keys: list[NDArray[Any]] = [
        nodes[np.concatenate([part.node for part in parts])],
        np.concatenate([part.device for part in parts]),
        np.concatenate([part.name for part in parts]),
        config,
    ]
    row, first = intern_rows(keys)
    found: dict[str, NDArray[Any]] = {
        name: key[first]
        for name, key in zip(("node", "device", "name", "config"), keys, strict=True)
    }
    count = np.concatenate([part.count for part in parts])
    for name, values in {
        "count": count,
        "sum_ns": np.concatenate([part.sum_ns for part in parts]),
        "unseen": count - 1,
    }.items():
        found[name] = np.zeros(len(first), np.int64)
        np.add.at(found[name], row, values)
    writer.insert("path_config", ColumnStream(found, order=sort_order([found["node"]])))
