"""JAX, XLA and TensorFlow recordings: `xplane.pb`, an XSpace message, and the JSON made of it."""

from collections.abc import Sequence
from typing import Final

from ..detect import Content
from ..inputs import Source
from ..progress import Progress
from ..writer import StoreWriter

READS: Final = frozenset({Content.XPLANE, Content.JAX_TRACE})
SEVERAL: Final = True


def load(
    sources: Sequence[Source], writer: StoreWriter, progress: Progress, salvage: bool = False
) -> None:
    """Read recordings, one of each host, into one store. What is damaged is left out and told."""
    from .reader import load as load_all

    load_all(sources, writer, progress)
