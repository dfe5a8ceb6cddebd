"""Writes the store of an aggregated profile: the calling context tree and its sums, no events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..native import ColumnStream, PathTree, StringPool, inclusive, intern_rows
from .arrays import I16, I32, I64, NULL64, Mask
from .called_with import CalledWith, write_called_with
from .comm import is_communication
from .generated import GeneratedFile, write_generated
from .launched import Launched, write_launched
from .metrics import tree_streams
from .model import GpuKind, Severity
from .owners import Device, Lane, Process, write_owners
from .path_memory import PathMemory, write_memory
from .stalls import StallSamples, write_stalls
from .summary import write_strings
from .writer import StoreWriter

_SUMS: Final = ("calls", "host_ns", "gpu_ops", "kernels", "gpu_ns", "bytes")
_TOTALS: Final = ("host_ns", "samples", "gpu_ops", "kernels", "gpu_ns", "bytes")


@dataclass(slots=True)
class Costs:
    """What contexts cost themselves, one row a context and device (-1: the host). Columns of
    path_metric by name; NULL64 where nothing was measured. Several rows of a context add up."""

    node: I32
    device: I16
    columns: Mapping[str, I64]
    """Those of _SUMS; of the durations of host events also host_dur_sum_ns, host_dur_min_ns and
    host_dur_max_ns; of GPU work, where more than the sum is known, gpu_min_ns and gpu_max_ns;
    `samples` of the CPU, where any were taken."""
    squares: Mapping[str, NDArray[np.float64]] = field(
        default_factory=dict[str, NDArray[np.float64]]
    )
    """Sums of squares: host_dur_sumsq, gpu_sumsq."""


@dataclass(slots=True)
class OtherValues:
    """Metrics without a column of their own, one row a context and name."""

    node: I32
    device: I16
    name: I32
    value: NDArray[np.float64]
    property: Mask
    """A property of the context: it is not summed up."""
    context: I32 | None = None
    """The row of the costs, where each is a context of the file (`Profile.parents`)."""


@dataclass(slots=True)
class Profile:
    """An aggregated profile. Node ids are those of `tree`; texts are ids of `pool`."""

    tree: PathTree
    pool: StringPool
    devices: Sequence[Device]
    costs: Costs
    kernel_name: I32
    """By row of `costs`: the kernel (or what `work_kind` says) that ran, -1 where none did."""
    others: OtherValues | None
    processes: Sequence[Process] = ()
    lanes: Sequence[Lane] = ()
    parents: I32 | None = None
    """Where each row of `costs` is a context of the file: the row of its parent, -1 for the root's.
    They are kept as they are, beside the sums of their nodes."""
    work_kind: NDArray[np.uint8] | None = None
    """By row of `costs`: the kind of the work (GpuKind); None: all are kernels."""
    stalls: StallSamples | None = None
    """Sampled instructions of kernels."""
    called_with: CalledWith | None = None
    """What contexts were called with."""
    memory: Sequence[PathMemory] = ()
    """What contexts allocated."""
    launched: Sequence[Launched] = ()
    """How kernels were launched."""
    generated: Sequence[GeneratedFile] = ()
    """Code that was generated while the program ran."""


def write_profile(
    writer: StoreWriter,
    profile: Profile,
    facts: Mapping[str, object],
    notes: Sequence[tuple[Severity, str, str]],
) -> None:
    """Fill the store and tell that its summary is ready; the tables of events stay empty."""
    new_ids = profile.tree.renumber()
    node = new_ids[profile.costs.node]
    write_owners(writer, profile.processes, profile.lanes, profile.devices)
    for table, stream in zip(("frame", "path_node"), tree_streams(profile.tree), strict=True):
        writer.insert(table, stream)
    metrics = _summed(node, profile.costs)
    if len(metrics["node"]):
        _insert(writer, "path_metric", metrics)
        for total in _totals(profile.tree.columns()["parent"], metrics):
            _insert(writer, "path_total", total)
    kernels = _op_stats(profile)
    if len(kernels["name"]):
        _insert(writer, "op_stat", kernels)
    if profile.others is not None:
        others = profile.others
        columns: dict[str, NDArray[Any]] = {
            "node": new_ids[others.node],
            "device": others.device,
            "name": others.name,
            "value": others.value,
            "property": others.property,
        }
        if others.context is not None:
            columns["context"] = others.context
        writer.insert("path_value", ColumnStream(columns, nulls={"device": -1}))
    if profile.parents is not None:
        own: dict[str, NDArray[Any] | range] = {
            "id": range(len(node)),
            "parent": profile.parents,
            "node": node,
            "device": profile.costs.device,
            **{name: profile.costs.columns[name] for name in _SUMS},
        }
        nulls = {**dict.fromkeys(_SUMS, NULL64), "parent": -1, "device": -1}
        writer.insert("profile_context", ColumnStream(own, nulls=nulls))
    if profile.stalls is not None:
        write_stalls(writer, profile.stalls, new_ids)
    if profile.called_with is not None:
        write_called_with(writer, profile.called_with, new_ids)
    write_memory(writer, profile.memory, new_ids)
    write_launched(writer, profile.launched, new_ids)
    write_generated(writer, profile.generated, profile.pool)
    write_strings(writer, profile.pool)
    writer.facts(facts)
    writer.notes(notes)
    writer.summary_ready()


def _insert(writer: StoreWriter, table: str, columns: Mapping[str, NDArray[Any]]) -> None:
    nulls = {name: NULL64 for name, column in columns.items() if column.dtype == np.int64}
    writer.insert(table, ColumnStream(columns, nulls={**nulls, "device": -1}))


def _added(index: I32, size: int, values: I64) -> I64:
    """Sum of each group; NULL64 where nothing of it was measured."""
    known = values != NULL64
    sums = np.zeros(size, np.int64)
    np.add.at(sums, index[known], values[known])
    some = np.bincount(index[known], minlength=size) > 0
    return np.where(some, sums, NULL64)


def _picked(pick: np.ufunc, index: I32, size: int, values: I64) -> I64:
    """Least or greatest of each group; NULL64 where nothing of it was measured."""
    known = values != NULL64
    start = np.iinfo(np.int64).max if pick is np.minimum else NULL64
    out = np.full(size, start)
    pick.at(out, index[known], values[known])
    some = np.bincount(index[known], minlength=size) > 0
    return np.where(some, out, NULL64)


def _summed(node: I32, costs: Costs) -> dict[str, NDArray[Any]]:
    """One row a context and device."""
    index, first = intern_rows([node, costs.device])
    out: dict[str, NDArray[Any]] = {"node": node[first], "device": costs.device[first]}
    for name in _SUMS:
        out[name] = _added(index, len(first), costs.columns[name])
    if "samples" in costs.columns:
        out["samples"] = _added(index, len(first), costs.columns["samples"])
    if "host_dur_sum_ns" in costs.columns:
        out["host_dur_sum_ns"] = _added(index, len(first), costs.columns["host_dur_sum_ns"])
        for name, pick in (("host_dur_min_ns", np.minimum), ("host_dur_max_ns", np.maximum)):
            out[name] = _picked(pick, index, len(first), costs.columns[name])
    if "host_dur_sumsq" in costs.squares:
        out["host_dur_sumsq"] = np.bincount(
            index, weights=costs.squares["host_dur_sumsq"], minlength=len(first)
        )
    spread = _spread(index, len(first), out["gpu_ops"], out["gpu_ns"], costs)
    out["gpu_min_ns"], out["gpu_max_ns"], out["gpu_sumsq"] = spread
    return out


def _spread(
    index: I32, size: int, count: I64, total: I64, costs: Costs, rows: Mask | None = None
) -> tuple[I64, I64, NDArray[np.float64]]:
    """Least, greatest and sum of squares of the GPU durations of each group; NULL64 and NaN where
    they are not known. `rows`: those of the costs that `index` is about; None: all."""
    if "gpu_min_ns" not in costs.columns:  # an aggregate tells them of one execution only
        single = count == 1
        known = np.where(single, total, NULL64)
        return known, known, np.where(single, total.astype(np.float64) ** 2, np.nan)
    picked = slice(None) if rows is None else rows
    least = _picked(np.minimum, index, size, costs.columns["gpu_min_ns"][picked])
    most = _picked(np.maximum, index, size, costs.columns["gpu_max_ns"][picked])
    squares = np.bincount(index, weights=costs.squares["gpu_sumsq"][picked], minlength=size)
    return least, most, np.where(count > 0, squares, np.nan)


def _totals(parent: I32, metrics: Mapping[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Inclusive values, device by device."""
    totals: list[dict[str, NDArray[Any]]] = []
    for device in np.unique(metrics["device"]).tolist():
        here = metrics["device"] == device
        node = metrics["node"][here]
        reached = np.zeros(len(parent), np.int64)
        reached[node] = 1
        below = np.flatnonzero(inclusive(parent, reached)).astype(np.int32)
        total: dict[str, NDArray[Any]] = {
            "node": below,
            "device": np.full(len(below), device, np.int16),
        }
        for name in _TOTALS:
            if name not in metrics:
                continue
            values = metrics[name][here]
            known = values != NULL64
            if not known.any():
                continue
            own = np.zeros(len(parent), np.int64)
            own[node[known]] = values[known]
            total[name] = inclusive(parent, own)[below]
        totals.append(total)
    return totals


def _op_stats(profile: Profile) -> dict[str, NDArray[Any]]:
    """GPU work by device, name and kind."""
    costs, pool = profile.costs, profile.pool
    work = (profile.kernel_name >= 0) & (costs.columns["gpu_ns"] != NULL64)
    counted = work & (costs.columns["gpu_ops"] > 0)
    name, device = profile.kernel_name[counted], costs.device[counted]
    kinds = np.full(len(costs.node), GpuKind.KERNEL, np.uint8)
    if profile.work_kind is not None:
        kinds = profile.work_kind
    index, first = intern_rows([device, name, kinds[counted]])
    size = len(first)
    count = _added(index, size, costs.columns["gpu_ops"][counted])
    total = _added(index, size, costs.columns["gpu_ns"][counted])
    least, most, squares = _spread(index, size, count, total, costs, counted)
    comm = [is_communication(pool[text]) for text in name[first].tolist()]
    return {
        "device": device[first],
        "kind": kinds[counted][first],
        "name": name[first],
        "comm": np.array(comm, np.bool_),
        "count": count,
        "sum_ns": total,
        "min_ns": least,
        "max_ns": most,
        "sumsq": squares,
        "bytes": _added(index, size, costs.columns["bytes"][counted]),
    }
