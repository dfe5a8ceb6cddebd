"""GPU work of a recording becomes contexts of the store, below those that launched it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from ..arrays import I32, I64, NULL32, NULL64
from ..launched import Launched
from ..model import GpuKind, Layer
from ..owners import Device
from .content import Recording
from .parts import Part
from .paths import Names
from .work import WorkKind, WorkTable
from .xla_kernels import KernelOperations

_LAYERS: Final = {
    WorkKind.KERNEL: Layer.KERNEL,
    WorkKind.COPY: Layer.MEMCPY,
    WorkKind.SET: Layer.MEMSET,
    WorkKind.GRAPH: Layer.GRAPH,
}
_KINDS: Final = {
    WorkKind.KERNEL: GpuKind.KERNEL,
    WorkKind.COPY: GpuKind.MEMCPY,
    WorkKind.SET: GpuKind.MEMSET,
    WorkKind.GRAPH: GpuKind.GRAPH,
}
_UNKNOWN_LAUNCH: Final = "[launch not recorded]"
_OTHER: Final = "[other]"
_REPLAYED: Final = "runs in graph replays"


def enter_work(
    names: Names,
    recording: Recording,
    nodes: Mapping[int, I32],
    process_node: int,
    device_ids: Mapping[int, int],
    operations: KernelOperations | None,
) -> Part:
    """Add contexts for the GPU work below those of `nodes` (by thread, the store's node of each of
    its nodes). `device_ids`: by the number that the program gives a GPU. `operations`: of XLA,
    to which kernels belong by name."""
    work, tree, pool = recording.work, names.tree, names.pool
    columns = work.columns
    node = np.zeros(len(work), np.int32)
    texts = [_text(recording, int(label)) for label in columns["name"].tolist()]
    keys = pool.name_keys(np.array([pool.intern(text) for text in texts], np.int32))
    rows = zip(
        columns["thread"].tolist(),
        columns["node"].tolist(),
        columns["kind"].tolist(),
        columns["graph"].tolist(),
        keys.tolist(),
        columns["count"].tolist(),
        strict=True,
    )
    for number, (thread, at, kind, graph, key, runs) in enumerate(rows):
        if thread >= 0:
            parent = int(nodes[thread][at])
        else:
            frame = tree.frame(Layer.NOT_RECORDED, pool.intern(_UNKNOWN_LAUNCH))
            parent = tree.child(process_node, frame)
        layer = _LAYERS[WorkKind(kind)]
        if graph and layer is not Layer.GRAPH:
            parent = tree.child(parent, tree.frame(Layer.GRAPH, pool.intern(f"graph #{graph}")))
        if operations is not None and layer is Layer.KERNEL:
            parent = operations.below(parent, texts[number], runs)
        node[number] = tree.child(parent, tree.frame(layer, key))
    kernel = columns["kind"] == WorkKind.KERNEL
    count = columns["count"]
    moved = (columns["kind"] == WorkKind.COPY) | (columns["kind"] == WorkKind.SET)
    replays = np.flatnonzero(work.in_graph)
    replayed = (node[replays], pool.intern(_REPLAYED), count[replays].astype(np.float64))
    return Part(
        node,
        np.array([device_ids[d] for d in columns["device"].tolist()], np.int16),
        {
            "gpu_ops": count,
            "kernels": np.where(kernel, count, 0),
            "gpu_ns": columns["sum_ns"],
            "gpu_min_ns": columns["min_ns"],
            "gpu_max_ns": columns["max_ns"],
            "bytes": np.where(moved, columns["bytes"], NULL64),
        },
        np.zeros(len(work)),
        work.sum_sq,
        keys,
        np.array([_KINDS[WorkKind(k)] for k in columns["kind"].tolist()], np.uint8),
        [replayed] if len(replays) else [],
    )


def launched_of(work: WorkTable, part: Part) -> Launched:
    """How the kernels of `part` were launched, where the recorder was told: a device's number of
    registers or blocks is never 0."""
    columns = work.columns
    told = np.flatnonzero((columns["kind"] == WorkKind.KERNEL) & (columns["grid_x"] > 0))
    sides = [f"{what}_{side}" for what in ("grid", "block") for side in "xyz"]
    shape = {side: _positive(columns[side][told]) for side in sides}
    shape["registers_per_thread"] = _positive(columns["registers"][told])
    shape["shared_bytes"] = _fitting(columns["shared_bytes"][told])
    return Launched(
        part.node[told],
        part.device[told],
        part.name[told],
        columns["count"][told],
        columns["sum_ns"][told],
        shape,
    )


def _positive(values: I64) -> I32:
    return _fitting(np.where(values > 0, values, NULL64))


def _fitting(values: I64) -> I32:
    """NULL32 where it cannot be."""
    return np.where((values >= 0) & (values < 2**31), values, NULL32).astype(np.int32)


def _text(recording: Recording, label: int) -> str:
    return recording.strings[label] or _OTHER


def devices_of(recording: Recording, process: int) -> Sequence[tuple[int, Device]]:
    """The GPUs that did work, and what the program's torch told of them."""
    told = {_whole(entry.get("ordinal")): entry for entry in _entries(recording)}
    found: list[tuple[int, Device]] = []
    for ordinal in np.unique(recording.work.columns["device"]).tolist():
        entry: Mapping[str, Any] = told.get(ordinal, {})
        name = entry.get("name")
        named = name if isinstance(name, str) and name else f"GPU {ordinal} (model not recorded)"
        device = Device(
            ordinal,
            named,
            process=process,
            sm_count=_whole(entry.get("sm_count")),
            memory_bytes=_whole(entry.get("memory_bytes")),
            compute_major=_whole(entry.get("compute_major")),
            compute_minor=_whole(entry.get("compute_minor")),
        )
        found.append((ordinal, device))
    return found


def _entries(recording: Recording) -> list[dict[str, Any]]:
    entries: object = recording.meta.get("devices")
    if not isinstance(entries, list):
        return []
    found = cast("list[object]", entries)
    return [cast("dict[str, Any]", entry) for entry in found if isinstance(entry, dict)]


def _whole(value: object) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
    return value if good and isinstance(value, int) else None
