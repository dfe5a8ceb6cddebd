"""View 9: the user's own questions, in SQL over the store."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from ...queries.adhoc import Interrupt, SqlError, run_sql, write_parquet
from ...queries.console import StoreTable, shipped_queries, store_tables
from ...reports.format import clean
from ...reports.tabular import write_csv, write_json
from ..keys import bindings
from ..session import Session
from ..sql_files import history, name_problem, own_queries, query_file, remember, save_query
from ..widgets.big_table import BigTable
from ..widgets.row_list import Row, RowList
from ..widgets.statement_input import StatementInput
from ..widgets.status_line import StatusLine
from .prompt import PromptScreen
from .sql_rows import (
    MOST_ROWS,
    SqlAnswer,
    Statement,
    answer,
    history_rows,
    one_sentence,
    query_rows,
    table_rows,
)
from .view import ViewScreen

if TYPE_CHECKING:
    from ..export import Writer

Side = Literal["tables", "queries", "history"]
_TITLES: Mapping[Side, str] = {
    "tables": "Tables",
    "queries": "Saved statements",
    "history": "History",
}
_FIRST = "Type i for a statement, or choose a table or a saved statement: enter runs it."


class SqlScreen(ViewScreen):
    """A statement above, its rows below, and what to begin with beside them."""

    VIEW = "sql"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sql")]

    def __init__(self) -> None:
        super().__init__()
        self._tables: list[StoreTable] = []
        self._unfolded = ""
        self._side: Side = "tables"
        self._history = history()
        self._at = len(self._history)
        self._typed = ""
        """What was typed before a statement of the history took its place."""
        self._answer: SqlAnswer | None = None
        self._interrupt: Interrupt | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine(id="sql-status")
        with Horizontal(id="sql-main"):
            yield RowList(id="sql-side")
            with Vertical():
                yield StatementInput(id="statement")
                yield BigTable(id="sql-rows")

    # ----------------------------------------------------------------- open --

    def opened(self, session: Session) -> None:
        self.show_body()
        self._rows.empty_text = _FIRST
        self._load_tables(session)

    def events_loaded(self, session: Session) -> None:
        self._load_tables(session)

    def _load_tables(self, session: Session) -> None:
        self.ask("tables", lambda: store_tables(session.trace), self._show_tables, rows=True)

    def _show_tables(self, tables: list[StoreTable]) -> None:
        first = not self._tables
        self._tables = tables
        self._fill_side()
        if first:
            self.set_focus(self._list if self._list.display else self._rows)
            self._say(f"{len(tables)} tables and views, read-only. Times are ns from the start.")
            self.rows_ready()

    @property
    def _list(self) -> RowList:
        return self.query_one("#sql-side", RowList)

    @property
    def _rows(self) -> BigTable:
        return self.query_one("#sql-rows", BigTable)

    @property
    def statement(self) -> StatementInput:
        return self.query_one("#statement", StatementInput)

    def _say(self, left: str, right: str = "") -> None:
        line = self.query_one("#sql-status", StatusLine)
        line.left, line.right = left, right

    # ----------------------------------------------------------------- side --

    def action_side(self, side: Side) -> None:
        """Show the tables, the saved statements or the history; in a narrow terminal over all."""
        self._side = side
        self.add_class("-side-on")
        self._fill_side()
        self._list.focus()

    def _fill_side(self) -> None:
        rows: list[Row]
        if self._side == "tables":
            rows = table_rows(self._tables, self._unfolded)
        elif self._side == "queries":
            rows = query_rows(own_queries(), shipped_queries())
        else:
            rows = history_rows(self._history)
        if not rows:
            rows = [Row("no statement was run yet", tone="dim")]
        self._list.border_title = _TITLES[self._side]
        self._list.set_rows(rows)

    @on(RowList.Opened)
    def _side_opened(self, message: RowList.Opened) -> None:
        target = message.row.target
        if not isinstance(target, Statement):
            return
        if target.table:
            self._unfolded = "" if self._unfolded == target.table else target.table
            self._fill_side()
        self.statement.text = target.text
        if target.run:
            self._run(keep_focus=bool(target.table))
        else:
            self.action_edit()

    # ------------------------------------------------------------ statement --

    def action_edit(self) -> None:
        self.remove_class("-side-on")
        self.statement.focus()

    @on(StatementInput.Left)
    def _left(self) -> None:
        self._rows.focus()

    @on(StatementInput.Recalled)
    def _recalled(self, message: StatementInput.Recalled) -> None:
        at = self._at + message.step
        if not 0 <= at <= len(self._history):
            return
        if self._at == len(self._history):
            self._typed = self.statement.text
        self._at = at
        self.statement.text = self._typed if at == len(self._history) else self._history[at]

    @on(StatementInput.Run)
    def _run_typed(self) -> None:
        self._run()

    def _run(self, *, keep_focus: bool = False) -> None:
        session, text = self.session, self.statement.text.strip()
        if session is None or not text:
            return
        if self._interrupt is not None:
            self._interrupt()
        interrupt = self._interrupt = Interrupt()
        self._history = remember(text)
        self._at = len(self._history)
        if not keep_focus:
            self.remove_class("-side-on")
            self._rows.focus()
        self._say("running … esc stops it")

        def work() -> SqlAnswer | SqlError:
            try:
                return answer(session.trace, text, interrupt)
            except SqlError as error:
                return error

        self.ask("sql", work, partial(self._show_rows_of, interrupt))

    def _show_rows_of(self, interrupt: Interrupt, found: SqlAnswer | SqlError) -> None:
        if interrupt is self._interrupt:
            self._interrupt = None
        if isinstance(found, SqlError):
            self._answer = None
            self._rows.empty_text = one_sentence(str(found))
            self._rows.show((), ())
            self._say("not run" if not interrupt.asked else "stopped")
        else:
            self._answer = found
            self._rows.empty_text = "No rows."
            self._rows.reset(found.columns, len(found.rows), cursor=0)
            more = f"the first {MOST_ROWS:,} rows; e writes all" if found.more else ""
            self._say(more, f"{len(found.rows):,} rows, {len(found.columns)} columns")

    @on(BigTable.PageWanted)
    def _page_wanted(self, message: BigTable.PageWanted) -> None:
        if self._answer is not None:
            page = self._answer.page(message.first, message.count)
            self._rows.deliver(message.generation, message.first, page)

    @on(BigTable.SortWanted)
    def _sort_wanted(self) -> None:
        self.notify("ORDER BY in the statement orders the rows.")

    def cancel(self) -> bool:
        if self._interrupt is not None:
            self._interrupt()
            return True
        shown = self.has_class("-side-on")
        self.remove_class("-side-on")
        if shown and not self._list.display:
            self._rows.focus()
            return True
        return False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Rows are of the statement alone: no rank, no order but its own."""
        return action != "next_rank" and super().check_action(action, parameters)

    # ---------------------------------------------------------- take along --

    def action_save_query(self) -> None:
        text = self.statement.text.strip()
        if not text:
            self.notify("There is no statement yet: i types one.")
            return
        warned: set[str] = set()

        def problem(name: str) -> str:
            found = name_problem(name)
            if not found and query_file(name).exists() and name not in warned:
                warned.add(name)
                return f"{name} exists. Enter again to replace it."
            return found

        self.app.push_screen(
            PromptScreen("Save the statement", "", f"In {query_file('NAME')}.", problem),
            partial(self._save, text),
        )

    def _save(self, text: str, name: str | None) -> None:
        if name is None:
            return
        try:
            target = save_query(name, text)
        except OSError as error:
            self.notify(f"It cannot be saved: {error.strerror}.", markup=False)
            return
        self.notify(f"Saved: {clean(str(target))}", markup=False)
        if self._side == "queries":
            self._fill_side()

    def action_copy(self) -> None:
        row = self._rows.cursor_row
        if row is not None and self._rows.has_focus:
            self.copy("\t".join(row.cells))
        elif self.statement.text.strip():
            self.copy(self.statement.text.strip())

    @property
    def exportable(self) -> bool:
        return self._answer is not None

    @property
    def export_hint(self) -> str:
        return "All rows of the statement. The ending chooses: .csv, .json, .parquet."

    def writers(self, picture: str) -> "Mapping[str, Writer]":
        session, found = self.session, self._answer
        if session is None or found is None:
            return super().writers(picture)
        trace, text = session.trace, found.text

        def write(ending: str, place: Path) -> None:
            try:
                if ending == ".parquet":
                    write_parquet(trace, text, place)
                    return
                with run_sql(trace, text) as result, place.open("w", encoding="utf-8") as out:
                    (write_csv if ending == ".csv" else write_json)(
                        result.columns, result.rows, out
                    )
            except SqlError as error:
                raise OSError(0, one_sentence(str(error)), str(place)) from error

        return {ending: partial(write, ending) for ending in (".csv", ".json", ".parquet")}
