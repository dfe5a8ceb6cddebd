"""Single GPU operations as a sorted, filtered table that is read page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..ingest.model import GpuKind
from ..native import sort_order
from .kernels import GPU_WORK
from .trace import NotReadyError, Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]


class InstanceSort(StrEnum):
    """What the table of operations is sorted by."""

    START = "start"
    DURATION = "duration"
    NAME = "name"
    STREAM = "stream"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class OpRow:
    """One GPU operation. Values the trace does not tell are None."""

    id: int
    kind: GpuKind
    device: int
    stream: str
    start_ns: int
    dur_ns: int
    name: str
    full_name: str | None
    correlation: int | None
    launched: bool
    """False: its launch is not in the trace."""
    node: int | None
    """In the call-path tree; None for synchronisations."""
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    """Per thread."""
    static_shared_bytes: int | None
    dynamic_shared_bytes: int | None
    bytes: int | None
    graph_node: int | None


class OpInstances:
    """GPU operations by position in a chosen order (4 bytes of memory a row).

    `prepare` and `page` wait for the database: call them from a worker, one at a time.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._order: NDArray[np.int32] | None = None
        self._texts: dict[int, str] = {}
        self._configs: dict[int, tuple[Any, ...]] = {}
        self._lanes: dict[int, str] = {}

    def prepare(
        self,
        sort: InstanceSort = InstanceSort.START,
        descending: bool = False,
        text: str = "",
        *,
        kinds: Sequence[GpuKind] = GPU_WORK,
        name_id: int | None = None,
        device: int | None = None,
    ) -> int:
        """Make the order; the number of rows in it.

        `text` selects operations whose short or full name contains it, whatever the case.
        NotReadyError while the events are being loaded.
        """
        if not self._trace.events_ready:
            raise NotReadyError("the events are still being loaded")
        parameters: dict[str, object] = {
            "sort": sort.value,
            "kinds": [int(kind) for kind in kinds],
            "name": name_id,
            "device": device,
        }
        if text:
            columns = self._trace.arrays("instances.matching_keys", {**parameters, "text": text})
        else:
            columns = self._trace.arrays("instances.keys", parameters)
        ids = columns["id"].astype("int32", copy=False)
        key = self._sort_key(sort, columns["key"], descending)
        # Ids break ties, so that equal keys stay by stream and start in either direction.
        self._order = ids[sort_order([key, ids])]
        return len(self._order)

    def _sort_key(self, sort: InstanceSort, key: Keys, descending: bool) -> Keys:
        """What to sort by ascending; operations that have no value come last either way."""
        import numpy as np

        limits = np.iinfo(np.int64)
        missing = key == limits.min if sort is InstanceSort.BYTES else None
        if sort is InstanceSort.NAME and len(key):
            place = np.zeros(int(key.max()) + 1, dtype=np.int64)
            names = [id_ for (id_,) in self._trace.rows("instances.names")]
            for i, id_ in enumerate(names):
                if id_ < len(place):
                    place[id_] = i
            key = place[key]
        if descending:
            key = -key
        if missing is not None:
            key[missing] = limits.max
        return key

    def page(self, first: int, count: int) -> list[OpRow]:
        """Rows [first, first + count) of the order, fewer at the end, none before `prepare`."""
        if self._order is None:
            return []
        ids: list[int] = self._order[first : first + count].tolist()
        rows = {row[0]: row for row in self._rows("rows", ids)}
        self._learn(self._texts, "texts", (row[i] for row in rows.values() for i in (6, 7)))
        self._learn(self._configs, "configs", (row[11] for row in rows.values()))
        self._learn(self._lanes, "lanes", (row[3] for row in rows.values()))
        return [self._op_row(*rows[id_]) for id_ in ids]

    def _rows(self, name: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._trace.rows(f"instances.{name}", {"ids": list(ids)}) if ids else []

    def _learn(self, known: dict[int, Any], name: str, ids: Iterable[int | None]) -> None:
        missing = sorted({id_ for id_ in ids if id_ is not None} - known.keys())
        for id_, *values in self._rows(name, missing):
            known[id_] = values[0] if len(values) == 1 else tuple(values)

    def _op_row(
        self,
        id_: int,
        kind: int,
        device: int,
        lane: int,
        start_ns: int,
        dur_ns: int,
        name: int,
        full_name: int | None,
        correlation: int | None,
        launch: int | None,
        node: int | None,
        config: int | None,
        size: int | None,
        graph_node: int | None,
    ) -> OpRow:
        shape: tuple[Any, ...] = (None,) * 9 if config is None else self._configs[config]
        return OpRow(
            id=id_,
            kind=GpuKind(kind),
            device=device,
            stream=self._lanes[lane],
            start_ns=start_ns,
            dur_ns=dur_ns,
            name=self._texts[name],
            full_name=None if full_name is None else self._texts[full_name],
            correlation=correlation,
            launched=launch is not None,
            node=node,
            grid=_extent(*shape[0:3]),
            block=_extent(*shape[3:6]),
            registers=shape[6],
            static_shared_bytes=shape[7],
            dynamic_shared_bytes=shape[8],
            bytes=size,
            graph_node=graph_node,
        )


def _extent(x: int | None, y: int | None, z: int | None) -> tuple[int, int, int] | None:
    return None if x is None or y is None or z is None else (x, y, z)
