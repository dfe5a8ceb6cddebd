"""Every key of the application does what the table of keys says, in the application itself."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from textual.command import Command, CommandList, CommandPalette
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual_fspicker import FileOpen

from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.pathview import PathView
from dctx.tui.demo import demo_trace
from dctx.tui.key_model import Key
from dctx.tui.keys import KEYS
from dctx.tui.looking import Target
from dctx.tui.screens.comms import CommsScreen
from dctx.tui.screens.compare import CompareScreen
from dctx.tui.screens.help import HelpScreen
from dctx.tui.screens.kernel import KernelScreen
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.launches import LaunchesScreen
from dctx.tui.screens.layers import LayersScreen
from dctx.tui.screens.memory import MemoryScreen
from dctx.tui.screens.message import MessageScreen
from dctx.tui.screens.ops import OpsScreen
from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_source import PathSource
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.screens.start import StartScreen
from dctx.tui.screens.timeline import TimelineScreen
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.detail_pane import DetailPane
from dctx.tui.widgets.filter_input import FilterInput
from dctx.tui.widgets.flame_graph import FlameGraph
from dctx.tui.widgets.roofline_plot import RooflinePlot
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.source_table import SourceTable
from dctx.tui.widgets.statement_input import StatementInput
from dctx.tui.widgets.step_strip import StepStrip
from dctx.tui.widgets.title_bar import TitleBar
from dctx.tui.widgets.tree_table import TreeTable
from dctx.tui.widgets.verdict_view import VerdictView
from tests.tui.app_support import (
    AppPilot,
    app_of,
    comparing,
    opened,
    press,
    settle,
    started,
    until,
)

BY_ID = {key.id: key for key in KEYS}


class Keyboard:
    """Presses keys by their ids and remembers which."""

    def __init__(self, pilot: AppPilot) -> None:
        self.pilot = pilot
        self.app = app_of(pilot)
        self.used: set[str] = set()

    async def __call__(self, *ids: str, alias: int = 0) -> None:
        for key_id in ids:
            self.used.add(key_id)
            await press(self.pilot, BY_ID[key_id].keys[alias])

    async def type(self, text: str) -> None:
        await self.pilot.press(*text)
        await settle(self.pilot)

    @property
    def tree(self) -> TreeTable:
        return self.app.screen.query_one(TreeTable)

    @property
    def table(self) -> BigTable:
        return self.app.screen.query_one("#table", BigTable)

    @property
    def screen(self) -> Screen[object]:
        return self.app.screen

    def focused(self) -> Widget | None:
        return self.app.focused

    def metric(self) -> Metric:
        return self.source.view.share_metric

    @property
    def source(self) -> PathSource:
        source = self.tree.source
        assert isinstance(source, PathSource)
        return source


Scenario = Callable[[Keyboard], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """A scenario, the keys it has to press, and how the application is opened."""

    run: Scenario
    ids: frozenset[str]
    trace: bool = True
    compare: bool = False


CASES: list[Case] = []


def scenario(
    *ids: str, trace: bool = True, compare: bool = False
) -> Callable[[Scenario], Scenario]:
    def register(run: Scenario) -> Scenario:
        CASES.append(Case(run, frozenset(ids), trace, compare))
        return run

    return register


# ------------------------------------------------------------------ rows --


@scenario("rows.up", "rows.down", "rows.page_up", "rows.page_down", "rows.first", "rows.last")
async def moving_in_the_tree(k: Keyboard) -> None:
    await k("app.paths")
    await press(k.pilot, "E")
    tree = k.tree
    for alias in (0, 1):
        await k("rows.first", alias=alias)
        await k("rows.down", alias=alias)
        assert tree.cursor == 1
        await k("rows.up", alias=alias)
        assert tree.cursor == 0
        await k("rows.page_down", alias=alias)
        assert tree.cursor == tree.page_rows - 1
        await k("rows.page_up", alias=alias)
        assert tree.cursor == 0
        await k("rows.last", alias=alias)
        assert tree.cursor == tree.row_count - 1
        await k("rows.first", alias=alias)
        assert tree.cursor == 0


@scenario("rows.open")
async def enter_leads_on_from_each_list(k: Keyboard) -> None:
    kernels = k.screen.query_one("#kernels", RowList)
    kernels.focus()
    row = kernels.rows[0]
    await k("rows.open")
    assert isinstance(k.screen, KernelsScreen)
    current = k.table.cursor_row
    assert current is not None
    assert row.label in current.cells
    await press(k.pilot, "q")
    paths = k.screen.query_one("#paths", RowList)
    paths.focus()
    await k("rows.open")
    assert isinstance(k.screen, PathsScreen)
    target = paths.rows[0].target
    assert isinstance(target, Target)
    assert k.source.view.source(k.tree.cursor_node) == target.node
    await press(k.pilot, "q")
    k.screen.query_one("#notes", RowList).focus()
    await k("rows.open")
    assert isinstance(k.screen, MessageScreen)


@scenario("rows.scroll_left", "rows.scroll_right")
async def long_names_move_sideways(k: Keyboard) -> None:
    await k.pilot.resize_terminal(60, 24)
    await k("app.paths", "tree.expand_all")
    before = k.tree.render_line(12).text
    await k("rows.scroll_right")
    assert k.tree.render_line(12).text != before
    await k("rows.scroll_left")
    assert k.tree.render_line(12).text == before


@scenario("table.left", "table.right")
async def columns_move_sideways(k: Keyboard) -> None:
    await k.pilot.resize_terminal(80, 24)
    await k("app.kernels")
    before = k.table.render_line(0).text
    await k("table.right")
    assert k.table.render_line(0).text != before
    await k("table.left", alias=1)
    assert k.table.render_line(0).text == before


@scenario("rows.sort", "rows.reverse")
async def sorting_by_letter_by_next_column_and_reversed(k: Keyboard) -> None:
    await k("app.paths", "rows.sort")
    assert "[h]ost" in k.tree.render_line(0).text
    await press(k.pilot, "h")
    assert k.source.order == (Metric.HOST.value, True)
    await k("rows.reverse")
    assert k.source.order == (Metric.HOST.value, False)
    await k("app.kernels", "rows.sort", "rows.sort")
    assert k.table.order[0] == "count"


# --------------------------------------------------------------- folding --


@scenario(
    "tree.open",
    "tree.close",
    "tree.toggle",
    "tree.expand_subtree",
    "tree.expand_all",
    "tree.collapse_all",
)
async def folding(k: Keyboard) -> None:
    await k("app.paths", "tree.collapse_all")
    tree = k.tree
    few = tree.row_count
    await k("tree.expand_all")
    everything = tree.row_count
    assert everything > 100 > few
    await k("tree.collapse_all", "rows.first", "rows.down", "tree.open")
    opened_one = tree.row_count
    assert opened_one > few
    await k("tree.close")
    assert tree.row_count == few
    await k("tree.toggle")
    assert tree.row_count == opened_one
    await k("tree.toggle", alias=1)
    assert tree.row_count == few
    await k("tree.expand_subtree")
    assert everything > tree.row_count > opened_one


# --------------------------------------------------------------- finding --


@scenario("view.filter", "filter.accept", "filter.cancel", "view.next_match", "view.previous_match")
async def filtering_paths(k: Keyboard) -> None:
    await k("app.paths", "view.filter")
    assert isinstance(k.focused(), FilterInput)
    await k.type("cudaGraphLaunch")
    await k("filter.accept")
    assert k.focused() is k.tree
    line = k.tree.cursor_line
    assert line is not None
    assert line.marked
    first = k.tree.cursor
    await k("view.next_match")
    second = k.tree.cursor
    assert second != first
    await k("view.previous_match")
    assert k.tree.cursor == first
    await k("view.filter", "filter.cancel")
    assert k.source.view.filter_text == ""
    await k("app.kernels", "view.filter")
    await k.type("allreduce")
    await k("filter.accept", alias=1)
    assert k.table.row_count == 1


@scenario("paths.hot_path")
async def hot_path(k: Keyboard) -> None:
    await k("app.paths", "rows.first", "paths.hot_path")
    line = k.tree.cursor_line
    assert line is not None
    assert line.depth > 4


# ----------------------------------------------------------------- shown --


@scenario("paths.bottom_up")
async def bottom_up_and_back(k: Keyboard) -> None:
    await k("app.paths", "paths.hot_path")
    node = k.source.view.source(k.tree.cursor_node)
    await k("paths.bottom_up")
    assert k.source.view.turned
    assert k.tree.render_line(1).text.strip().split()[-1] != "llama-1b-main.sqlite"
    await k("paths.bottom_up")
    assert not k.source.view.turned
    assert k.source.view.find(node) >= 0


@scenario("paths.metric")
async def next_metric(k: Keyboard) -> None:
    await k("app.paths")
    assert k.metric() is Metric.GPU
    await k("paths.metric")
    assert k.metric() is Metric.HOST


@scenario("paths.limit")
async def percent_limit(k: Keyboard) -> None:
    await k("app.paths", "tree.expand_all")
    everything = k.tree.row_count
    await k("paths.limit")
    assert isinstance(k.screen, PromptScreen)
    await press(k.pilot, "backspace")
    await k.type("x")
    await press(k.pilot, "enter")
    assert isinstance(k.screen, PromptScreen), "a word is no percentage"
    await press(k.pilot, "backspace")
    await k.type("5")
    await press(k.pilot, "enter")
    assert k.tree.row_count < everything
    assert all((row.share or 0) >= 0.05 for row in k.source.view.rows(0, 1000))


@scenario("view.device")
async def next_device(k: Keyboard) -> None:
    await k("app.paths")
    both = k.source.view.total
    await k("view.device")
    one = k.source.view.total
    await k("view.device")
    other = k.source.view.total
    assert both is not None
    assert one is not None
    assert other is not None
    assert one + other == both
    await k("view.device")
    assert k.source.view.total == both
    await k("paths.bottom_up", "view.device")
    assert k.source.view.turned, "another GPU, the same view"
    assert k.source.view.total == one
    await k("app.kernels")
    all_devices = k.table.cursor_row
    await k("view.device")
    assert k.table.cursor_row != all_devices


@scenario("view.detail")
async def detail_pane(k: Keyboard) -> None:
    for view in ("app.paths", "app.kernels"):
        await k(view)
        pane = k.screen.query_one(DetailPane)
        assert pane.display
        await k("view.detail")
        assert not pane.display
        await k("view.detail")
        assert pane.display
        await k.pilot.resize_terminal(80, 24)
        await settle(k.pilot)
        assert not pane.display
        await k("view.detail")
        assert pane.display
        await press(k.pilot, "escape")
        assert not pane.display
        await k.pilot.resize_terminal(160, 45)


@scenario("kernels.copies")
async def copies_too(k: Keyboard) -> None:
    await k("app.kernels")
    kernels = k.table.row_count
    await k("kernels.copies")
    assert k.table.row_count > kernels
    await k("kernels.copies")
    assert k.table.row_count == kernels


@scenario("kernels.inside", "kernels.source")
async def kernel_from_inside(k: Keyboard) -> None:
    await k("app.kernels", "kernels.inside")
    screen = k.screen
    assert isinstance(screen, KernelScreen)
    await k("kernels.source")
    assert "no source line is known" in notice(k)
    await k("view.copy")
    assert k.app.clipboard.startswith("ncu -k ")
    await k("view.export")
    assert isinstance(k.screen, PromptScreen)
    await press(k.pilot, "enter")
    written = Path("llama-1b-main-kernel.csv").read_text(encoding="utf-8")
    assert written.startswith("name,device,grid,block,registers_per_thread,shared_bytes,count")
    await k("app.next_panel", "rows.open")  # the callers
    assert isinstance(k.screen, PathsScreen)
    await press(k.pilot, "escape", "escape")
    assert isinstance(k.screen, KernelsScreen)


@scenario("kernels.launches")
async def single_launches(k: Keyboard) -> None:
    await k("app.kernels", "kernels.launches")
    screen = k.screen
    assert isinstance(screen, LaunchesScreen)
    assert screen.table.row_count > 41_000
    assert screen.table.cursor_row is not None
    await press(k.pilot, "G")
    assert screen.table.cursor_row is not None
    await press(k.pilot, "s", "i")
    assert screen.table.order == ("duration", True)
    await press(k.pilot, "/")
    await k.type("DeviceScan")
    await press(k.pilot, "enter")
    assert screen.table.row_count == 420
    await press(k.pilot, "enter")
    assert isinstance(k.screen, PathsScreen)
    await press(k.pilot, "q")
    assert k.app.screen_stack[-1] is screen, "back to the very launch"
    await press(k.pilot, "q")
    assert k.table.row_count > 41_000, "first the filter goes"
    await press(k.pilot, "q")
    assert isinstance(k.screen, KernelsScreen)


@scenario("view.zoom")
async def zoom(k: Keyboard) -> None:
    await k("app.paths", "view.zoom")
    assert k.screen.maximized is k.tree
    await press(k.pilot, "escape")
    assert k.screen.maximized is None


@scenario("app.theme")
async def next_theme(k: Keyboard) -> None:
    seen = {k.app.theme}
    for _ in range(3):
        await k("app.theme")
        seen.add(k.app.theme)
    assert seen == {"dark", "light", "ansi", "ansi-light"}


# ------------------------------------------------------------ take along --


@scenario("view.copy")
async def copying(k: Keyboard) -> None:
    await k("view.copy")
    assert k.app.clipboard.startswith("YES: the GPUs wait for the host")
    k.screen.query_one("#kernels", RowList).focus()
    await k("view.copy")
    assert "masked_multihead_attention_kernel" in k.app.clipboard
    await k("app.paths", "paths.hot_path", "view.copy")
    assert k.app.clipboard.endswith("cudaGraphLaunch")
    assert " > " in k.app.clipboard
    await k("app.kernels", "rows.down", "view.copy")
    assert k.app.clipboard == "nvjet_tst_128x64_64x8_2x1_v_bz_TNT"


@scenario("view.export")
async def exporting(k: Keyboard) -> None:
    for view in ("app.overview", "app.paths", "app.steps", "app.kernels"):
        await k(view, "view.export")
        assert isinstance(k.screen, PromptScreen)
        await press(k.pilot, "enter")
    written = {path.name: path.read_text() for path in Path.cwd().glob("*.csv")}
    assert written.keys() == {
        f"llama-1b-main-{v}.csv" for v in ("overview", "paths", "kernels", "steps")
    }
    steps = written["llama-1b-main-steps.csv"].splitlines()
    assert steps[0] == "iteration,number,start_ns,duration_ns,gap_ns"
    assert len(steps) == 231
    assert written["llama-1b-main-kernels.csv"].startswith("kind,name,communication,count,sum_ns")
    await k("view.export")
    await press(k.pilot, "enter")
    assert isinstance(k.screen, PromptScreen), "a file is not overwritten unasked"
    await press(k.pilot, "escape")
    assert isinstance(k.screen, KernelsScreen)


@scenario("paths.source_pane", "paths.next_line", "paths.previous_line")
async def the_source_pane_where_no_line_is_recorded(k: Keyboard) -> None:
    await k("app.paths", "paths.source_pane")
    lines = k.screen.query_one("#source-lines", SourceTable)
    assert lines.display
    assert not k.screen.query_one(DetailPane).display
    assert "name a source line" in lines.empty_text
    await k("paths.next_line", "paths.previous_line")
    assert lines.row_count == 0
    await k("paths.source_pane")
    assert k.screen.query_one(DetailPane).display


@scenario("paths.source")
async def opening_the_source(k: Keyboard) -> None:
    await k("app.paths", "rows.first", "paths.source")
    assert "sources" in notice(k)


# ------------------------------------------------------- start and panels --


@scenario("start.browse", trace=False)
async def file_picker(k: Keyboard) -> None:
    assert isinstance(k.screen, StartScreen)
    assert isinstance(k.focused(), RowList), "the first key finds a row"
    await k("start.browse")
    assert isinstance(k.screen, FileOpen)
    await press(k.pilot, "escape")
    assert isinstance(k.screen, StartScreen)


@scenario("message.copy", "message.retry", trace=False)
async def error_panel(k: Keyboard) -> None:
    broken = Path("broken.sqlite")
    broken.write_bytes(b"")
    k.app.open(broken)
    await settle(k.pilot)
    error = k.app.load_state.error
    assert error is not None
    await k("message.copy")
    assert k.app.clipboard == error.paragraph()
    broken.unlink()
    broken.write_bytes(b"SQLite format 3\0")
    await k("message.retry")
    again = k.app.load_state.error
    assert again is not None
    assert again.what != error.what


@scenario("progress.cancel", trace=False)
async def stopping_the_reading(k: Keyboard) -> None:
    k.app.cache = False
    k.app.open(demo_trace())
    await k.pilot.pause()
    if k.app.session is None:
        await k("progress.cancel")
    else:  # it was faster than the key
        k.used.add("progress.cancel")
        return
    assert isinstance(k.screen, StartScreen)
    assert k.app.loading is None


# ------------------------------------------------------------ application --


@scenario("app.overview", "app.paths", "app.kernels", "app.next_panel", "app.previous_panel")
async def views_and_panels(k: Keyboard) -> None:
    await k("app.paths")
    assert isinstance(k.screen, PathsScreen)
    await k("app.kernels")
    assert isinstance(k.screen, KernelsScreen)
    await k("app.overview")
    assert isinstance(k.screen, OverviewScreen)
    first = k.focused()
    await k("app.next_panel")
    assert k.focused() is not first
    await k("app.previous_panel")
    assert k.focused() is first


@scenario(
    "app.steps",
    "strip.left",
    "strip.right",
    "strip.mark",
    "strip.extend_left",
    "strip.extend_right",
    "scope.clear",
)
async def choosing_steps(k: Keyboard) -> None:
    await k("app.steps")
    strip = k.screen.query_one(StepStrip)
    assert k.focused() is strip
    each = strip.each
    for alias in (0, 1):
        await k("rows.first", alias=alias)
        await k("strip.right", alias=alias)
        assert strip.cursor == each
        await k("strip.left", alias=alias)
        assert strip.cursor == 0
        await k("strip.extend_right", "strip.extend_right", alias=alias)
        assert strip.range == (0, 2 * each)
        await k("strip.extend_left", alias=alias)
        assert strip.range == (0, each)
    await k("strip.right", "strip.mark", "strip.right", "rows.open")
    scope = k.app.scope
    assert scope is not None
    assert scope.label == f"steps {2 * each + 1} to {3 * each + 1}"
    whole = (await whole_gpu_time(k)).total
    await k("app.paths")
    part = k.source.view.total
    assert part is not None
    assert whole is not None
    assert 0 < part < whole / 10
    await k("scope.clear")
    assert k.app.scope is None
    assert k.source.view.total == whole
    await k("app.steps")
    assert "230 steps" in str(k.screen.query_one("#about", Static).render())
    await k("rows.last", "rows.open")
    assert k.app.scope is not None
    await press(k.pilot, "escape")
    assert k.app.scope is None, "escape gives the choice up too"


async def whole_gpu_time(k: Keyboard) -> PathView:
    session = k.app.session
    assert session is not None
    return session.tree(None).top_down()


@scenario("view.window")
async def another_window(k: Keyboard) -> None:
    card = k.screen.query_one(VerdictView)
    for kind in ("steady", "trace", "auto"):
        await k("view.window")
        assert card.card is not None
        assert card.card.window_kind == kind
    await k("app.steps", "view.window")
    assert "window steady" in str(k.screen.query_one("#about", Static).render())
    await k("app.overview")
    assert card.card is not None
    assert card.card.window_kind == "steady", "the views look at one window"


@scenario("view.rank")
async def next_rank_of_steps(k: Keyboard) -> None:
    await k("app.steps")
    titles = [str(k.screen.query_one("#strip-box").border_title)]
    for _ in range(3):
        await k("view.rank")
        titles.append(str(k.screen.query_one("#strip-box").border_title))
    assert ["mean of 2 ranks" in title for title in titles] == [True, False, False, True]
    assert "pid 101" in titles[1]
    assert "pid 102" in titles[2]


@scenario("app.open")
async def another_trace(k: Keyboard) -> None:
    await k("app.open")
    assert isinstance(k.screen, StartScreen)
    recent = k.screen.query_one("#recent", RowList)
    assert recent.rows[0].label.endswith("llama-1b-main.sqlite")
    await press(k.pilot, "enter")
    assert isinstance(k.screen, OverviewScreen)
    assert k.app.load_state.complete


def _offers(k: Keyboard, expected: str) -> bool:
    """The palette's first command is like this pattern."""
    options = k.screen.query_one(CommandList)
    first = options.get_option_at_index(0) if options.option_count else None
    return isinstance(first, Command) and bool(re.match(expected, first.hit.text or ""))


