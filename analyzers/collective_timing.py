"""Latency, wait and skew of each collective, its bandwidth, and who is late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .collective_clock import Clock, clocks
from .collective_match import Matched, match
from .collective_names import bus_factor
from .collective_traits import Traits, traits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collectives import Collectives

    F64 = NDArray[np.float64]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


_LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user decides."""

    gpus_per_node: int | None = None
    """Ranks of a host; None: not known."""
    align: bool = True
    """Take the offsets of clocks off."""
    one_clock: bool = True
    """Ranks of a host share a clock; not where files do not tell when they were recorded."""
    gib: bool = False
    """Bandwidth in 2^30 bytes per second, as TraceLens has it, not 10^9."""


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """Instances of collectives by members. Tables of the shape of `matched.event`; columns by
    instance. Values of members that are not there have no meaning."""

    found: Collectives
    matched: Matched
    present: Mask
    start_ns: I64
    """Offsets of clocks taken off."""
    end_ns: I64
    wait_ns: I64
    """From the member's start to the last one's."""
    wait_est_ns: I64
    """The member's duration less the shortest: needs no common clock."""
    latency_ns: I64
    """The shortest duration: nobody waits in it."""
    first: I64
    """An event of each instance: that of the first member."""
    traits: list[Traits]
    """By instance."""
    sizes_differ: Mask
    names_differ: Mask
    implicit: Mask
    """No rank could leave before all had come."""
    node: list[int | None]
    """By member."""
    clocks: list[Clock]
    settings: Settings

    @property
    def several_clocks(self) -> bool:
        """Starts of ranks cannot be compared as they were recorded."""
        if len(self.clocks) < 2:
            return False
        hosts = any(clock.node is not None for clock in self.clocks)
        return hosts or not self.settings.one_clock

    def skew_start_ns(self) -> F64:
        """From the first start to the last; NaN, as the next two, where one member is alone."""
        return self._of_several(np.where(self.present, self.wait_ns, 0).max(axis=1, initial=0))

    def skew_end_ns(self) -> F64:
        low = np.where(self.present, self.end_ns, _LATEST).min(axis=1, initial=_LATEST)
        high = np.where(self.present, self.end_ns, -_LATEST).max(axis=1, initial=-_LATEST)
        return self._of_several(high - low)

    def mean_wait_ns(self) -> F64:
        total = np.where(self.present, self.wait_ns, 0).sum(axis=1)
        return self._of_several(total / np.maximum(self.present.sum(axis=1), 1))

    def _of_several(self, values: NDArray[Any]) -> F64:
        return np.where(self.present.sum(axis=1) > 1, values, np.nan)

    def earliest(self) -> NDArray[np.int64]:
        """The member that came first, of several the one with the lowest rank."""
        first: NDArray[np.int64] = np.where(self.present, self.start_ns, _LATEST).argmin(axis=1)
        return first

    def full_bytes(self) -> F64:
        """Size of the whole message: what comes out of an all-gather, what goes into the others;
        NaN where it is not known or the ranks disagree."""
        given, taken = self.found.in_bytes()[self.first], self.found.out_bytes()[self.first]
        gathers = np.array([of.kind == "allgather" for of in self.traits], bool)
        return np.where(self.sizes_differ, np.nan, np.where(gathers, taken, given))

    def bandwidth(self) -> tuple[F64, F64]:
        """Algorithm and bus bandwidth in GB/s; NaN where it cannot be known."""
        unit = 2**30 if self.settings.gib else 1e9
        with np.errstate(invalid="ignore", divide="ignore"):
            algorithm = self.full_bytes() / unit / (self.latency_ns / 1e9)
        algorithm[self.latency_ns <= 0] = np.nan
        factors = [bus_factor(of.kind, of.group_size) for of in self.traits]
        factor = np.array([np.nan if f is None else f for f in factors], np.float64)
        return algorithm, algorithm * factor


def timed(found: Collectives, settings: Settings, world: int | None = None) -> Timed:
    """Match the collectives of all ranks and time them. `world`: how many ranks there are, where
    the trace tells."""
    matched = match(found)
    event = matched.event
    present = event >= 0
    many = len(found.work.id)
    start = np.where(present, np.append(found.work.start_ns, 0)[event], _LATEST)
    matched = _in_order(matched, np.argsort(start.min(axis=1, initial=_LATEST), kind="stable"))
    event, present = matched.event, matched.event >= 0
    start = np.where(present, np.append(found.work.start_ns, 0)[event], 0)
    end = np.where(present, np.append(found.work.end_ns, 0)[event], 0)
    first = np.where(present, event, many).min(axis=1, initial=many)
    node = [
        None
        if member.rank is None or not settings.gpus_per_node
        else member.rank // settings.gpus_per_node
        for member in found.members
    ]
    of_instance = traits(found, first, present, settings.gpus_per_node, world)
    implicit = np.array([one.implicit for one in of_instance], bool)
    of_clock = [one if settings.one_clock else None for one in node]
    hosts = clocks(end, present, implicit, of_clock, align=settings.align)
    for clock in hosts:
        if clock.applied:
            start[:, clock.members] -= clock.offset_ns
            end[:, clock.members] -= clock.offset_ns
    dur = end - start
    latency = np.where(present, dur, _LATEST).min(axis=1, initial=_LATEST)
    last = np.where(present, start, -_LATEST).max(axis=1, initial=-_LATEST)
    return Timed(
        found=found,
        matched=matched,
        present=present,
        start_ns=start,
        end_ns=end,
        wait_ns=last[:, None] - start,
        wait_est_ns=dur - latency[:, None],
        latency_ns=latency,
        first=first,
        traits=of_instance,
        sizes_differ=_differ(found, event, first, ("in_elements", "out_elements", "dtype")),
        names_differ=_differ(found, event, first, ("name",)),
        implicit=implicit,
        node=node,
        clocks=hosts,
        settings=settings,
    )


def _in_order(matched: Matched, order: I64) -> Matched:
    place = np.empty(len(order) + 1, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    place[-1] = -1  # for events without an instance
    return Matched(
        matched.event[order],
        matched.basis[order],
        place[matched.instance],
        matched.index_in_group,
        matched.notes,
    )


def _differ(
    found: Collectives, event: NDArray[np.int64], first: I64, columns: tuple[str, ...]
) -> Mask:
    result = np.zeros(len(event), bool)
    for column in columns:
        values: NDArray[np.int64] = getattr(found, column)
        if len(values):
            other = values[event] != values[first][:, None]
            result |= (other & (event >= 0)).any(axis=1)
    return result
