"""View 9: the user's own questions, in SQL over the store."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar, Literal

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from ...queries.console import StoreTable, shipped_queries, store_tables
from ...reports.format import clean
from ..keys import bindings
from ..session import Session
from ..sql_files import name_problem, own_queries, query_file, save_query
from ..widgets.big_table import BigTable
from ..widgets.row_list import Row, RowList
from ..widgets.statement_input import StatementInput
from ..widgets.status_line import StatusLine
from .prompt import PromptScreen
from .sql_rows import Statement, history_rows, query_rows, table_rows
from .sql_statement import SIDE_ON, SqlStatement

Side = Literal["tables", "queries", "history"]
_TITLES: Mapping[Side, str] = {
    "tables": "Tables",
    "queries": "Saved statements",
    "history": "History",
}
_FIRST = "Type i for a statement, or choose a table or a saved statement: enter runs it."


class SqlScreen(SqlStatement):
    """A statement above, its rows below, and what to begin with beside them."""

    VIEW = "sql"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sql")]

    def __init__(self) -> None:
        super().__init__()
        self._tables: list[StoreTable] = []
        self._unfolded = ""
        self._side: Side = "tables"

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
        self.rows.empty_text = _FIRST
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
            self.set_focus(self._list if self._list.display else self.rows)
            self.say(f"{len(tables)} tables and views, read-only. Times are ns from the start.")
            self.rows_ready()

    @property
    def _list(self) -> RowList:
        return self.query_one("#sql-side", RowList)

    # ----------------------------------------------------------------- side --

    def action_side(self, side: Side) -> None:
        """Show the tables, the saved statements or the history; in a narrow terminal over all."""
        self._side = side
        self.add_class(SIDE_ON)
        self._fill_side()
        self._list.focus()

    def _fill_side(self) -> None:
        rows: list[Row]
        if self._side == "tables":
            rows = table_rows(self._tables, self._unfolded)
        elif self._side == "queries":
            rows = query_rows(own_queries(), shipped_queries())
        else:
            rows = history_rows(self.past)
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
            self.run_statement(keep_focus=bool(target.table))
        else:
            self.action_edit()

    def cancel(self) -> bool:
        if super().cancel():
            return True
        shown = self.has_class(SIDE_ON)
        self.remove_class(SIDE_ON)
        if shown and not self._list.display:
            self.rows.focus()
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
