"""PyTorch profiler (Kineto) traces, and other traces in Chrome's JSON format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..detect import Content

if TYPE_CHECKING:
    from ..inputs import Source
    from ..progress import Progress
    from ..writer import StoreWriter

__all__ = ["READS", "SEVERAL", "load"]

READS: Final = frozenset({Content.KINETO, Content.CHROME, Content.ROCPROF_V1})
SEVERAL: Final = True


def load(
    sources: Sequence[Source], writer: StoreWriter, progress: Progress, salvage: bool = False
) -> None:
    """Fill the store from the files of one trace, one a rank. See `read.load`."""
    del salvage  # what can be read always is
    from .read import load as load_recordings

    load_recordings(sources, writer, progress)
