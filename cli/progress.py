"""A progress line on a terminal that can draw one anew, and nothing elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

from ..ingest.progress import BytesRead, Done
from ..reports.format import clean, progress
from ..reports.stdio import moves_cursor

_BAR = 20
_REDRAW_S = 0.1


class ProgressLine:
    """Call it with a stage and how much is done; it draws on stderr and cleans up after itself."""

    def __init__(self) -> None:
        self._shown = moves_cursor(sys.stderr)
        self._drawn_at = 0.0
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __call__(self, stage: str, done: Done) -> None:
        now = monotonic()
        if not self._shown or (stage == self._stage and now - self._drawn_at < _REDRAW_S):
            return
        self._stage, self._drawn_at = stage, now
        sys.stderr.write(f"\r\x1b[K{_bar(done)}{progress(done)}  {clean(stage)}")
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


def _bar(done: Done) -> str:
    """Nothing where the end is not known."""
    if isinstance(done, BytesRead):
        return ""
    filled = round(max(0.0, min(done, 1.0)) * _BAR)
    return f"[{'#' * filled}{'-' * (_BAR - filled)}] "
