"""Rows of the SQL view: of a statement's answer, and of the list beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...queries.adhoc import Interrupt, run_sql
from ...queries.console import SavedQuery, StoreTable
from ...queries.trace import Trace
from ...reports.format import clean, count_short
from ..widgets.row_list import Row
from ..widgets.sources import ColumnSpec, TableRow

MOST_ROWS = 100_000
"""Rows of an answer that are held; an export has all."""
_MEASURED = 200
"""Rows that the widths of columns go by."""
_WIDEST = 40
FIRST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """What a statement answered."""

    text: str
    columns: tuple[ColumnSpec, ...]
    rows: Sequence[tuple[Any, ...]]
    more: bool
    """There are rows beyond `MOST_ROWS`."""

    def page(self, first: int, count: int) -> list[TableRow]:
        """Rows as the table draws them."""
        return [
            TableRow(first + at, [cell_text(value) for value in row])
            for at, row in enumerate(self.rows[first : first + count])
        ]


def answer(trace: Trace, text: str, interrupt: Interrupt) -> SqlAnswer:
    """SqlError as `run_sql`."""
    with run_sql(trace, text, interrupt) as result:
        rows = list(_some(result.rows, MOST_ROWS + 1))
    columns = [
        _column(at, name, [row[at] for row in rows[:_MEASURED]])
        for at, name in enumerate(result.columns)
    ]
    return SqlAnswer(text, tuple(columns), rows[:MOST_ROWS], len(rows) > MOST_ROWS)


def _some(rows: Iterator[tuple[Any, ...]], most: int) -> Iterator[tuple[Any, ...]]:
    for _, row in zip(range(most), rows, strict=False):
        yield row


def _column(at: int, name: str, values: Sequence[Any]) -> ColumnSpec:
    known = [value for value in values if value is not None]
    number = bool(known) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known
    )
    width = max([len(name), *(len(cell_text(value)) for value in values)])
    return ColumnSpec(
        str(at),
        clean(name),
        min(max(width, 1), _WIDEST),
        align="right" if number else "left",
        sortable=False,
    )


def cell_text(value: Any) -> str:
    """A value of the database in a cell; NULL says so, for it is no empty text."""
    if value is None:
        return "NULL"
    return f"{value:.6g}" if isinstance(value, float) else clean(str(value))


@dataclass(frozen=True, slots=True)
class Statement:
    """Where a row of the list leads: a statement, or a table to unfold as well."""

    text: str
    table: str = ""
    run: bool = True


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def table_rows(tables: Sequence[StoreTable], unfolded: str) -> list[Row]:
    """Tables with their number of rows, the columns of one below it."""
    found: list[Row] = []
    for table in tables:
        rows = "view" if table.rows is None else count_short(table.rows)
        name = quoted(table.name)
        first = Statement(f"FROM {name} LIMIT {FIRST_ROWS}", table.name)
        found.append(Row(table.name, f"{rows:>7}  ", first))
        if table.name != unfolded:
            continue
        for column, kind in table.columns:
            each = quoted(column)
            counted = (
                f"SELECT {each}, count(*) AS rows\nFROM {name} GROUP BY ALL ORDER BY rows DESC "
                f"LIMIT {FIRST_ROWS}"
            )
            label = f"{column} {kind.lower()}"
            found.append(Row(label, " " * 11, Statement(counted), tone="dim"))
    return found


def query_rows(own: Sequence[SavedQuery], shipped: Sequence[SavedQuery]) -> list[Row]:
    """The user's own first, also those that cannot be used, with the reason."""
    return [
        *(
            Row(one.name, "own  ", Statement(one.text))
            if one.text
            else Row(f"{one.name} {one.about}", "own  ", tone="dim")
            for one in own
        ),
        *(Row(one.name, "     ", Statement(one.text)) for one in shipped),
    ]


def history_rows(statements: Sequence[str]) -> list[Row]:
    """The latest first; they are put where one types, not run."""
    return [
        Row(" ".join(text.split()), "", Statement(text, run=False)) for text in reversed(statements)
    ]


def one_sentence(error: str) -> str:
    """What the database says, without the drawing of the place under the statement."""
    return clean(" ".join(error.partition("\n\nLINE ")[0].split()))
