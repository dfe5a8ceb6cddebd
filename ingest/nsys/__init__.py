"""Nsight Systems: SQLite exports, and the reports `nsys` makes them from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..detect import Content
from .report import as_export

if TYPE_CHECKING:
    from ..inputs import Source
    from ..progress import Progress
    from ..writer import StoreWriter

__all__ = ["READS", "SEVERAL", "as_export", "load"]

READS: Final = frozenset({Content.NSYS})
SEVERAL: Final = False


def load(
    sources: Sequence[Source], writer: StoreWriter, progress: Progress, salvage: bool = False
) -> None:
    """Fill the store from an export. See `build.load`."""
    from .build import load as load_export

    [source] = sources
    load_export(source.file or source.path, writer, progress, salvage)