@scenario("app.palette")
async def palette(k: Keyboard) -> None:
    for alias in (0, 1):
        await k("app.palette", alias=alias)
        assert isinstance(k.screen, CommandPalette)
        await press(k.pilot, "escape")
    await k("app.paths")
    for text, expected in (
        ("csv", "Export"),
        ("save", "Export"),
        ("exit", "Quit"),
        ("search", "Fil"),
    ):
        await k("app.palette")
        await k.pilot.press(*text)
        await until(k.pilot, partial(_offers, k, expected))
        await press(k.pilot, "escape")
    await k("app.palette")
    await k.pilot.press(*"flash fwd")
    await until(k.pilot, partial(_offers, k, ".*flash_fwd_kernel"))
    await settle(k.pilot)
    await press(k.pilot, "enter")
    assert isinstance(k.screen, KernelsScreen)
    row = k.screen.table.cursor_row
    assert row is not None
    assert "flash_fwd_kernel" in row.cells


@scenario("app.help", "app.cancel", "app.back")
async def help_opens_and_closes(k: Keyboard) -> None:
    for alias in (0, 1):
        await k("app.help", alias=alias)
        assert isinstance(k.screen, HelpScreen)
        await k("app.help", alias=alias)
        assert not isinstance(k.screen, HelpScreen)
    await k("app.help", "app.cancel")
    assert not isinstance(k.screen, HelpScreen)
    await k("app.help", "app.back")
    assert isinstance(k.screen, OverviewScreen)
    await k("app.cancel")
    assert k.app.is_running, "escape never quits"
    await k("app.back")
    assert k.app.return_code == 0


