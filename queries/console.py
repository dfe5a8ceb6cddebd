"""What a console over the store offers: its tables, and statements to begin with."""

from __future__ import annotations

from dataclasses import dataclass

from .sqlfile import blocks
from .trace import Trace


@dataclass(frozen=True, slots=True)
class StoreTable:
    """A table or view of the store."""

    name: str
    is_view: bool
    columns: tuple[tuple[str, str], ...]
    """Name and type."""
    rows: int | None
    """None for a view: counting one is a query."""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A statement with a name."""

    name: str
    about: str
    text: str


def store_tables(trace: Trace) -> list[StoreTable]:
    """Views first, then tables, by name."""
    rows = trace.rows("store_tables.columns")
    columns: dict[tuple[bool, str], list[tuple[str, str]]] = {}
    for is_view, table, column, kind in rows:
        columns.setdefault((is_view, table), []).append((column, kind))
    counts = dict(trace.rows("store_tables.counts"))
    return [
        StoreTable(name, is_view, tuple(found), None if is_view else counts.get(name))
        for (is_view, name), found in sorted(columns.items(), key=lambda one: (not one[0][0], one))
    ]


def saved_query(name: str, text: str) -> SavedQuery:
    """The comment that a statement begins with says what it tells."""
    lines = text.strip().splitlines()
    about: list[str] = []
    while lines and lines[0].startswith("--"):
        about.append(lines.pop(0).lstrip("- "))
    return SavedQuery(name, " ".join(about), "\n".join(lines).strip())


def shipped_queries() -> list[SavedQuery]:
    """Those that come with dctx, in the order of their file."""
    return [saved_query(name, text) for name, text in blocks("console").items()]
