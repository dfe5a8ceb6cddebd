"""The statement of the SQL view: run on a thread, stopped when asked, its rows shown and taken
along."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from ...analyzers.quantities import plural
from ...queries.adhoc import Interrupt, SqlError, run_sql, write_parquet
from ...reports.format import clean
from ...reports.tabular import write_csv, write_json
from ..export import NotWrittenError
from ..sql_files import history, remember
from ..widgets.big_table import BigTable
from ..widgets.statement_input import StatementInput
from ..widgets.status_line import StatusLine
from .sql_rows import MOST_ROWS, SqlAnswer, answer, one_sentence
from .view import ViewScreen

if TYPE_CHECKING:
    from ..export import Writer

SIDE_ON = "-side-on"
"""Class of the view while the list is wanted, which covers the rows of a narrow terminal."""


class SqlStatement(ViewScreen):
    """The part of the view that knows the statement and its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.past = history()
        """Statements that were run, the latest last."""
        self._at = len(self.past)
        self._typed = ""
        """What was typed before a statement of the history took its place."""
        self._answer: SqlAnswer | None = None
        self._interrupt: Interrupt | None = None
        """Of the statement that runs."""
        self._writing: Interrupt | None = None
        """Of the file that is written."""

    @property
    def running(self) -> Interrupt | None:
        """Stops what goes on: the statement, else the file."""
        return self._interrupt or self._writing

    @property
    def rows(self) -> BigTable:
        return self.query_one("#sql-rows", BigTable)

    @property
    def statement(self) -> StatementInput:
        return self.query_one("#statement", StatementInput)

    def say(self, left: str, right: str = "") -> None:
        line = self.query_one("#sql-status", StatusLine)
        line.left, line.right = left, right

    def action_edit(self) -> None:
        self.remove_class(SIDE_ON)
        self.statement.focus()

    @on(StatementInput.Left)
    def _left(self) -> None:
        self.rows.focus()

    @on(StatementInput.Recalled)
    def _recalled(self, message: StatementInput.Recalled) -> None:
        at = self._at + message.step
        if not 0 <= at <= len(self.past):
            return
        if self._at == len(self.past):
            self._typed = self.statement.text
        self._at = at
        self.statement.text = self._typed if at == len(self.past) else self.past[at]

    @on(StatementInput.Run)
    def _run_typed(self) -> None:
        self.run_statement()

    def run_statement(self, *, keep_focus: bool = False) -> None:
        session, text = self.session, self.statement.text.strip()
        if session is None or not text:
            return
        if self._interrupt is not None:
            self._interrupt()
        interrupt = self._interrupt = Interrupt()
        self.past = remember(text, self.past)
        self._at = len(self.past)
        if not keep_focus:
            self.remove_class(SIDE_ON)
            self.rows.focus()
        self.say("running … esc stops it")

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
            self.rows.empty_text = one_sentence(str(found))
            self.rows.show((), ())
            self.say("not run" if not interrupt.asked else "stopped")
        else:
            self._answer = found
            self.rows.empty_text = "No rows."
            self.rows.reset(found.columns, len(found.rows), cursor=0)
            self._say_rows(found)

    def _say_rows(self, found: SqlAnswer) -> None:
        more = f"the first {MOST_ROWS:,} rows; e writes all" if found.more else ""
        rows, columns = plural(len(found.rows), "row"), plural(len(found.columns), "column")
        self.say(more, f"{rows}, {columns}")

    @on(BigTable.PageWanted)
    def _page_wanted(self, message: BigTable.PageWanted) -> None:
        if self._answer is not None:
            page = self._answer.page(message.first, message.count)
            self.rows.deliver(message.generation, message.first, page)

    @on(BigTable.SortWanted)
    def _sort_wanted(self) -> None:
        self.notify("ORDER BY in the statement orders the rows.")

    def cancel(self) -> bool:
        if self.running is None:
            return False
        self.running()
        return True

    def on_unmount(self) -> None:
        """Whoever leaves does not wait for what may never end."""
        for running in (self._interrupt, self._writing):
            if running is not None:
                running()

    # ---------------------------------------------------------- take along --

    def action_copy(self) -> None:
        row = self.rows.cursor_row
        if row is not None and self.rows.has_focus:
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
            interrupt = self._writing
            try:
                if ending == ".parquet":
                    write_parquet(trace, text, place, interrupt)
                    return
                with (
                    run_sql(trace, text, interrupt) as result,
                    place.open("w", encoding="utf-8") as out,
                ):
                    (write_csv if ending == ".csv" else write_json)(
                        result.columns, result.rows, out
                    )
            except SqlError as error:
                raise NotWrittenError(one_sentence(str(error))) from error

        return {ending: partial(write, ending) for ending in (".csv", ".json", ".parquet")}

    def export_to(self, writers: "Mapping[str, Writer]", name: str) -> None:
        if self._writing is not None:
            self._writing()
        self._writing = Interrupt()
        self.say(f"writing {clean(name)} … esc stops it")
        super().export_to(writers, name)

    def exported(self, text: str) -> None:
        self._writing = None
        if self._answer is not None and self._interrupt is None:
            self._say_rows(self._answer)
        super().exported(text)
