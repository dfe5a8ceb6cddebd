"""Reads the tables of an export, whatever version of the exporter named them."""

from pathlib import Path
from typing import Final

from .. import tables
from ..tables import Rows
from .unread import unread_reason

__all__ = ["Rows", "TableReader"]

_SUFFIXES: Final = ("", "_V3", "_V2")


class TableReader(tables.TableReader):
    """An export, table by table."""

    def __init__(self, path: Path, *, salvage: bool) -> None:
        super().__init__(path, salvage=salvage, suffixes=_SUFFIXES)

    def unread_reason(self, table: str) -> str:
        """Why a table is not used."""
        return unread_reason(table)
