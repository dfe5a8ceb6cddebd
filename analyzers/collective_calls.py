"""Collectives by what they were called with, over all ranks: how often, how long, how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collective_report import CollectiveReport
    from .collectives import Group

    F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CollectiveCall:
    """Collectives of one name, type, size and group. None: not known."""

    name: str | None
    """None: neither recorded nor told by the kernel."""
    kernel: str
    """Name of one of the kernels."""
    dtype: str | None
    group: Group | None
    group_size: int | None
    full_bytes: int | None
    """Of the whole message, as in `Timed.full_bytes`."""
    collectives: int
    """Over all ranks; one for each kernel where the ranks are not known."""
    kernels: int
    total_ns: int
    """Of the kernels, waits included."""
    exposed_ns: int
    """Part of it during which the GPU of the kernel computed nothing."""
    latency_ns: float | None
    """Median over the collectives of the shortest duration; None where no ranks are known."""
    wait_ns: float | None
    """Mean over the collectives of the mean wait of their ranks; None for a rank alone."""
    skew_ns: float | None
    """The most between the first start and the last."""
    algorithm_gbs: float | None
    """Median over the collectives, 10^9 bytes/s, as the next."""
    bus_gbs: float | None
    longest: int
    """Event of the longest kernel: an index into the collectives."""


def collective_calls(
    report: CollectiveReport, members: frozenset[int] | None = None
) -> list[CollectiveCall]:
    """Most time first. `members`: only kernels of these (indexes into `Collectives.members`);
    latencies, waits and bandwidths are those of whole collectives still."""
    of, by = report.timed, report.signatures
    found = of.found
    if not len(found):
        return []
    first = by.first
    unnamed = np.where(found.name < 0, found.work.name, -1)
    keys, example = intern_rows(
        [found.name[first], unnamed[first], found.dtype[first], found.in_elements[first],
         found.group[first]]
    )  # fmt: skip
    of_event = keys[by.groups.of_row]
    of_instance = of_event[of.first]
    own = np.ones(len(found), bool) if members is None else np.isin(found.member, list(members))
    alone = of.matched.instance < 0
    algorithm, bus = of.bandwidth()
    sizes, waits, skews = of.full_bytes(), of.mean_wait_ns(), of.skew_start_ns()
    dur = found.dur_ns
    calls: list[CollectiveCall] = []
    for key in range(len(example)):
        events = np.flatnonzero((of_event == key) & own)
        if not len(events):
            continue
        rows = np.flatnonzero(of_instance == key)
        longest = int(events[dur[events].argmax()])
        signature_rows = np.flatnonzero(keys == key)
        mine = signature_rows[own[first[signature_rows]]]
        size = _median(sizes[rows])
        group = int(found.group[longest])
        calls.append(
            CollectiveCall(
                name=found.name_at(longest),
                kernel=found.texts[int(found.work.name[longest])],
                dtype=found.text(int(found.dtype[longest])),
                group=None if group < 0 else found.groups[group],
                group_size=of.traits[int(rows[0])].group_size if len(rows) else None,
                full_bytes=None if size is None else round(size),
                collectives=len(rows) + int(alone[events].sum()),
                kernels=len(events),
                total_ns=int(dur[events].sum()),
                exposed_ns=int(by.exposed_ns[mine].sum()),
                latency_ns=_median(of.latency_ns[rows].astype(np.float64)),
                wait_ns=_mean(waits[rows]),
                skew_ns=_most(skews[rows]),
                algorithm_gbs=_median(algorithm[rows]),
                bus_gbs=_median(bus[rows]),
                longest=longest,
            )
        )
    return sorted(calls, key=lambda call: -call.total_ns)


def _known(values: F64) -> F64:
    return values[~np.isnan(values)]


def _median(values: F64) -> float | None:
    known = _known(values)
    return float(np.median(known)) if len(known) else None


def _mean(values: F64) -> float | None:
    known = _known(values)
    return float(known.mean()) if len(known) else None


def _most(values: F64) -> float | None:
    known = _known(values)
    return float(known.max()) if len(known) else None