@scenario("app.quit")
async def quitting_at_once(k: Keyboard) -> None:
    await k("app.paths")
    await k("app.quit", alias=1)
    assert k.app.return_code == 0


@scenario("app.suspend")
async def suspending(k: Keyboard) -> None:
    # The headless driver cannot suspend: test_pty_smoke does. Here the key reaches its action.
    await k("app.suspend")
    assert k.screen.active_bindings["ctrl+z"].binding.action == "app.suspend_process"
    assert k.app.is_running


def notice(k: Keyboard) -> str:
    """The latest notification."""
    notifications = list(k.app._notifications)  # pyright: ignore[reportPrivateUsage]
    return notifications[-1].message


@scenario("paths.layers")
async def folding_layers_away(k: Keyboard) -> None:
    await k("app.paths")
    before = k.source.view.table
    await k("paths.layers")
    assert isinstance(k.screen, LayersScreen)
    labels = [row.label for row in k.screen.query_one(RowList).rows]
    await press(k.pilot, *["down"] * next(i for i, x in enumerate(labels) if "API" in x), "enter")
    await k("app.cancel")
    table = k.source.view.table
    assert len(table) < len(before)
    assert Layer.API not in {table.frames.layers[frame] for frame in table.frame.tolist()}
    assert table.values[Metric.GPU][0] == before.values[Metric.GPU][0]


