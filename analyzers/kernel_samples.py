"""Samples of one kernel, whoever took them: the trace itself, or Nsight Compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ingest.stall_names import SELECTED

if TYPE_CHECKING:
    from ..ingest.ncu import NcuKernel
    from ..queries.stalls import StallRow

MOST = 12
"""Places that are listed."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction, or as much of it as the samples tell."""

    at: str
    """Its address, or its offset in the function; empty where not known."""
    text: str
    file: str | None
    line: int | None
    source: str | None
    """The source line, where the measurement brings it along."""
    stalls: Mapping[str, int]
    """Samples by reason, `selected` included."""
    unexplained: int = 0
    """Samples that were recorded without a reason."""

    @property
    def waiting(self) -> int:
        """Samples that are no issued instruction, as far as that is told."""
        stalled = sum(count for reason, count in self.stalls.items() if reason != SELECTED)
        return stalled + self.unexplained


@dataclass(frozen=True, slots=True)
class KernelSamples:
    """All samples of a kernel: those of its places sum to it."""

    told_by: str
    stalls: Mapping[str, int]
    """By reason, `selected` included."""
    unexplained: int
    not_issued: int | None
    """Samples when the scheduler issued nothing, of any warp; None where that is not told."""
    places: tuple[Place, ...]
    """Empty where only the sums are known."""
    spread: bool = False
    """Shared out over the contexts of the kernel by their GPU time."""

    @property
    def total(self) -> int:
        return sum(self.stalls.values()) + self.unexplained

    @property
    def waiting(self) -> int:
        """As `Place.waiting`."""
        return self.total - self.stalls.get(SELECTED, 0)

    @property
    def issued_share(self) -> float:
        """Of the samples, those whose warp issued an instruction."""
        return self.stalls.get(SELECTED, 0) / self.total


@dataclass(frozen=True, slots=True)
class Hot:
    """A place, or all places of one source line, among those that wait most."""

    place: Place
    """Of a line: with its sums, and no instruction."""
    share: float
    """Of the waiting samples of the kernel."""
    reason: str
    """Of most of its stalled samples; empty where none is told."""


def of_trace(rows: Sequence[StallRow]) -> KernelSamples | None:
    """What the trace itself recorded; None where it did not."""
    if not rows:
        return None
    places: dict[tuple[object, ...], list[StallRow]] = {}
    for row in rows:
        key = (row.module, row.function, row.offset_bytes, row.text, row.file, row.line)
        places.setdefault(key, []).append(row)
    told = [row.not_issued for row in rows]
    return KernelSamples(
        told_by="the trace",
        stalls=_summed((row.reason, row.samples) for row in rows if row.reason is not None),
        unexplained=sum(row.samples for row in rows if row.reason is None),
        not_issued=None if None in told else sum(one or 0 for one in told),
        places=tuple(_place(found) for found in places.values()),
        spread=any(row.spread for row in rows),
    )


def _place(rows: Sequence[StallRow]) -> Place:
    first = rows[0]
    return Place(
        at="" if first.offset_bytes is None else f"{first.offset_bytes:#x}",
        text=first.text or first.function or "",
        file=first.file,
        line=first.line,
        source=None,
        stalls=_summed((row.reason, row.samples) for row in rows if row.reason is not None),
        unexplained=sum(row.samples for row in rows if row.reason is None),
    )


def of_ncu(kernel: NcuKernel) -> KernelSamples | None:
    """What Nsight Compute sampled of one launch; None where the file holds no samples."""
    stalls = kernel.stalls
    if not any(stalls.values()):
        return None
    return KernelSamples(
        told_by="Nsight Compute",
        stalls=stalls,
        unexplained=0,
        not_issued=kernel.not_issued,
        places=tuple(
            Place(line.address, line.text, line.file, line.line, line.source, line.stalls)
            for line in kernel.lines
        ),
    )


def hot_places(samples: KernelSamples, most: int = MOST) -> list[Hot]:
    """The instructions that wait most, most first."""
    return _hottest(samples, samples.places, most)


def hot_lines(samples: KernelSamples, most: int = MOST) -> list[Hot]:
    """The source lines that wait most, most first; instructions without one are in none."""
    lines: dict[tuple[str, int], list[Place]] = {}
    for place in samples.places:
        if place.file is not None and place.line is not None:
            lines.setdefault((place.file, place.line), []).append(place)
    summed = [
        Place(
            at="",
            text="",
            file=file,
            line=line,
            source=next((place.source for place in places if place.source is not None), None),
            stalls=_summed(pair for place in places for pair in place.stalls.items()),
            unexplained=sum(place.unexplained for place in places),
        )
        for (file, line), places in lines.items()
    ]
    return _hottest(samples, summed, most)


def _hottest(samples: KernelSamples, places: Iterable[Place], most: int) -> list[Hot]:
    found = sorted(
        (place for place in places if place.waiting),
        key=lambda place: (-place.waiting, place.file or "", place.line or 0, place.at),
    )
    return [Hot(place, place.waiting / samples.waiting, _top(place)) for place in found[:most]]


def _top(place: Place) -> str:
    stalled = {reason: count for reason, count in place.stalls.items() if reason != SELECTED}
    return max(sorted(stalled), key=stalled.__getitem__, default="")


def _summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for reason, samples in pairs:
        found[reason] = found.get(reason, 0) + samples
    return found
