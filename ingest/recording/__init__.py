"""Recordings of `dctx record` (.dctxrec): calling context trees with their sums."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..detect import Content

if TYPE_CHECKING:
    from ..inputs import Source
    from ..progress import Progress
    from ..writer import StoreWriter

__all__ = ["READS", "SEVERAL", "load"]

READS: Final = frozenset({Content.DCTXREC})
SEVERAL: Final = True


def load(
    sources: Sequence["Source"], writer: "StoreWriter", progress: "Progress", salvage: bool = False
) -> None:
    """Fill the store from the recordings of one run, a file a process. See `build.load`."""
    from .build import load as load_recordings

    del salvage  # what can be read of a cut recording is always read
    load_recordings(sources, writer, progress)