@scenario("view.rank")
async def one_rank_alone(k: Keyboard) -> None:
    await k("app.paths")
    whole = int(k.source.view.table.values[Metric.GPU][0])
    parts: list[int] = []
    await k("view.rank")
    while (rank := k.app.rank) is not None:
        assert k.screen.query_one(TitleBar).rank == f"only {rank.label}"
        parts.append(int(k.source.view.table.values[Metric.GPU][0]))
        await k("view.rank")
    assert len(parts) == 2
    assert sum(parts) == whole
    assert k.screen.query_one(TitleBar).rank == "all 2 ranks"


@scenario("app.ops", "ops.roofline", "rows.kernel")
async def operators(k: Keyboard) -> None:
    await k("app.ops")
    assert isinstance(k.screen, OpsScreen)
    side = k.screen.query_one(RooflinePlot)
    assert side.display
    await k("ops.roofline")
    assert not side.display
    await k("ops.roofline")
    assert side.display
    await k("rows.kernel")
    assert isinstance(k.screen, KernelsScreen)
    row = k.table.cursor_row
    assert row is not None
    assert "nvjet_tst_128x64" in row.cells[4]


@scenario("app.comms")
async def collectives(k: Keyboard) -> None:
    await k("app.comms")
    assert isinstance(k.screen, CommsScreen)
    assert k.focused() is k.table
    await press(k.pilot, "u")
    assert isinstance(k.screen, KernelsScreen)


