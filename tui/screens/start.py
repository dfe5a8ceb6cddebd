"""Without a trace: the ones opened last, a file picker, and the demo."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

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
from .asking import AskingScreen
from .view import TOO_SMALL

BROWSE, DEMO = "browse", "demo"
TRACE_NAMES = (
    *(".json", ".json.gz", ".json.zst", ".json.xz", ".json.bz2", ".zip"),
    *(".sqlite", ".nsys-rep", ".qdrep", ".db", ".rpd"),
    *(".pb", ".pb.gz", ".hatchet", ".chrome_trace", ".dctx"),
)
"""How the names of traces usually end: what the file picker shows first."""


class StartScreen(AskingScreen):
    """Choose what to open."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("start")]

    def compose(self) -> ComposeResult:
        yield TitleBar("start")
        with Container(id="body"):
            yield Static(
                "Which line of my program spends the GPU's time?\n"
                "Open a PyTorch, JAX, Nsight Systems or ROCm trace, or a folder of ranks.",
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
                    _shown(trace.paths),
                    f"{age(now - trace.opened_at):>14}  {size(trace.size):>9}  ",
                    target=trace.paths,
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
        elif isinstance(target, tuple):
            self.app.open(cast("tuple[Path, ...]", target))

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
                    ("Traces", lambda p: p.name.lower().endswith(TRACE_NAMES)),
                    ("All files", lambda p: True),
                ),
            ),
            self._chosen,
        )

    def _chosen(self, path: Path | None) -> None:
        if path is not None:
            self.app.open(path)


def _shown(paths: Sequence[Path]) -> str:
    more = len(paths) - 1
    return f"{paths[0]} and {more} more" if more else str(paths[0])
