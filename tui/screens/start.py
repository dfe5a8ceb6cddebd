"""Without a trace: the ones opened last, a file picker, and the demo."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widgets import Static

from ...ingest.recent import RecentTrace, recent_traces
from ...reports.format import age, size
from ..demo import TELLS, demo_trace
from ..keys import bindings
from ..widgets.key_footer import KeyFooter
from ..widgets.row_list import Row, RowList
from ..widgets.title_bar import TitleBar
from .view import TOO_SMALL, AskingScreen

BROWSE, DEMO = "browse", "demo"


class StartScreen(AskingScreen):
    """Choose what to open."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("start")]

    def compose(self) -> ComposeResult:
        yield TitleBar("start")
        with Container(id="body"):
            yield Static(
                "Which line of my program spends the GPU's time?\n"
                "Open an Nsight Systems export (.sqlite), a report (.nsys-rep) or a .dctx store.",
                id="welcome",
            )
            open_list = RowList(
                [
                    Row("Choose a file …", target=BROWSE),
                    Row(f"The demo trace: {TELLS}", target=DEMO),
                ],
                id="open",
            )
            open_list.border_title = "Open"
            yield open_list
            recent = RowList(id="recent")
            recent.border_title = "Recent"
            yield recent
        yield KeyFooter("start", quits=self.back_quits)
        yield Static(TOO_SMALL, id="too-small")

    def on_screen_resume(self) -> None:
        self.refresh_bindings()  # whether a trace is open to go back to
        self.ask("recent", recent_traces, self._show_recent)

    def _show_recent(self, traces: Sequence[RecentTrace]) -> None:
        now = time.time()
        recent = self.query_one("#recent", RowList)
        recent.set_rows(
            [
                Row(
                    str(trace.path),
                    f"{age(now - trace.opened_at):>14}  {size(trace.size):>9}  ",
                    target=trace.path,
                    keep_end=True,
                )
                for trace in traces
            ]
            or [Row("No trace was opened yet.", tone="dim")]
        )
        if not isinstance(self.focused, RowList):
            (recent if traces else self.query_one("#open", RowList)).focus()

    @on(RowList.Opened)
    def _open(self, message: RowList.Opened) -> None:
        target = message.row.target
        if target == BROWSE:
            self.action_browse()
        elif target == DEMO:
            self.app.open(demo_trace())
        elif isinstance(target, Path):
            self.app.open(target)

    @on(RowList.Edge)
    def _edge(self, message: RowList.Edge) -> None:
        if message.down:
            self.focus_next(RowList)
        else:
            self.focus_previous(RowList)

    def action_browse(self) -> None:
        from textual_fspicker import FileOpen, Filters

        self.app.push_screen(
            FileOpen(
                Path.cwd(),
                title="Open a trace",
                filters=Filters(
                    ("Traces", lambda p: p.suffix in (".sqlite", ".nsys-rep", ".dctx", ".db")),
                    ("All files", lambda p: True),
                ),
            ),
            self._chosen,
        )

    def _chosen(self, path: Path | None) -> None:
        if path is not None:
            self.app.open(path)