@scenario("app.memory")
async def memory_over_time(k: Keyboard) -> None:
    await k("app.memory")
    assert isinstance(k.screen, MemoryScreen)
    assert str(k.screen.query_one("#figures", Static).content).startswith("peak ")
    focused = k.focused()
    assert isinstance(focused, RowList)
    # Nsight Systems does not tell who allocates.
    assert [row.label for row in focused.rows] == ["the context is not recorded"]


# --------------------------------------------------------------- compare --

PART_IDS = {
    "compare.kernels": "GPU work by name",
    "compare.operations": "Operations by name",
    "compare.ranges": "Ranges by name",
    "compare.calls": "API calls by name",
    "compare.collectives": "Collectives",
    "compare.steps": "Steps and totals",
    "compare.paths": "Call paths",
}


@scenario(
    *("app.compare", "compare.next_change", "compare.previous_change", "compare.swap"),
    *("compare.noise", "compare.relative", "compare.base", *PART_IDS),
    compare=True,
)
async def comparing_versions(k: Keyboard) -> None:
    await k("app.overview", "app.compare")
    screen = k.screen
    assert isinstance(screen, CompareScreen)
    await k("compare.next_change", "compare.next_change")
    assert screen.table.cursor_line is not None
    second = screen.table.cursor_line.label
    await k("compare.previous_change", "compare.next_change")
    assert screen.table.cursor_line.label == second
    source = screen.source
    assert source is not None
    await k("compare.swap")
    assert source.view.swapped
    await k("compare.noise")
    assert source.view.noise_hidden
    await k("compare.relative")
    assert source.relative
    for key_id, title in PART_IDS.items():
        await k(key_id)
        assert screen.part == title
    await k("compare.base")
    assert isinstance(k.screen, PromptScreen)


