"""How a long read tells where it is, and how it is stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

_RATE_OVER_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class BytesRead:
    """Takes the place of the fraction where nobody knows how much comes: reading a pipe."""

    bytes: int
    bytes_per_s: float | None = None
    """Over the last two seconds; None until so much time has passed that there is a rate."""


Done = float | BytesRead
"""The fraction done, 0 to 1; or what was read of a length that is not known."""

Progress = Callable[[str, Done], None]
"""Stage name for people, and how much of the whole is done. May raise CancelledError."""


def silent(stage: str, done: Done) -> None:
    """Progress for callers that show none."""


def part_of(done: Done, first: float, last: float) -> Done:
    """What is done of a stage, as a part of the whole that the stage takes from `first` to
    `last`."""
    return done if isinstance(done, BytesRead) else first + (last - first) * done


class Pace:
    """How fast bytes come."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), 0)])

    def at(self, count: int) -> BytesRead:
        """With `count` bytes read until now."""
        now = self._clock()
        self._seen.append((now, count))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _RATE_OVER_S:
            self._seen.popleft()
        since, before = self._seen[0]
        passed_s = now - since
        rate = (count - before) / passed_s if passed_s >= _RATE_OVER_S / 2 else None
        return BytesRead(count, rate)
