"""A trace opened for questions."""

from collections.abc import Sequence
from typing import Any

from ..ingest.store import Store
from .sqlfile import statement


class Trace:
    """Typed access to one store. Every call takes a cursor of its own: safe from any thread."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def rows(self, name: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of the named statement (`subject.name`, see `queries/sql`)."""
        with self.store.cursor() as cursor:
            return cursor.execute(statement(name), list(parameters)).fetchall()