@scenario(
    *("compare.flame", "flame.up", "flame.down", "flame.left", "flame.right"),
    *("flame.zoom", "flame.out", "flame.reset"),
    compare=True,
)
async def in_the_flame_graph(k: Keyboard) -> None:
    await k("compare.flame")
    graph = k.screen.query_one(FlameGraph)
    layout = graph.source.layout
    root = graph.cursor
    for alias in (0, 1):
        await k("flame.down", "flame.down", alias=alias)
        thread = graph.cursor
        assert layout.way(thread)[0] == root
        await k("flame.right", alias=alias)
        assert graph.cursor != thread
        await k("flame.left", alias=alias)
        assert graph.cursor == thread
        await k("flame.zoom")
        assert graph.zoom == thread
        await k("flame.out", alias=alias)
        assert graph.zoom != thread
        await k("flame.zoom", "flame.reset")
        assert graph.zoom == -1
        await k("flame.up", "flame.up", alias=alias)
        assert graph.cursor == root
    await k("compare.flame")
    assert k.screen.focused is k.tree


@scenario(
    *("app.sql", "sql.edit", "sql.tables", "sql.queries", "sql.history", "sql.save"),
    *("statement.run", "statement.leave", "statement.older", "statement.newer"),
)
async def statements_in_the_sql_view(k: Keyboard) -> None:
    await k("app.sql")
    side = k.screen.query_one("#sql-side", RowList)
    rows = k.screen.query_one("#sql-rows", BigTable)
    statement = k.screen.query_one(StatementInput)
    for alias in (0, 1):
        await k("sql.edit")
        statement.text = f"SELECT {alias} AS n, 'x' AS t"
        await k("statement.run", alias=alias)
        assert rows.has_focus
        first = rows.row(0)
        assert first is not None
        assert first.cells == [str(alias), "x"]
    await k("sql.edit")
    statement.text = "typed"
    for alias in (0, 1):
        await k("statement.older", alias=alias)
        assert statement.text == "SELECT 1 AS n, 'x' AS t"
        await k("statement.newer", alias=alias)
        assert statement.text == "typed"
    await k("statement.leave")
    assert rows.has_focus
    await k("sql.tables")
    assert [row.label for row in side.rows[:3]] == ["host_events", "kernels", "launched"]
    await k("sql.queries")
    assert side.rows[0].label == "kernels by time"
    await k("sql.history")
    assert side.rows[0].label == "SELECT 1 AS n, 'x' AS t"
    await k("sql.save")
    await k.type("mine")
    await press(k.pilot, "enter")
    await k("sql.queries")
    assert (side.rows[0].label, side.rows[0].figures.strip()) == ("mine", "own")


