"""Opening a trace for one command."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .progress import ProgressLine

if TYPE_CHECKING:
    from ..ingest.selection import Asked
    from ..queries.trace import Trace


@contextmanager
def opened(trace: Asked, *, no_cache: bool = False, salvage: bool = False) -> Generator[Trace]:
    """The trace with all its events; closed afterwards. TraceError when it cannot be read."""
    from ..ingest.registry import open_trace
    from ..queries.trace import Trace

    with ProgressLine() as progress:
        store = open_trace(trace, progress=progress, cache=not no_cache, salvage=salvage)
    try:
        yield Trace(store)
    finally:
        store.close()
