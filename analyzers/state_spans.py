"""What threads did during spans of time. Their states are read as the time that is asked about goes
on: each once, however many spans are asked about, and few are held at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import BlameRows, blame
from ..queries.timeline import HostSpans

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

_STATES_AT_ONCE = 250_000
"""States asked about in one go, so that memory does not grow with the trace."""

Between = Callable[[int, int], HostSpans]
"""The states that overlap [first, last), in ns. Neither may fall from one question to the next."""


@dataclass(frozen=True, slots=True)
class StateSource:
    """States of one kind and some threads."""

    count: int
    between: Between


def chosen(spans: HostSpans, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> HostSpans:
    """Some of the spans."""
    return HostSpans(spans.lane[rows], spans.start_ns[rows], spans.end_ns[rows], spans.label[rows])


def held(spans: HostSpans) -> StateSource:
    """Few states, that are kept as columns."""

    def between(first_ns: int, last_ns: int) -> HostSpans:
        return chosen(spans, (spans.start_ns < last_ns) & (spans.end_ns > first_ns))

    return StateSource(len(spans.lane), between)


def read_ahead(count: int, pieces: Callable[[int], Iterator[HostSpans]]) -> StateSource:
    """States in order of their start. pieces: reads those that end after a time, some at once."""
    return StateSource(count, _Ahead(pieces).between)


class _Ahead:
    def __init__(self, pieces: Callable[[int], Iterator[HostSpans]]) -> None:
        self._open = pieces
        self._pieces: Iterator[HostSpans] | None = None
        self._reach_ns = -1
        """All states that start before it have been read."""
        self._held: list[HostSpans] = []
        """States that were read and had not ended when last asked about."""

    def between(self, first_ns: int, last_ns: int) -> HostSpans:
        if self._pieces is None:
            self._pieces = self._open(first_ns)
        while self._reach_ns < last_ns:
            piece = next(self._pieces, None)
            if piece is None:
                self._reach_ns = np.iinfo(np.int64).max
            elif len(piece.start_ns):
                self._reach_ns = int(piece.start_ns[-1])
                self._held.append(piece)
        spans = joined(self._held)
        spans = chosen(spans, spans.end_ns > first_ns)
        self._held = [spans]
        return chosen(spans, slice(int(np.searchsorted(spans.start_ns, last_ns))))


def joined(spans: Sequence[HostSpans]) -> HostSpans:
    """One after the other."""
    if len(spans) == 1:
        return spans[0]
    nothing = np.zeros(0, np.int32)
    time = np.zeros(0, np.int64)
    return HostSpans(
        np.concatenate([nothing, *(each.lane for each in spans)]),
        np.concatenate([time, *(each.start_ns for each in spans)]),
        np.concatenate([time, *(each.end_ns for each in spans)]),
        np.concatenate([nothing, *(each.label for each in spans)]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Blamed:
    """Time by key and label; a key may have several rows of one label. Label -1: no state."""

    key: I32
    label: I32
    ns: I64


@dataclass(frozen=True, slots=True, eq=False)
class StatesAhead:
    """States of some threads, read once as the time that is asked about goes on."""

    sources: list[tuple[int, StateSource]]
    """Each with the label from which its own ones are counted on."""
    span_ns: int
    label_class: U8

    def blame(self, lane: I32, group: I32, key: I32, start: I64, end: I64) -> Blamed:
        """What the threads did during spans of time, given as columns; see `native.blame`. The
        spans are taken in order of time, some at once with the states they can overlap. None may
        begin before one that was asked about earlier."""
        if not len(start):
            return Blamed(start.astype(np.int32), start.astype(np.int32), start)
        share = (int(end.max()) - int(start.min())) / max(self.span_ns, 1)
        states = sum(source.count for _, source in self.sources)
        times = max(1, round(min(share, 1.0) * states / _STATES_AT_ONCE))
        order = np.argsort(start, kind="stable")
        found: list[BlameRows] = []
        for rows in np.array_split(order, times):
            if len(rows):
                first, last = int(start[rows[0]]), int(end[rows].max())
                found.append(
                    blame(
                        *self._between(first, last),
                        span_lane=lane[rows],
                        span_group=group[rows],
                        span_key=key[rows],
                        span_start=start[rows],
                        span_end=end[rows],
                    )
                )
        return Blamed(
            key=_joined([rows.key for rows in found], np.int32),
            label=_joined([rows.label for rows in found], np.int32),
            ns=_joined([rows.ns for rows in found], np.int64),
        )

    def _between(self, first_ns: int, last_ns: int) -> tuple[I32, I64, I64, U8, I32]:
        """Lane, start, end, rank and label of the states that overlap [first, last)."""
        found: list[HostSpans] = []
        for first_label, source in self.sources:
            spans = source.between(first_ns, last_ns)
            found.append(replace(spans, label=spans.label + np.int32(first_label)))
        states = joined(found)
        ranks = self.label_class[states.label]
        return states.lane, states.start_ns, states.end_ns, ranks, states.label


def _joined(columns: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(columns) if columns else np.zeros(0, kind)
