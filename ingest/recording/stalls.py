"""Samples of instructions become stalls of kernels in the store, with their source lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import I16, I32, I64, NULL32, NULL64
from ..model import Layer
from ..stall_names import canonical
from ..stalls import StallSamples
from .content import Recording
from .cubin_lines import LineTable, can_read_lines, line_table
from .paths import Names
from .work import WorkKind


@dataclass(frozen=True, slots=True)
class _Shares:
    """Samples by context: each row of the recording becomes one or more."""

    row: I64
    node: I32
    samples: I64
    not_issued: I64
    spread: I64


def stalls_of(
    names: Names,
    recording: Recording,
    nodes: Mapping[int, I32],
    work_nodes: I32,
    device_ids: Mapping[int, int],
) -> StallSamples | None:
    """The stalls of a recording; None when nothing was sampled. `nodes`: by thread, the store's
    node of each of its nodes; `work_nodes`: that of each row of GPU work."""
    samples, pool = recording.samples, names.pool
    if not len(samples):
        return None
    shares = _shared(names, recording, nodes, work_nodes)
    columns = {name: values[shares.row] for name, values in samples.columns.items()}
    places = _places(recording)
    files = {place[0] for place in places if place is not None}
    file_ids = {file: pool.intern(file) for file in sorted(files)}
    file = np.array([-1 if p is None else file_ids[p[0]] for p in places], np.int32)
    line = np.array([NULL32 if p is None else p[1] for p in places], np.int32)

    def texts(name: str) -> I32:
        ids = np.unique(columns[name])
        own = [pool.intern(recording.strings[int(label)]) for label in ids.tolist()]
        found: I32 = np.array(own, np.int32)[np.searchsorted(ids, columns[name])]
        return found

    crcs = np.unique(columns["crc"])
    modules = [pool.intern(f"cubin {crc & (2**64 - 1):016x}") for crc in crcs.tolist()]
    reasons = np.unique(columns["reason"])
    reason_ids = [pool.intern(canonical(recording.strings[int(r)])) for r in reasons.tolist()]
    device: I16 = np.array([device_ids.get(d, -1) for d in columns["device"].tolist()], np.int16)
    return StallSamples(
        kernel=pool.name_keys(texts("kernel")),
        module=np.array(modules, np.int32)[np.searchsorted(crcs, columns["crc"])],
        function=texts("function"),
        offset=np.where(columns["offset"] < 0, NULL64, columns["offset"]),
        text=np.full(len(shares.row), -1, np.int32),
        file=file[shares.row],
        line=line[shares.row],
        node=shares.node,
        device=device,
        reason=np.array(reason_ids, np.int32)[np.searchsorted(reasons, columns["reason"])],
        samples=shares.samples,
        not_issued=shares.not_issued,
        spread=shares.spread.astype(np.bool_),
    )


def _places(recording: Recording) -> list[tuple[str, int] | None]:
    """File and line of each row."""
    samples = recording.samples
    tables: dict[int, LineTable] = {}
    if can_read_lines():
        tables = {crc: line_table(code) for crc, code in samples.code.items()}
    columns = samples.columns
    crcs: list[int] = columns["crc"].tolist()
    functions: list[int] = columns["function"].tolist()
    offsets: list[int] = columns["offset"].tolist()
    return [
        table.find(recording.strings[function], offset)
        if (table := tables.get(crc)) is not None and offset >= 0
        else None
        for crc, function, offset in zip(crcs, functions, offsets, strict=True)
    ]


def _shared(
    names: Names, recording: Recording, nodes: Mapping[int, I32], work_nodes: I32
) -> _Shares:
    """Samples of a launch are of its kernel there; others are shared out among the contexts of the
    kernel, in proportion to its time in each."""
    work, columns = recording.work.columns, recording.samples.columns
    kernels = np.flatnonzero(work["kind"] == WorkKind.KERNEL)
    by_launch = {
        (int(work["thread"][at]), int(work["node"][at]), int(work["name"][at])): int(work_nodes[at])
        for at in kernels.tolist()
    }
    by_name: dict[tuple[int, int], list[int]] = {}
    for at in kernels.tolist():
        by_name.setdefault((int(work["name"][at]), int(work["device"][at])), []).append(at)
    out: list[tuple[int, int, int, int, int]] = []
    told = (columns[name].tolist() for name in ("thread", "node", "kernel", "device"))
    rows = zip(*told, strict=True)
    for row, (thread, node, kernel, device) in enumerate(rows):
        taken, idle = int(columns["samples"][row]), int(columns["not_issued"][row])
        if thread >= 0:
            known = by_launch.get((thread, node, kernel))
            place = _kernel_node(names, recording, nodes, thread, node, kernel, known)
            out.append((row, place, taken, idle, 0))
            continue
        contexts = by_name.get((kernel, device), [])
        if len(contexts) < 2:
            out.append((row, int(work_nodes[contexts[0]]) if contexts else -1, taken, idle, 0))
            continue
        parts = shared_out(taken, work["sum_ns"][contexts].tolist())
        unissued = shared_out(idle, parts)  # of each part no more than there is
        shares = zip(contexts, parts, unissued, strict=True)
        out += [(row, int(work_nodes[at]), some, none, 1) for at, some, none in shares if some]
    table = np.array(out, np.int64).reshape(-1, 5)
    return _Shares(table[:, 0], table[:, 1].astype(np.int32), table[:, 2], table[:, 3], table[:, 4])


def _kernel_node(
    names: Names,
    recording: Recording,
    nodes: Mapping[int, I32],
    thread: int,
    node: int,
    kernel: int,
    known: int | None,
) -> int:
    """The kernel below its launch; it is made where its work record was lost."""
    if known is not None:
        return known
    text = names.pool.intern(recording.strings[kernel])
    key = int(names.pool.name_keys(np.array([text], np.int32))[0])
    return names.tree.child(int(nodes[thread][node]), names.tree.frame(Layer.KERNEL, key))


def shared_out(total: int, weights: Sequence[int]) -> list[int]:
    """`total` in whole parts in proportion to `weights`; they add up to it. What rounding leaves
    goes to the parts that lost most by it, the first of equals. Equal parts when all weigh 0."""
    sizes = [max(weight, 0) for weight in weights]
    whole = sum(sizes)
    if not whole:
        sizes, whole = [1] * len(sizes), len(sizes)
    parts = [total * size // whole for size in sizes]
    losses = [total * size % whole for size in sizes]
    order = sorted(range(len(sizes)), key=lambda at: -losses[at])
    for at in order[: total - sum(parts)]:
        parts[at] += 1
    return parts
