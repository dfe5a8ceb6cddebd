"""A trace opened for questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from .sqlfile import statement

if TYPE_CHECKING:  # the store brings DuckDB: not needed to name the type
    from numpy.typing import NDArray

    from ..ingest.store import Store


PIECE_ROWS = 122_880
"""Events read at once: as many as DuckDB keeps together, so that no row is looked at twice."""


class NotReadyError(Exception):
    """The events are still being loaded: only the summary tables can be asked yet."""


class Trace:
    """Typed access to one store. Every call takes a cursor of its own: safe from any thread."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def events_ready(self) -> bool:
        """False while only the summary tables are filled."""
        return self.store.events_ready

    def rows(
        self, name: str, parameters: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """All rows of the named statement (`subject.name`, see `queries/sql`)."""
        with self.store.cursor() as cursor:
            return cursor.execute(statement(name), dict(parameters or {})).fetchall()

    def event_rows(
        self, name: str, parameters: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """As `rows`, for a statement over events; NotReadyError while they are being loaded."""
        if not self.store.events_ready:
            raise NotReadyError("the events are still being loaded")
        return self.rows(name, parameters)

    def arrays(
        self, name: str, parameters: Mapping[str, object] | None = None
    ) -> dict[str, NDArray[Any]]:
        """Columns of the named statement, which must not deliver NULLs."""
        with self.store.cursor() as cursor:
            result = cursor.execute(statement(name), dict(parameters or {}))
            # DuckDB's stubs leave the type of masked columns open.
            columns: dict[str, NDArray[Any]] = cast("Any", result).fetchnumpy()
            return columns

    def event_arrays(
        self, name: str, parameters: Mapping[str, object] | None = None
    ) -> dict[str, NDArray[Any]]:
        """As `arrays`, for a statement over events; NotReadyError while they are being loaded."""
        if not self.store.events_ready:
            raise NotReadyError("the events are still being loaded")
        return self.arrays(name, parameters)

    def event_pieces(
        self, name: str, ids: tuple[int, int], parameters: Mapping[str, object] | None = None
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """As `event_arrays`, some rows at a time, so that memory need not grow with the trace.

        The statement takes the rows with `id >= $from_id AND id < $to_id`; ids: the first one and
        the one after the last. There is at least one piece, which may be empty.
        """
        first, end = ids
        for begin in range(first, max(end, first + 1), PIECE_ROWS):
            bounds = {"from_id": begin, "to_id": min(begin + PIECE_ROWS, end)}
            yield self.event_arrays(name, {**(parameters or {}), **bounds})

    def event_columns(
        self, name: str, ids: tuple[int, int], parameters: Mapping[str, object] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The columns of `event_pieces` as a whole: faster than in one question, and each piece is
        let go of before the next one is read."""
        import numpy as np

        first, end = ids
        columns: dict[str, NDArray[Any]] = {}
        rows = 0
        for piece in self.event_pieces(name, ids, parameters):
            for column, values in piece.items():
                if column not in columns:
                    # Rows that no piece fills take no memory: nothing is written to their pages.
                    columns[column] = np.empty(max(end - first, 0), values.dtype)
                columns[column][rows : rows + len(values)] = values
            rows += len(next(iter(piece.values())))
        return {column: whole[:rows] for column, whole in columns.items()}
