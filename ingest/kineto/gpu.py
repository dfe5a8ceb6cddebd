"""GPU work of one recording, and the calls that launched it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool, intern_rows, join_first
from ..arrays import I32, I64, NULL64, Mask
from ..model import GpuKind, Severity
from ..overrun import cut_overruns
from ..timeline import GpuOps, Timeline
from .args import Arguments, picked
from .devices import is_amd
from .host_parts import HostRows
from .latest import latest_before
from .owners import Owners
from .recording import Recording, Table, numbers
from .times import possible

_KINDS: Final = {
    0: GpuKind.KERNEL,
    1: GpuKind.MEMCPY,
    2: GpuKind.MEMSET,
    3: GpuKind.KERNEL,
}
"""By the scanner's kind; what other accelerators do (3) is shown as kernels."""

_FLOW_LINKED: Final = 16
"""The scanner's flag."""
_LAUNCH_FLOW: Final = "ac2g"

_GRAPH_LAUNCHES: Final = ("cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch")
_WORK_ITEM_LAUNCHES: Final = ("hipExtModuleLaunchKernel",)


@dataclass(slots=True)
class GpuFound:
    """What was found out about the GPU work of a recording."""

    ops: dict[GpuKind, int] = field(default_factory=dict[GpuKind, int])
    linked: int = 0
    flow_linked: int = 0
    """Operations that a launch flow leads to."""
    ambiguous: int = 0
    """Linked by the latest of several calls with one correlation id."""
    by_external_id: bool = False
    external_is_correlation: bool = False
    graph_ns: int = 0
    total_ns: int = 0
    cut: tuple[Severity, str, str] | None = None
    """What to tell of durations that were cut."""
    impossible: int = 0
    before_launch: int = 0
    """Operations that start before the call that launched them."""


def add_gpu(
    recording: Recording,
    timeline: Timeline,
    owners: Owners,
    arguments: Arguments,
    host: HostRows,
    collectives: I32 | None,
) -> GpuFound:
    """Enter GPU work, waits and spans. Uses the calls and operators of the recording."""
    found = GpuFound()
    table = recording.table("gpu")
    if table is not None:
        _Work(recording, timeline, owners, arguments, host, found).add(table, collectives)
    for name, kind in (("sync", GpuKind.SYNC), ("span", GpuKind.SPAN)):
        other = recording.table(name)
        if other is not None:
            _add_other(recording, timeline, owners, arguments, host, other, kind, found)
    return found