@scenario("paths.flame")
async def the_tree_as_a_flame_graph(k: Keyboard) -> None:
    await k("app.paths")
    view = k.source.view
    await press(k.pilot, "z")
    at = k.tree.cursor_node
    await k("paths.flame")
    graph = k.screen.query_one(FlameGraph)
    assert graph.has_focus
    assert graph.cursor == at
    assert graph.source.layout.size(0) == view.total
    await k("paths.flame")
    assert k.screen.focused is k.tree
    assert k.tree.cursor_node == at


# -------------------------------------------------------------- timeline --


@scenario(
    *("app.timeline", "timeline.up", "timeline.down", "timeline.page_up", "timeline.page_down"),
    *("timeline.left", "timeline.right", "timeline.cursor_left", "timeline.cursor_right"),
    *("timeline.first", "timeline.last", "timeline.zoom_in", "timeline.zoom_out"),
    *("timeline.whole", "timeline.open"),
)
async def moving_in_the_timeline(k: Keyboard) -> None:
    await k("app.timeline")
    view = k.screen
    assert isinstance(view, TimelineScreen)
    assert k.focused() is view.chart
    whole = view.window
    assert whole.is_whole
    columns = view.columns
    for alias in (0, 1):
        row = view.at
        await k("timeline.down", alias=alias)
        assert view.at == row + 1
        await k("timeline.up", alias=alias)
        assert view.at == row
        await k("timeline.page_down", alias=alias)
        assert view.at == len(view.rows) - 1, "all rows fit on the screen"
        await k("timeline.page_up", alias=alias)
        assert view.at == 0
        await k("timeline.down")
        await k("timeline.first", alias=alias)
        assert view.cursor_ns == whole.first_ns
        await k("timeline.last", alias=alias)
        assert view.cursor_ns == whole.last_ns - 1
        await k("timeline.cursor_left", alias=alias)
        assert view.window.column(view.cursor_ns, columns) == columns - 2
        await k("timeline.cursor_right", alias=alias)
        assert view.window.column(view.cursor_ns, columns) == columns - 1
        await k("timeline.left", alias=alias)
        assert view.window == whole, "there is nothing beside the whole: the cursor moves"
        assert abs(view.window.column(view.cursor_ns, columns) - columns * 7 / 8) <= 2
        await k("timeline.zoom_in", alias=alias)
        assert view.window.width_ns == whole.width_ns // 2
        window, cursor = view.window, view.cursor_ns
        await k("timeline.left", alias=alias)
        assert view.window == window.panned(-(window.width_ns // 8))
        assert view.cursor_ns - cursor == view.window.start_ns - window.start_ns
        await k("timeline.right", alias=alias)
        assert view.window == window
        await k("timeline.zoom_out", alias=alias)
        assert view.window == whole
    await k("timeline.zoom_in", "timeline.zoom_in", "timeline.whole")
    assert view.window == whole
    await k("timeline.first", "timeline.next_event", "timeline.open")
    picked = view.picked
    assert picked is not None
    assert view.window == whole.around(picked.start_ns, picked.end_ns)
    line = view.chart.render_line(2 + view.at - view.top)
    assert picked.name in "".join(segment.text for segment in line), "wide enough for its name"


@scenario(
    *("timeline.next_event", "timeline.previous_event", "timeline.next_pause"),
    *("timeline.previous_pause", "timeline.next_named", "timeline.previous_named"),
)
async def from_event_to_event(k: Keyboard) -> None:
    await k("app.timeline", "timeline.first")
    view = k.screen
    assert isinstance(view, TimelineScreen)
    await k("timeline.next_event")
    first = view.picked
    assert first is not None
    await k("timeline.next_event", "timeline.previous_event")
    assert view.picked == first
    await k("timeline.first", "timeline.previous_event")
    assert notice(k) == "There is none further in this row."
    await k("timeline.next_event", "timeline.next_named")
    second = view.picked
    assert second is not None
    await k("timeline.next_named", "timeline.previous_named")
    assert view.picked == second
    assert view.timeline is not None
    to_gpu = next(i for i, r in enumerate(view.rows) if view.timeline.tracks[r.track].on_gpu)
    await press(k.pilot, *["down"] * (to_gpu - view.at))
    await k("timeline.first", "timeline.next_event", "timeline.next_pause")
    pause = view.picked
    assert pause is not None
    assert pause.event is None
    device = view.timeline.device_lines(0)
    assert device is not None
    at = np.array([pause.start_ns, pause.end_ns], np.int64)
    for line in device:
        assert len(set(line.busy_until(at).tolist())) == 1, "nothing at all runs on the GPU"
    assert pause.end_ns - pause.start_ns >= view.window.width_ns // view.columns
    await k("timeline.next_pause", "timeline.previous_pause")
    assert view.picked == pause
    await k("timeline.next_named")
    assert "no event under the cursor" in notice(k)


@scenario("timeline.link", "timeline.paths", "timeline.kernel")
async def from_a_kernel_to_its_launch(k: Keyboard) -> None:
    await k("app.timeline", "timeline.first")
    view = k.screen
    assert isinstance(view, TimelineScreen)
    assert view.timeline is not None
    tracks = view.timeline.tracks
    to_gpu = next(i for i, r in enumerate(view.rows) if tracks[r.track].on_gpu)
    await press(k.pilot, *["down"] * (to_gpu - view.at))
    await k("timeline.next_event")
    kernel = view.picked
    assert kernel is not None
    arrow = view.chart.marks.arrow
    assert arrow is not None, "the launch is marked"
    assert arrow.to_row == view.at - view.top
    await k("timeline.link")
    call = view.picked
    assert call is not None
    assert tracks[call.track].sort == "calls"
    assert "aunch" in call.name
    assert call.start_ns <= kernel.start_ns
    await k("timeline.kernel")
    assert notice(k) == "It is no GPU work; a goes to what it launched."
    await k("timeline.link")
    assert view.picked == kernel
    await k("timeline.paths")
    assert isinstance(k.screen, PathsScreen)
    await press(k.pilot, "q")
    await k("timeline.kernel")
    assert isinstance(k.screen, KernelsScreen)
    row = k.screen.table.cursor_row
    assert row is not None
    assert kernel.name in row.cells


@scenario("timeline.mark")
async def a_range_of_time(k: Keyboard) -> None:
    whole = (await whole_gpu_time(k)).total
    await k("app.timeline", "timeline.first")
    view = k.screen
    assert isinstance(view, TimelineScreen)
    await press(k.pilot, *["right"] * 3)
    columns = view.columns
    start, _ = view.window.span(view.window.column(view.cursor_ns, columns), columns)
    await k("timeline.mark")
    await press(k.pilot, "right", "right")
    _, end = view.window.span(view.window.column(view.cursor_ns, columns), columns)
    assert view.chart.marks.range is not None
    await press(k.pilot, "escape")
    assert view.marked is None, "escape gives the mark up"
    await k("timeline.mark")
    await press(k.pilot, "left", "left", "enter")
    scope = k.app.scope
    assert scope is not None
    assert scope.windows == ((None, start, end),), "the columns of both ends count whole"
    await k("app.paths")
    assert k.screen.query_one(TitleBar).status == f"only {scope.label}"
    part = k.source.view.total
    assert part is not None
    assert whole is not None
    assert 0 < part < whole / 2
    await k("app.steps")
    assert k.screen.query_one(TitleBar).status == f"not only {scope.label}"
    await k("app.timeline")
    await press(k.pilot, "escape")
    assert k.app.scope is None


@scenario("timeline.lines")
async def levels_of_nested_events(k: Keyboard) -> None:
    k.app.open(Path(demo_trace()).parent / "torch-ddp")
    await settle(k.pilot)
    await k("app.timeline")
    view = k.screen
    assert isinstance(view, TimelineScreen)
    assert view.timeline is not None
    few = len(view.rows)
    assert few <= view.chart.room[0], "as many levels as find room"
    row = view.rows[view.at]
    assert row.hidden > 0

    def levels() -> int:
        return sum(other.track == row.track for other in view.rows)

    assert levels() == len(view.timeline.lines(row.track)) - row.hidden
    await k("timeline.lines")
    assert levels() == len(view.timeline.lines(row.track))
    await k("timeline.lines")
    assert len(view.rows) == few
    await press(k.pilot, "r")
    assert k.app.rank is not None
    assert all(view.timeline.tracks[row.track].process == k.app.rank.process for row in view.rows)


# ----------------------------------------------------------------- tests --


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.run.__name__)
async def test_keys(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path / "own"))
    way = comparing() if case.compare else opened() if case.trace else started()
    async with way as pilot:
        keyboard = Keyboard(pilot)
        await case.run(keyboard)
        assert keyboard.used >= case.ids


def test_every_key_has_a_scenario() -> None:
    covered = frozenset[str]().union(*(case.ids for case in CASES))
    assert covered == {key.id for key in KEYS}


@pytest.mark.parametrize("place", ["tree", "table", "list", "strip"])
async def test_every_key_of_the_rows_is_bound(place: str) -> None:
    """All names of a key, not only the one the scenarios press."""
    view = {"tree": "2", "table": "3", "list": "1", "strip": "6"}[place]
    async with opened() as pilot:
        await press(pilot, view)
        active = app_of(pilot).screen.active_bindings
        for key in _at(place):
            for name in key.keys:
                assert active[_event_name(name)].binding.id == key.id


def _at(place: str) -> list[Key]:
    return [key for key in KEYS if place in key.places]


def _event_name(name: str) -> str:
    from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]

    return _character_to_key(name) if len(name) == 1 else name
