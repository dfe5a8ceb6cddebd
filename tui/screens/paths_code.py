"""The part of Call paths that shows the source around the row, with what each line costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual import on
from textual.containers import Vertical
from textual.widget import AwaitMount

from ...analyzers.source_costs import LineCost, source_costs
from ...queries.capture import capture
from ...queries.generated import kept_source
from ...queries.layers import folded
from ...queries.metric import PRIMARY, Metric
from ...queries.paths import CostTree
from ...reports.flame import TITLES
from ...reports.format import column_for
from ...reports.source_lines import SourceLines, kept_lines, source_lines
from ...reports.source_map import not_here
from ..editor import open_in_editor
from ..widgets.big_table import BigTable
from ..widgets.fit import clean
from ..widgets.source_table import CodeLine, SourceTable, code_lines
from ..widgets.sources import ColumnSpec, TableRow
from ..widgets.status_line import StatusLine
from .paths_flame import PathsFlame

MOST_LINES = 5_000
"""Lines shown before and after the row's."""
_HEADS = {
    Metric.GPU: ("GPU", 9),
    Metric.HOST: ("host", 9),
    Metric.SAMPLES: ("samples", 8),
    Metric.GPU_SAMPLES: ("GPU smpl", 8),
}
_CODE_CELLS = 16


@dataclass(frozen=True, slots=True)
class SourcePage:
    """What the pane shows of a file."""

    file: str
    """As the trace names it."""
    line: int
    title: str
    why: str
    """Why there is no text, or what to beware of."""
    numbers: tuple[int, ...]
    """Line numbers, row by row."""
    columns: tuple[ColumnSpec, ...]
    rows: tuple[TableRow, ...]
    code: Mapping[int, CodeLine]
    costly: tuple[int, ...]
    """Rows whose lines cost anything by the metric."""


