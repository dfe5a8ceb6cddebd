"""The sheets of `dctx collectives`: names and order of columns as teams exchange them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..analyzers.collective_names import ALL_TO_ALL_V
from ..analyzers.collective_stragglers import stragglers
from .all_to_all_sheets import exchanges, heat_map, summary_of_exchanges
from .collective_columns import (
    call_columns,
    group_columns,
    measured,
    ranks,
    signature_columns,
)
from .collective_instances import (
    cells,
    dur_ns,
    four_columns,
    instance_ids,
    match_text,
    ranked_members,
    recorded_ns,
)
from .sheet_context import as_us
from .sheets import Column, Sheet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.collective_report import CollectiveReport
    from ..analyzers.collective_timing import Timed

    Rows = NDArray[np.int64]


def _implicit(of: Timed) -> Rows:
    return np.flatnonzero(of.implicit)


def _by_instance(report: CollectiveReport) -> list[Column]:
    of = report.timed
    rows = _implicit(of)
    events = of.first[rows]
    found = of.found
    columns = {**group_columns(found, events), **call_columns(found, events)}
    algorithm, bus = of.bandwidth()
    members = ranked_members(of)
    numbers: list[int] = rows.tolist()
    first: list[int] = of.earliest()[rows].tolist()
    return [
        Column("collective_id", instance_ids(of, rows)),
        *(
            columns[name]
            for name in (
                "Process Group Name",
                "Process Group Ranks",
                "Collective name",
                "Group size",
                "dtype",
                "In msg nelems",
                "Out msg nelems",
                "In msg size (MB)",
                "Out msg size (MB)",
            )
        ),
        Column("Full msg size (MB)", measured(of.full_bytes()[rows], 2**20), "MB"),
        Column("comm_latency", as_us(of.latency_ns[rows]), "µs"),
        Column("skew in start time", as_us(of.skew_start_ns()[rows]), "µs"),
        Column("earliest arrival rank", [found.members[m].rank for m in first]),
        Column("avg_wait_time", as_us(of.mean_wait_ns()[rows]), "µs"),
        Column("skew in end time", as_us(of.skew_end_ns()[rows]), "µs"),
        Column("algo bw (GB/s)", measured(algorithm[rows])),
        Column("bus bw (GB/s)", measured(bus[rows])),
        *(
            column
            for member, rank in members
            for column in (
                Column(f"rank_{rank}_ts", cells(of, rows, member, recorded_ns(of, member)), "µs"),
                Column(f"rank_{rank}_dur", cells(of, rows, member, dur_ns(of, member)), "µs"),
            )
        ),
        *(
            Column(f"rank_{rank}_wait_time", cells(of, rows, member, of.wait_ns[:, member]), "µs")
            for member, rank in members
        ),
        Column("node_span", [of.traits[i].span for i in numbers]),
        *(
            Column(
                f"rank_{rank}_wait_est",
                cells(of, rows, member, of.wait_est_ns[:, member]),
                "µs",
                True,
            )
            for member, rank in members
        ),
        Column("match", [match_text(of, i) for i in rows.tolist()], ours=True),
    ]


def _summary(report: CollectiveReport) -> list[Column]:
    of = report.timed
    rows = _implicit(of)
    events = of.first[rows]
    found = of.found
    numbers: list[int] = rows.tolist()
    group: list[int] = found.group[events].tolist()
    if "D43" in report.compat:
        sizes = [None if g < 0 else found.groups[g].size for g in group]
        group = [sizes.index(size) for size in sizes]
    keys = zip(
        found.name[events].tolist(),
        found.dtype[events].tolist(),
        found.in_elements[events].tolist(),
        group,
        [of.traits[i].span for i in numbers],
        strict=True,
    )
    groups: dict[Any, list[int]] = {}
    for row, key in zip(numbers, keys, strict=True):
        groups.setdefault(key, []).append(row)
    members = sorted(groups.values(), key=lambda g: (-int(of.latency_ns[g].sum()), g[0]))
    first = of.first[[g[0] for g in members]] if members else np.zeros(0, np.int64)
    columns = {**group_columns(found, first), **call_columns(found, first)}
    algorithm, bus = of.bandwidth()
    latency = [measured(of.latency_ns[g].astype(float), 1000) for g in members]
    return [
        *(
            columns[name]
            for name in (
                "Collective name",
                "dtype",
                "In msg nelems",
                "Process Group Name",
                "Group size",
            )
        ),
        Column(
            "Full msg size (MB)",
            measured(of.full_bytes()[[g[0] for g in members]], 2**20) if members else [],
            "MB",
        ),
        *four_columns("comm_latency", latency, "µs"),
        *four_columns(
            "skew in start time",
            [measured(of.skew_start_ns()[g], 1000) for g in members],
            "µs",
        ),
        *four_columns(
            "skew in end time",
            [measured(of.skew_end_ns()[g], 1000) for g in members],
            "µs",
        ),
        *four_columns("algo bw (GB/s)", [measured(algorithm[g]) for g in members]),
        *four_columns("bus bw (GB/s)", [measured(bus[g]) for g in members]),
        Column("count", [len(g) for g in members]),
        Column(
            "Total comm latency (ms)",
            [int(of.latency_ns[g].sum()) / 1_000_000 for g in members],
            "ms",
        ),
        Column("Process Group Ranks", columns["Process Group Ranks"].values, ours=True),
        Column("node_span", [of.traits[g[0]].span for g in members], ours=True),
    ]


def _long(report: CollectiveReport) -> list[Column]:
    of = report.timed
    found = of.found
    order = np.lexsort((np.arange(len(found)), found.member))
    instance: list[int] = of.matched.instance[order].tolist()
    members: list[int] = found.member[order].tolist()
    columns = {**group_columns(found, order), **call_columns(found, order)}
    ids = instance_ids(of, np.arange(len(of.first)))
    return [
        Column("collective_id", [None if i < 0 else ids[i] for i in instance]),
        Column("index_in_group", of.matched.index_in_group[order].tolist()),
        Column("rank", ranks(found, order)),
        *(
            columns[name]
            for name in (
                "Process Group Name",
                "Process Group Ranks",
                "Collective name",
                "Group size",
                "dtype",
                "In msg nelems",
                "In msg size (MB)",
                "Out msg nelems",
                "Out msg size (MB)",
                "In split size",
                "Out split size",
                "stream",
            )
        ),
        Column("ts", as_us(found.work.start_ns[order]), "µs"),
        Column("dur", as_us(found.dur_ns[order]), "µs"),
        Column("node_id", [of.node[m] for m in members]),
        Column("node_span", [None if i < 0 else of.traits[i].span for i in instance]),
        Column("match", [None if i < 0 else match_text(of, i) for i in instance], ours=True),
    ]


def _summary_long(report: CollectiveReport) -> list[Column]:
    of = report.timed
    at = report.signatures.first
    members: list[int] = of.found.member[at].tolist()
    instance: list[int] = of.matched.instance[at].tolist()
    more = [
        Column("node_id", [of.node[m] for m in members]),
        Column("node_span", [None if i < 0 else of.traits[i].span for i in instance]),
    ]
    return signature_columns(of.found, report.signatures, report.compat, more)


def _stragglers(report: CollectiveReport) -> list[Column]:
    of = report.timed
    found = stragglers(of)
    return [
        Column("rank", [s.rank for s in found]),
        Column("total_wait_time_us", [s.total_wait_ns / 1000 for s in found], "µs"),
        Column(
            "mean_wait_time_us",
            [None if s.mean_wait_ns is None else s.mean_wait_ns / 1000 for s in found],
            "µs",
        ),
        Column("times_arrived_last", [s.times_last for s in found]),
        Column("times_arrived_first", [s.times_first for s in found]),
        Column(
            "pct_arrived_last",
            [100 * s.times_last / s.collectives if s.collectives else None for s in found],
            "%",
        ),
        Column("num_collectives", [s.collectives for s in found]),
        Column("total_nccl_dur_us", [s.total_dur_ns / 1000 for s in found], "µs"),
        Column("node_id", [of.node[s.member] for s in found]),
        Column("wait_est_us", [s.wait_est_ns / 1000 for s in found], "µs", True),
        Column("clock_offset_us", [s.clock_offset_ns / 1000 for s in found], "µs", True),
    ]


_SHEETS: Final[dict[str, Callable[[CollectiveReport], list[Column]]]] = {
    "straggler_summary": _stragglers,
    "nccl_summary_implicit_sync": _summary,
    "nccl_summary_long": _summary_long,
    "nccl_summary_all2allv": lambda report: summary_of_exchanges(report.timed),
    "nccl_implicit_sync": _by_instance,
    "nccl_all2allv": lambda report: exchanges(report.timed),
    "nccl_all2allv_heatmap": lambda report: heat_map(report.timed),
    "nccl_long": _long,
}
COLLECTIVE_SHEETS: Final = tuple(_SHEETS)
_OF_SEVERAL: Final = ("straggler_summary",)
_OF_EXCHANGES: Final = ("nccl_summary_all2allv", "nccl_all2allv", "nccl_all2allv_heatmap")
_OF_IMPLICIT: Final = ("nccl_summary_implicit_sync", "nccl_implicit_sync")


def missing_collective_sheets(of: Timed) -> dict[str, str]:
    """Why sheets cannot be made, by name."""
    if not len(of.found):
        why = "the trace holds no communication kernels."
        return dict.fromkeys(COLLECTIVE_SHEETS, why)
    missing: dict[str, str] = {}
    if len(ranked_members(of)) < 2:
        why = "there is one rank only: nobody to wait for. Name the files of all ranks."
        missing |= dict.fromkeys(_OF_SEVERAL, why)
    if not of.implicit.any():
        why = "no collective is one that all ranks leave together (all-reduce, all-gather, ...)."
        missing |= dict.fromkeys(_OF_IMPLICIT, why)
    if not any(traits.kind == ALL_TO_ALL_V for traits in of.traits):
        missing |= dict.fromkeys(_OF_EXCHANGES, "there is no all-to-all with sizes of its own.")
    return missing


def collective_sheet(report: CollectiveReport, name: str, *, tracelens: bool) -> Sheet:
    """A sheet that is not missing. `tracelens`: without the columns it does not have."""
    columns = _SHEETS[name](report)
    return Sheet(name, [c for c in columns if not (tracelens and c.ours)])
