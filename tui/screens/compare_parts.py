"""The part of Compare that has the rows: which tables, by which metric, and what is said."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.containers import Container
from textual.timer import Timer
from textual.widget import AwaitMount, Widget
from textual.widgets import Static

from ...analyzers.compare_first import first_metric
from ...analyzers.compare_view import CompareView
from ...analyzers.pairing import Compared
from ...queries.metric import Metric
from ...reports.compare_figures import NOTHING, FigureTree, figure_tree
from ...reports.compare_head import CompareHead, compare_head
from ..pair_session import PairSession
from ..widgets.compare_pane import ComparePane
from ..widgets.filter_input import FilterInput
from ..widgets.head_lines import HeadLines
from ..widgets.side_tree import SideTree
from ..widgets.status_line import StatusLine
from .asking import failed
from .compare_base import CompareBase
from .compare_figures import FigureSource
from .compare_source import CompareSource, metric_title
from .view import nothing_matches

PATHS, FIGURES = "Call paths", "Steps and totals"
PARTS: tuple[tuple[str, str, str], ...] = (
    ("P", "paths", PATHS),
    ("K", "GPU work", "GPU work by name"),
    ("O", "ops", "Operations by name"),
    ("R", "ranges", "Ranges by name"),
    ("A", "API", "API calls by name"),
    ("L", "collectives", "Collectives"),
    ("T", "steps", FIGURES),
)
"""Key, name, and title of each table; all but the last are parts of `Compare`."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """What a worker found for a table."""

    part: str
    view: CompareView | None
    figures: FigureTree | None
    lacking: str


class CompareParts(CompareBase):
    """Shows the verdict line and one table at a time; each keeps its folding and its metric."""

    PANE = ComparePane

    def __init__(self) -> None:
        super().__init__()
        self._compared: Compared | None = None
        self._part = PATHS
        self._sources: dict[str, CompareSource] = {}
        self._swapped = False
        self._relative = False
        self._matches: int | None = None
        self._noise_hidden = 0
        self._filter_timer: Timer | None = None
        self._lacking = ""

    def compose_body(self) -> Iterable[Widget]:
        yield Static(id="compare-message", markup=False)
        yield HeadLines(" (dctx compare tells all)", id="compare-head")
        yield StatusLine(id="compare-parts")
        yield StatusLine(id="compare-status")
        yield Container(ComparePane(id="pair-detail"), id="compare-main")
        yield FilterInput("part of a name")

    def show_comparison(self, shown: bool) -> None:
        for name in ("compare-head", "compare-parts", "compare-status", "compare-main"):
            self.query_one(f"#{name}").display = shown

    # -------------------------------------------------------------- asking --

    def both_open(self, pair: PairSession) -> None:
        self._compared, self._sources, self._swapped = None, {}, False
        self._matches = None
        self.query_one(HeadLines).show(["Comparing the steps of both traces …"])
        self.ask("head", lambda: self._head(pair, swapped=False), self._show_head, rows=True)

    @property
    def _shown_names(self) -> tuple[str, str]:
        base, target = self._names
        return (target, base) if self._swapped else (base, target)

    def _head(self, pair: PairSession, *, swapped: bool) -> tuple[Compared, CompareHead]:
        compared = pair.compared(swapped=swapped)
        base, target = self._names[::-1] if swapped else self._names
        return compared, compare_head(compared, base, target)

    def _show_head(self, answer: tuple[Compared, CompareHead]) -> None:
        first = self._compared is None
        compared, head = answer
        if not self._swapped:
            self._compared = compared
        self.query_one(HeadLines).show((head.change, head.verdict, *head.reasons))
        if first:
            self._load_rows(self._part)

    def _load_rows(self, part: str, metric: Metric | None = None) -> None:
        """Ask for the rows of a part, by a metric or the one it is looked at by first."""
        pair, compared, swapped = self.pair, self._compared, self._swapped
        if pair is None or compared is None:
            return

        def load() -> _Rows | str:
            try:
                if part == FIGURES:
                    tree = figure_tree(compared, pair.figures(), swapped=swapped)
                    return _Rows(part, None, tree, "")
                sides = pair.found().parts[part]
                if not len(sides) or not sides.metrics:
                    why = sides.lacking or "; ".join(sorted(set(sides.missing.values())))
                    return _Rows(part, None, None, why or "there are no such rows")
                view = pair.view(sides, metric or first_metric(sides, compared))
                return _Rows(part, view, None, sides.lacking or "")
            except Exception as error:  # the other views do not depend on it
                return failed(error)

        self._status("comparing …")
        self.ask("rows", load, self._show_rows, rows=True)

    # ------------------------------------------------------------- showing --

    def _show_rows(self, answer: "_Rows | str") -> None:
        if isinstance(answer, str):
            self._say(answer)
            self.rows_ready()
            return
        self._part, self._lacking = answer.part, answer.lacking
        if answer.view is not None:
            source = CompareSource(
                answer.view,
                self._names,
                relative=self._relative,
                ascii_only=self.app.ascii_only,
            )
            source.unfold_changes()
            self._sources[answer.part] = source
            self._show_source(source)
        else:
            rows = answer.figures or NOTHING
            self._show_source(FigureSource(rows, self._shown_names, ascii_only=self.app.ascii_only))

    def _show_source(self, source: CompareSource | FigureSource) -> None:
        """Put another table in place of the present one."""
        self.set_class(isinstance(source, FigureSource), "-figures")
        if isinstance(source, CompareSource):
            if source.view.swapped != self._swapped:
                source.view.swap()
            source.set_relative(self._relative)
            text = source.view.filter_text
            self._matches = source.view.filter(text) if text else None
            self.query_one(FilterInput).value = text
            self.set_class(bool(text), "-filtering")
        tables = self.query(SideTree)
        if tables:
            table = tables.first()
            table.set_source(source)
            table.highlight(self._filter_text)
            self.ask_detail()
        else:
            table = SideTree(source, id="pair-tree")
            self.call_next(self._begin, self.query_one("#compare-main").mount(table, before=0))
        self.refresh_bindings()
        self._say_rows()

    async def _begin(self, mounted: AwaitMount) -> None:
        await mounted
        self.set_focus(self.table)
        self._say_rows()
        self.rows_ready()

    @property
    def part(self) -> str:
        """Title of the table that is shown."""
        return self._part

    @property
    def table(self) -> SideTree:
        return self.query_one("#pair-tree", SideTree)

    @property
    def source(self) -> CompareSource | None:
        """The rows shown, where they are of both traces' costs."""
        tables = self.query(SideTree)
        source = tables.first().source if tables else None
        return source if isinstance(source, CompareSource) else None

    @property
    def _filter_text(self) -> str:
        return "" if self.source is None else self.source.view.filter_text

    def _status(self, left: str, right: str = "") -> None:
        line = self.query_one("#compare-status", StatusLine)
        line.left, line.right = left, right

    def _say_rows(self) -> None:
        """What is shown, and how."""
        names = [f"[{name}]" if title == self._part else name for _, name, title in PARTS]
        keys = [key for key, _, _ in PARTS]
        shown = "  ".join(f"{key} {name}" for key, name in zip(keys, names, strict=True))
        self.query_one("#compare-parts", StatusLine).left = shown
        for table in self.query(SideTree):
            table.empty_text = self._why_empty()
        source = self.source
        if source is None:
            self._status(self._part)
            return
        view, sides = source.view, source.view.sides
        parts = [metric_title(view.metric) + (", inclusive" if source.is_tree else "")]
        parts.append("mean per step and rank" if sides.per_step else "whole runs")
        parts += ["sides swapped"] if self._swapped else []
        if self._matches is not None:
            parts.append(f"{self._matches:,} match “{view.filter_text}”")
        if view.noise_hidden:
            parts.append(f"without {self._noise_hidden:,} within noise")
        elif sides.no_intervals is not None:
            # Of whole runs the lines above say why.
            why = f": {sides.no_intervals}" if sides.per_step else ""
            parts.append(f"nothing tells chance{why}")
        if self._lacking:
            parts.append(self._lacking)
        self._status(" · ".join(parts), f"{view.row_count():,} rows")

    def _why_empty(self) -> str:
        source = self.source
        if source is None or not len(source.view.sides):
            return f"{self._part}: {self._lacking}." if self._lacking else ""
        if source.view.noise_hidden and not source.view.filter_text:
            return "No change is beyond noise. a shows all rows again."
        return nothing_matches(source.view.filter_text)