class PathsCode(PathsFlame):
    """`O` puts the source in place of the detail; it follows the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._page: SourcePage | None = None

    @property
    def source_shown(self) -> bool:
        return self.has_class("-source-on")

    @property
    def _source_table(self) -> SourceTable | None:
        found = self.query(SourceTable)
        return found.first() if found and self.source_shown else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next_line", "previous_line"):
            return self.source_shown
        return super().check_action(action, parameters)

    # ----------------------------------------------------------------- pane --

    def action_source_pane(self) -> None:
        if self.close_source():
            self.ask_detail()
            return
        if self._source is None:
            return
        self.add_class("-source-on")
        if self.query("#source"):
            self.ask_source()
        else:
            table = SourceTable(id="source-lines")
            pane = Vertical(StatusLine(id="source-file"), table, id="source")
            self.call_next(self._begin_source, self.query_one("#main").mount(pane))
        self.refresh_bindings()

    async def _begin_source(self, mounted: AwaitMount) -> None:
        await mounted
        self.ask_source()

    def close_source(self) -> bool:
        """False when it is not shown."""
        shown = self.source_shown
        if shown:
            table = self._source_table
            if table is not None and table.has_focus:
                self.focus_rows()
            self.remove_class("-source-on")
            self.refresh_bindings()
        return shown

    def cancel(self) -> bool:
        if self._matches is None and not self.has_class("-filtering") and self.close_source():
            self.ask_detail()
            return True
        return super().cancel()

    def action_detail(self) -> None:
        self.close_source()
        super().action_detail()

    def _place(self) -> tuple[str, int] | None:
        """File and line of the row, or of the nearest caller that has one."""
        tree, source = self._tree, self._source
        if tree is None or source is None or self.node < 0:
            return None
        for node in reversed(tree.path(source.view.source(self.node))):
            file, line = tree.file(node), tree.line(node)
            if file is not None and line is not None and ".so" not in file:
                return file, line
        return None

    def ask_source(self) -> None:
        session, tree, source, place = self.session, self._tree, self._source, self._place()
        table = self._source_table
        if session is None or tree is None or source is None or table is None:
            return
        if place is None:
            self.forget("source")
            self._page = None
            self._say_source("", "")
            table.empty_text = (
                "Neither this row nor its callers name a source line. Record with Python stacks "
                "(PyTorch: with_stack=True, Nsight Systems: --python-backtrace) to see them."
            )
            table.show((), ())
            return
        file, line = place
        metric, rank, sources = source.view.share_metric, self.app.rank, self.app.sources

        def read() -> SourcePage:
            # Of the whole tree: folding Python away takes nothing from what its lines cost.
            costed = tree if rank is None else folded(tree, frozenset(), [rank.nodes])
            local = sources.local(file)
            kept = kept_source(session.trace, file)
            if kept is not None:
                text = kept_lines(kept, line, around=MOST_LINES)
            else:
                since = capture(session.trace).start_utc_ns
                text = source_lines(local, line, since_utc_ns=since, around=MOST_LINES)
            return _page(costed, file, local, line, text, metric)

        self.ask("source", read, self._show_source)

    def _show_source(self, page: SourcePage) -> None:
        table = self._source_table
        if table is None:
            return
        self._page = page
        table.code = page.code
        at = page.numbers.index(page.line) if page.line in page.numbers else 0
        table.show(page.columns, page.rows, cursor=at)
        table.set_cursor(at, offset=table.page_rows // 3)
        self._say_source(page.title, page.why)

    def _say_source(self, left: str, right: str) -> None:
        line = self.query_one("#source-file", StatusLine)
        line.left, line.right = left, right

    def action_next_line(self) -> None:
        self._to_line(forward=True)

    def action_previous_line(self) -> None:
        self._to_line(forward=False)

    def _to_line(self, *, forward: bool) -> None:
        """To the next line that costs anything, round the end."""
        page, table = self._page, self._source_table
        if page is None or table is None:
            return
        if not page.costly:
            self.notify("No line of this file costs anything by this metric.")
            return
        if forward:
            row = next((row for row in page.costly if row > table.cursor), page.costly[0])
        else:
            before = [row for row in page.costly if row < table.cursor]
            row = before[-1] if before else page.costly[-1]
        table.move_cursor(row)

    # --------------------------------------------------------------- editor --

    @on(BigTable.Opened, "#source-lines")
    def _line_opened(self) -> None:
        self.action_open_source()

    def action_open_source(self) -> None:
        """The line under the cursor of the pane that has the focus, else the row's own, else that
        of its nearest caller."""
        table, page, row = self._source_table, self._page, self.row
        if table is not None and table.has_focus and page is not None and page.numbers:
            place: tuple[str | None, int | None] = page.file, page.numbers[table.cursor]
        elif row is not None:
            place = self._place() or (row.file, row.line)
        else:
            return
        problem = open_in_editor(self.app, *place, self.app.sources)
        if problem:
            self.notify(clean(problem), markup=False)


def _page(
    tree: CostTree,
    file: str,
    local: str,
    line: int,
    text: SourceLines | str,
    metric: Metric,
) -> SourcePage:
    costs = source_costs(tree, file)
    if isinstance(text, str):
        # Without the text still every line that costs something, by the name of its function.
        numbers = tuple(sorted(costs))
        lines = [costs[number].name for number in numbers]
        code: dict[int, CodeLine] = {}
        missing = "not on this machine" in text
        why, title = text, not_here(file, local) if missing else local
    else:
        numbers = tuple(range(text.first, text.first + len(text.lines)))
        lines = list(text.lines)
        code = dict(enumerate(code_lines(local, lines)))
        why = "written after the trace: may not be what ran" if text.changed else ""
        title = local
    metrics = [known for known in PRIMARY if known in tree.table.values]
    texts = {
        known: column_for(known, max((c.values[known] for c in costs.values()), default=0))
        for known in metrics
    }
    columns = (
        *(
            ColumnSpec(
                known.value,
                f"{_HEADS[known][0]} {texts[known].unit}".rstrip(),
                _HEADS[known][1],
                rank=at + 1,
                sortable=False,
            )
            for at, known in enumerate(metrics)
        ),
        ColumnSpec("line", "line", max(4, len(str(max(numbers, default=0)))), sortable=False),
        ColumnSpec("code", "source", _CODE_CELLS, align="left", flexible=True, sortable=False),
    )

    def figures(cost: LineCost | None) -> list[str]:
        if cost is None:
            return [""] * len(metrics)
        return [texts[known].text(cost.values[known]) for known in metrics]

    rows = tuple(
        TableRow(number, (*figures(costs.get(number)), str(number), words), marked=number == line)
        for number, words in zip(numbers, lines, strict=True)
    )
    costly = tuple(
        row
        for row, number in enumerate(numbers)
        if number in costs and costs[number].values.get(metric, 0)
    )
    said = f"{title} · {TITLES[metric]}: {len(costly)} lines" if not why else title
    return SourcePage(file, line, said, why, numbers, columns, rows, code, costly)
