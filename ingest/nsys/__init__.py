"""Nsight Systems: SQLite exports, and the reports `nsys` makes them from."""

from pathlib import Path
from typing import Final

from ..progress import Progress
from ..source import SourceInfo
from ..writer import StoreWriter
from .report import as_export

__all__ = ["NAME", "as_export", "describe", "detect", "load"]

NAME: Final = "nsys"
_MAGIC: Final = b"SQLite format 3\0"


def detect(head: bytes) -> bool:
    """True for the first bytes of an SQLite file, also of one whose header was never written."""
    return head.startswith(_MAGIC) or (len(head) >= len(_MAGIC) and not any(head[: len(_MAGIC)]))


def describe(path: Path) -> SourceInfo:
    """Version and tables of an export, without its events."""
    from .capture import describe_export

    return describe_export(path)


def load(path: Path, writer: StoreWriter, progress: Progress, salvage: bool = False) -> None:
    """Fill the store from an export. See `build.load`."""
    from .build import load as load_export

    load_export(path, writer, progress, salvage)
