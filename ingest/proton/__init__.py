"""Proton, the profiler of Triton: aggregated profiles as hatchet JSON or msgpack."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..detect import Content

if TYPE_CHECKING:
    from ..inputs import Source
    from ..progress import Progress
    from ..writer import StoreWriter

__all__ = ["READS", "SEVERAL", "load"]

READS: Final = frozenset({Content.PROTON, Content.PROTON_MSGPACK})
SEVERAL: Final = False


def load(
    sources: Sequence["Source"], writer: "StoreWriter", progress: "Progress", salvage: bool = False
) -> None:
    """Fill the store from a profile: a tree and its sums. See `build.load`."""
    from .build import load as load_profile

    del salvage  # what can be read of a cut profile is always read
    [source] = sources
    load_profile(source, writer, progress)
