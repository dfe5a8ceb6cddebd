"""The sheets of all-to-all exchanges with sizes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyzers import collective_exchange as exchange
from .collective_columns import as_mib, call_columns, group_columns, known, measured, texts
from .collective_instances import (
    cells,
    dur_ns,
    four_columns,
    instance_ids,
    ranked_members,
    recorded_ns,
)
from .sheet_context import as_us
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.collective_timing import Timed


def exchanges(of: Timed) -> list[Column]:
    """One row an exchange, most data first."""
    found = exchange.exchanges(of)
    rows, calls = found.instance, of.found
    events = of.first[rows]
    columns = {**group_columns(calls, events), **call_columns(calls, events)}
    present = of.present[rows]
    dur = np.where(present, (of.end_ns - of.start_ns)[rows], -1)
    sent = [row[here] for row, here in zip(found.member_throughput, present, strict=True)]
    per_rank: list[Column] = []
    for member, rank in ranked_members(of):
        at = np.where(present[:, member], of.matched.event[rows, member], -1)

        def own(values: NDArray[Any], nothing: Any = -1, at: Any = at) -> NDArray[Any]:
            found: NDArray[Any] = np.append(values, nothing)[at]
            return found

        per_rank += [
            Column(f"rank_{rank}_ts", cells(of, rows, member, recorded_ns(of, member)), "µs"),
            Column(f"rank_{rank}_dur", cells(of, rows, member, dur_ns(of, member)), "µs"),
            Column(f"rank_{rank}_In msg nelems", known(own(calls.in_elements))),
            Column(f"rank_{rank}_Out msg nelems", known(own(calls.out_elements))),
            Column(f"rank_{rank}_In msg size (MB)", as_mib(own(calls.in_bytes(), np.nan)), "MB"),
            Column(f"rank_{rank}_Out msg size (MB)", as_mib(own(calls.out_bytes(), np.nan)), "MB"),
            Column(f"rank_{rank}_In split size", texts(calls, own(calls.in_split))),
            Column(f"rank_{rank}_Out split size", texts(calls, own(calls.out_split))),
        ]
    begin = of.start_ns - of.start_ns.min(axis=1, where=of.present, initial=2**62)[:, None]
    end = of.end_ns - of.end_ns.min(axis=1, where=of.present, initial=2**62)[:, None]
    for word, values in (("start", begin), ("end", end)):
        per_rank += [
            Column(
                f"rank_{rank}_skew in {word} time", cells(of, rows, member, values[:, member]), "µs"
            )
            for member, rank in ranked_members(of)
        ]
    elements = [
        None if (row < 0).any() else int(row.sum())
        for row in (
            np.append(calls.in_elements, 0)[of.matched.event[i]][of.present[i]]
            for i in rows.tolist()
        )
    ]
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
                "stream",
            )
        ),
        Column("total data communicated (MB)", as_mib(found.total_bytes), "MB"),
        Column("total nelems communicated", elements),
        Column("wall_time (us)", as_us(found.wall_ns), "µs"),
        Column("max_rank_dur (us)", as_us(dur.max(axis=1, initial=0)), "µs"),
        Column("min_rank_dur (us)", as_us(_shortest(dur)), "µs"),
        Column("avg_rank_dur (us)", as_us(_mean(dur)), "µs"),
        Column("throughput (GB/s)", measured(found.throughput)),
        Column("max_rank_throughput (GB/s)", measured(np.array([_most(v) for v in sent]))),
        Column("min_rank_throughput (GB/s)", measured(np.array([_least(v) for v in sent]))),
        Column("size_imbalance", measured(found.imbalance)),
        Column("skew in start time", as_us(of.skew_start_ns()[rows]), "µs"),
        Column("skew in end time", as_us(of.skew_end_ns()[rows]), "µs"),
        *per_rank,
    ]


def _shortest(dur: NDArray[np.int64]) -> NDArray[np.int64]:
    shortest: NDArray[np.int64] = np.where(dur < 0, 2**62, dur).min(axis=1, initial=2**62)
    return shortest


def _mean(dur: NDArray[np.int64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.where(dur < 0, 0, dur).sum(axis=1) / (dur >= 0).sum(axis=1)
    return mean


def _most(values: NDArray[np.float64]) -> float:
    return float(values.max(initial=-np.inf)) if not np.isnan(values).any() else np.nan


def _least(values: NDArray[np.float64]) -> float:
    return float(values.min(initial=np.inf)) if not np.isnan(values).any() else np.nan


def summary_of_exchanges(of: Timed) -> list[Column]:
    """By process group and type, longest total first."""
    found = exchange.exchanges(of)
    calls = of.found
    keys = zip(
        calls.group[of.first[found.instance]].tolist(),
        calls.dtype[of.first[found.instance]].tolist(),
        strict=True,
    )
    groups: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    members = sorted(groups.values(), key=lambda g: (-int(found.wall_ns[g].sum()), g[0]))
    first = of.first[found.instance[[g[0] for g in members]]] if members else of.first[:0]
    columns = {**group_columns(calls, first), **call_columns(calls, first)}
    dur = np.where(of.present, of.end_ns - of.start_ns, 0).max(axis=1, initial=0)[found.instance]
    begin, end = of.skew_start_ns()[found.instance], of.skew_end_ns()[found.instance]
    few = ("mean", "max")
    in_us = 1000
    return [
        columns["Process Group Name"],
        columns["dtype"],
        *four_columns(
            "total data communicated (MB)", [as_mib(found.total_bytes[g]) for g in members], "MB"
        ),
        *four_columns(
            "wall_time (us)", [measured(found.wall_ns[g] / 1.0, in_us) for g in members], "µs"
        ),
        Column("Total wall_time (us)", [int(found.wall_ns[g].sum()) / 1000 for g in members], "µs"),
        *four_columns("throughput (GB/s)", [measured(found.throughput[g]) for g in members]),
        *four_columns("size_imbalance", [measured(found.imbalance[g]) for g in members], "", few),
        *four_columns(
            "max_rank_dur (us)", [measured(dur[g] / 1.0, in_us) for g in members], "µs", few
        ),
        *four_columns(
            "skew in start time", [measured(begin[g] / 1.0, in_us) for g in members], "µs", few
        ),
        *four_columns(
            "skew in end time", [measured(end[g] / 1.0, in_us) for g in members], "µs", few
        ),
        Column("count", [len(g) for g in members]),
        columns["Process Group Ranks"],
        columns["Collective name"],
        columns["Group size"],
        Column(
            "Total wall_time (ms)", [int(found.wall_ns[g].sum()) / 1_000_000 for g in members], "ms"
        ),
    ]


def heat_map(of: Timed) -> list[Column]:
    """What each rank sent to each other."""
    found = exchange.sent(of, exchange.exchanges(of))
    return [
        Column("src_rank", [s.source for s in found]),
        Column("dst_rank", [s.target for s in found]),
        Column("total_sent_MB", [s.total_bytes / 2**20 for s in found], "MB"),
        Column("avg_sent_MB", [s.total_bytes / s.count / 2**20 for s in found], "MB"),
        Column("count", [s.count for s in found]),
    ]