class _Work:
    def __init__(
        self,
        recording: Recording,
        timeline: Timeline,
        owners: Owners,
        arguments: Arguments,
        host: HostRows,
        found: GpuFound,
    ) -> None:
        self._recording = recording
        self._timeline = timeline
        self._owners = owners
        self._arguments = arguments
        self._host = host
        self._found = found
        self._calls = recording.table("launch")

    def add(self, table: Table, collectives: I32 | None) -> None:
        """All kernels, copies and memory sets."""
        found, calls = self._found, self._calls
        lane = self._owners.streams(table)
        start = table["ts_ns"]
        launch, call = self._launches(table)
        graph = self._from_graph(call)
        cut = cut_overruns(lane, start, table["dur_ns"], np.where(graph, call, np.int32(-1)))
        found.cut, dur = cut.note(), cut.dur
        found.linked = int(np.count_nonzero(launch >= 0))
        found.total_ns, found.graph_ns = int(dur.sum()), int(dur[graph].sum())
        if calls is not None:
            late = call >= 0
            found.before_launch = int(np.count_nonzero(start[late] < calls["ts_ns"][call[late]]))
        columns: dict[str, NDArray[Any] | None] = {
            "correlation": numbers(table["corr"]),
            "config": self._arguments.configs(table["config"], self._work_items(call)),
            "bytes": self._bytes(table, call),
            "graph": _graph_ids(table["graph"]),
            "graph_node": numbers(table["graph_node"]),
            "args": self._arguments.rows(table),
            "collective": picked(collectives, table["coll"]),
            "recorded_dur": cut.recorded,
            "flow_linked": self._flow_linked(table),
        }
        kinds = np.zeros(256, np.uint8)
        for code, kind in _KINDS.items():
            kinds[code] = kind
        kind_of = kinds[table["kind"]]
        for kind in sorted(set(_KINDS.values())):
            rows = np.flatnonzero(kind_of == kind)
            if not len(rows):
                continue
            found.ops[kind] = len(rows)
            whole = len(rows) == len(start)
            self._timeline.add_ops(
                GpuOps(
                    kind=kind,
                    lane=lane if whole else lane[rows],
                    start=start if whole else start[rows],
                    dur=dur if whole else dur[rows],
                    name=table["name"] if whole else table["name"][rows],
                    launch=launch if whole else launch[rows],
                    **{
                        name: column if column is None or whole else column[rows]
                        for name, column in columns.items()
                    },
                )
            )

    def _launches(self, table: Table) -> tuple[I32, I32]:
        """Host row and row of the calls that launched each operation, -1 without one."""
        calls, ops = self._calls, self._recording.table("op")
        nothing = np.full(len(table["ts_ns"]), -1, np.int32)
        if calls is not None and numbers(calls["corr"]) is not None:
            self._found.external_is_correlation = _same(calls["ext_id"], calls["corr"])
            call = self._by_correlation(table, calls)
            launch = np.where(call >= 0, call + self._host.launch.start, -1).astype(np.int32)
            return launch, call
        if ops is not None and numbers(table["ext_id"]) is not None:
            # Hand-made files: the operator's id is all there is.
            self._found.by_external_id = True
            rows = _join(table["ext_id"], ops["ext_id"])
            launch = np.where(rows >= 0, rows + self._host.op.start, -1).astype(np.int32)
            return launch, nothing
        return nothing, nothing

    def _by_correlation(self, table: Table, calls: Table) -> I32:
        mine, theirs = table["corr"], calls["corr"]
        call = _join(mine, theirs)
        known = np.flatnonzero(theirs != NULL64)
        dense, first = intern_rows([theirs[known]])
        if len(first) == len(known):
            return call
        repeated = np.bincount(dense)[dense] > 1
        is_repeated = np.zeros(len(theirs), np.bool_)
        is_repeated[known[repeated]] = True
        asked = np.flatnonzero((call >= 0) & is_repeated[call])
        offered = np.flatnonzero(is_repeated)
        found = latest_before(
            [mine[asked]],
            table["ts_ns"][asked],
            [theirs[offered]],
            calls["ts_ns"][offered],
            same_time=True,
        )
        call[asked] = np.where(found >= 0, offered[found], -1)
        self._found.ambiguous = int(np.count_nonzero(found >= 0))
        return call

    def _flow_linked(self, table: Table) -> Mask | None:
        """Operations that a launch flow leads to; None where the file keeps no such flows. Links
        never use them: they repeat the correlation, and many files lack them."""
        if _LAUNCH_FLOW not in self._recording.scan.flows_dropped:
            return None
        linked: Mask = (table["flags"] & _FLOW_LINKED) != 0
        self._found.flow_linked = int(np.count_nonzero(linked))
        return linked

    def _named(self, call: I32, names: tuple[str, ...]) -> Mask:
        """Operations whose call has one of the names (whatever its version)."""
        if self._calls is None:
            return np.zeros(len(call), np.bool_)
        pool: StringPool = self._timeline.pool
        used = np.unique(self._calls["name"])
        told = [pool[text].partition("_v")[0] in names for text in used.tolist()]
        wanted = used[np.array(told, np.bool_)]
        hit: Mask = (call >= 0) & np.isin(self._calls["name"][call], wanted)
        return hit

    def _from_graph(self, call: I32) -> Mask:
        return self._named(call, _GRAPH_LAUNCHES)

    def _work_items(self, call: I32) -> Mask | None:
        """Kernels whose grid counts work-items; on AMD only."""
        return self._named(call, _WORK_ITEM_LAUNCHES) if is_amd(self._recording) else None

    def _bytes(self, table: Table, call: I32) -> I64 | None:
        """Bytes of a copy: its own, else those that the call asked for."""
        own: I64 = table["bytes"]
        if self._calls is not None and numbers(self._calls["bytes"]) is not None:
            asked = np.where(call >= 0, self._calls["bytes"][call], NULL64)
            copies = np.isin(table["kind"], (1, 2))
            own = np.where((own == NULL64) & copies, asked, own)
        return numbers(own)


def _join(left: I64, right: I64) -> I32:
    """First right row with each left value, -1 without one and where there is no value."""
    return np.where(left == NULL64, np.int32(-1), join_first([left], [right]))


def _same(external: I64, correlation: I64) -> bool:
    """A writer's fault: external ids that repeat the correlation link nothing."""
    both = (external != NULL64) & (correlation != NULL64)
    count = int(np.count_nonzero(both))
    return count > 0 and 2 * int(np.count_nonzero(external[both] == correlation[both])) > count


def _graph_ids(graph: I64) -> I64 | None:
    """Graph 0 is none."""
    return numbers(np.where(graph == 0, NULL64, graph))


def _add_other(
    recording: Recording,
    timeline: Timeline,
    owners: Owners,
    arguments: Arguments,
    host: HostRows,
    table: Table,
    kind: GpuKind,
    found: GpuFound,
) -> None:
    """Waits (with the call that waited), or spans of annotations."""
    dur, impossible = possible(table["dur_ns"])
    found.impossible += impossible
    found.ops[kind] = len(dur)
    launch, correlation = None, None
    calls = recording.table("launch")
    if "corr" in table:
        correlation = numbers(table["corr"])
        if calls is not None and correlation is not None:
            call = _join(table["corr"], calls["corr"])
            launch = np.where(call >= 0, call + host.launch.start, -1).astype(np.int32)
    timeline.add_ops(
        GpuOps(
            kind=kind,
            lane=owners.streams(table),
            start=table["ts_ns"],
            dur=dur,
            name=table["name"],
            launch=launch,
            correlation=correlation,
            args=arguments.rows(table),
        )
    )
