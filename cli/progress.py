"""A progress line on the terminal, and nothing when there is none."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

from ..reports.format import clean

_BAR = 20
_REDRAW_S = 0.1


class ProgressLine:
    """Call it with a stage and the fraction done; it draws on stderr and cleans up after itself."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._drawn_at = 0.0
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __call__(self, stage: str, fraction: float) -> None:
        now = monotonic()
        if not self._shown or (stage == self._stage and now - self._drawn_at < _REDRAW_S):
            return
        self._stage, self._drawn_at = stage, now
        done = round(max(0.0, min(fraction, 1.0)) * _BAR)
        bar = "#" * done + "-" * (_BAR - done)
        sys.stderr.write(f"\r\x1b[K[{bar}] {fraction * 100:3.0f} %  {clean(stage)}")
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
