"""Time split, histogram, footer, filter, status, error and progress."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widget import Widget

from dctx.ingest.errors import TraceError
from dctx.ingest.progress import BytesRead
from dctx.tui.keys import bindings
from dctx.tui.widgets.error_panel import ErrorPanel
from dctx.tui.widgets.filter_input import FilterInput
from dctx.tui.widgets.histogram import PLOT_LINES, Distribution, HistogramView
from dctx.tui.widgets.key_footer import KeyFooter
from dctx.tui.widgets.progress_panel import ProgressPanel
from dctx.tui.widgets.split_bar import Split, SplitBar, share_cells
from dctx.tui.widgets.status_line import StatusLine
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.rows_app import ListTree


class OneWidget(App[None]):
    """Any one widget."""

    def __init__(self, make: Callable[[], Widget], *, ascii_only: bool = False) -> None:
        super().__init__()
        self.make = make
        self.ascii_only = ascii_only
        self.cancelled = 0

    def compose(self) -> ComposeResult:
        yield self.make()

    @on(ProgressPanel.CancelWanted)
    def count(self) -> None:
        self.cancelled += 1


def lines(widget: Widget) -> list[str]:
    """What the widget shows, line by line."""
    return [widget.render_line(y).text for y in range(widget.size.height)]


SPLITS = (
    Split("GPU 0", (441, 98, 46, 415), ("44.1 %", "9.8 %", "4.6 %", "41.5 %")),
    Split("GPU 1", (0, 0, 0, 0), ("n/a", "n/a", "n/a", "n/a"), "no work on this device"),
)


def test_bar_cells_sum_to_the_width() -> None:
    assert share_cells((441, 98, 46, 415), 20) == [9, 2, 1, 8]
    assert share_cells((1, 1, 1), 10) == [4, 3, 3]
    assert share_cells((0, 0, 0, 0), 10) == [0, 0, 0, 0]
    assert sum(share_cells((2**62, 3, 2**61, 1), 37)) == 37


async def test_split_bar_tells_classes_apart_without_colour() -> None:
    async with OneWidget(lambda: SplitBar(SPLITS)).run_test(size=(80, 10)) as pilot:
        header, first, second = lines(pilot.app.query_one(SplitBar))
        assert header.split()[:8] == ["█", "compute", "░", "comm", "▒", "copy", "·", "idle"]
        assert header.rstrip().endswith("together 100 % of the window")
        assert first.startswith("GPU 0     44.1 %")
        bar = first.split("%")[-1].strip()
        assert [bar.count(glyph) for glyph in "█░▒·"] == [14, 3, 2, 13]
        assert second.rstrip().endswith("no work on this device")


async def test_split_bar_in_ascii_and_narrow() -> None:
    app = OneWidget(lambda: SplitBar(SPLITS), ascii_only=True)
    async with app.run_test(size=(50, 10)) as pilot:
        shown = lines(pilot.app.query_one(SplitBar))
        assert all(line.isascii() and len(line) == 50 for line in shown)
        assert "41.5 %" in shown[1]


async def test_histogram_shows_every_bucket_that_holds_anything() -> None:
    counts = (1, 0, 50, 100, 2)
    data = Distribution(counts, "1.0 µs", "9.5 µs", "100", "p50 4.0 µs  p99 9.0 µs")
    async with OneWidget(HistogramView).run_test(size=(60, 12)) as pilot:
        view = pilot.app.query_one(HistogramView)
        assert lines(view) == []
        view.show(data)
        await pilot.pause()
        shown = lines(view)
        assert len(shown) == PLOT_LINES + 2
        assert [line[4:24].rstrip() for line in shown[:PLOT_LINES]] == [
            " " * 12 + "████",
            " " * 12 + "████",
            " " * 8 + "████████",
            "▁▁▁▁    ████████▁▁▁▁",
        ]
        assert shown[0].startswith("100 ")
        assert shown[PLOT_LINES].split() == ["0", "1.0", "µs", "──────", "9.5", "µs"]
        assert shown[-1].startswith("p50 4.0 µs")


class FooterApp(App[None]):
    """A tree under the keys of the call paths."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app", "paths")]

    def compose(self) -> ComposeResult:
        yield TreeTable(ListTree(10))
        yield FilterInput()
        yield KeyFooter("paths")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "open_source"


@pytest.mark.parametrize("width", [40, 60, 80, 200])
async def test_footer_fits_and_keeps_help_and_back(width: int) -> None:
    async with FooterApp().run_test(size=(width, 10)) as pilot:
        await pilot.pause()
        footer = pilot.app.query_one(KeyFooter)
        [line] = lines(footer)
        assert len(line) == width
        assert "? keys" in line
        assert "q back" in line
        assert "o source" not in line
        if width >= 80:
            assert "/ filter" in line
            assert "←→ fold" in line


async def test_footer_follows_the_focus_and_takes_clicks() -> None:
    async with FooterApp().run_test(size=(200, 10)) as pilot:
        await pilot.pause()
        footer = pilot.app.query_one(KeyFooter)
        tree = pilot.app.query_one(TreeTable)
        [line] = lines(footer)
        await pilot.click(KeyFooter, offset=(line.index("s sort"), 0))
        await pilot.pause()
        assert tree.choosing_order
        pilot.app.query_one(FilterInput).focus()
        await pilot.pause()
        assert [item.text for item in footer.shown_now()] == ["keep", "clear"]


async def test_footer_names_rebound_keys_and_status() -> None:
    async with FooterApp().run_test(size=(250, 10)) as pilot:
        pilot.app.set_keymap({"paths.hot_path": "x"})
        footer = pilot.app.query_one(KeyFooter)
        footer.status = "1.31 M kernels"
        await pilot.pause()
        [line] = lines(footer)
        assert "x hot path" in line
        assert line.endswith("1.31 M kernels ")


class FilterApp(App[None]):
    """A filter that records what it posts."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield FilterInput("name")

    @on(FilterInput.Changed)
    def changed(self, message: FilterInput.Changed) -> None:
        self.told.append(message.value)

    @on(FilterInput.Accepted)
    def accepted(self) -> None:
        self.told.append("accepted")

    @on(FilterInput.Cleared)
    def cleared(self) -> None:
        self.told.append("cleared")


async def test_filter_keeps_on_enter_and_clears_on_escape() -> None:
    app = FilterApp()
    async with app.run_test(size=(60, 5)) as pilot:
        field = app.query_one(FilterInput)
        assert field.size.height == 1
        await pilot.press("g", "q")
        await pilot.press("enter")
        assert app.told == ["g", "gq", "accepted"]
        await pilot.press("escape")
        await pilot.pause()
        assert field.value == ""
        assert sorted(app.told[3:]) == ["", "cleared"]


async def test_status_line_shortens_the_left() -> None:
    async with OneWidget(StatusLine).run_test(size=(30, 3)) as pilot:
        line = pilot.app.query_one(StatusLine)
        line.left = "Call paths of a very long selection"
        line.right = "row 3 of 12"
        await pilot.pause()
        assert lines(line) == ["Call paths …ection row 3 of 12"]


ERROR = TraceError(
    Path("/data/[a]/trace.sqlite"),
    "is cut off after 3 of 10 pages.",
    "Export it again, or open it with --salvage.",
    "table CUPTI_ACTIVITY_KIND_KERNEL, page 4",
)


async def test_error_panel_says_what_where_and_what_to_do() -> None:
    async with OneWidget(ErrorPanel).run_test(size=(40, 24)) as pilot:
        panel = pilot.app.query_one(ErrorPanel)
        panel.show(ERROR)
        panel.focus()
        await pilot.pause()
        text = " ".join(" ".join(lines(panel)).split())
        for part in ("/data/[a]/trace.sqlite", "page 4", "cut off after", "with --salvage."):
            assert part in text
        await pilot.press("y")
        assert pilot.app.clipboard == ERROR.paragraph()


async def test_progress_is_drawn_when_told_and_can_be_cancelled() -> None:
    now = [100.0]
    app = OneWidget(lambda: ProgressPanel(clock=lambda: now[0]))
    async with app.run_test(size=(60, 10)) as pilot:
        panel = app.query_one(ProgressPanel)
        now[0] = 102.5
        panel.update("reading kernels", 0.5)
        await pilot.pause()
        text = "\n".join(lines(panel))
        assert "reading kernels" in text
        assert "█" * 20 + " " in text
        assert "50 %" in text
        assert "2.5 s   esc cancels" in text
        panel.update("reading a pipe", BytesRead(3 << 20, 2048))
        await pilot.pause()
        text = "\n".join(lines(panel))
        assert "3.00 MiB, 2.00 KiB/s" in text
        assert "%" not in text
        assert "█" not in text
        panel.focus()
        await pilot.press("escape")
        assert app.cancelled == 1


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_every_style_of_the_rows_can_be_read(theme: str) -> None:
    """Text and background differ in lightness; the terminal's own colours are left alone."""
    app = OneWidget(lambda: TreeTable(ListTree(10)))
    app.theme = theme
    async with app.run_test(size=(60, 10)):
        view = app.query_one(TreeTable)
        for name in view.COMPONENT_CLASSES:
            style = view.style_named(name)
            text, ground = style.color, style.bgcolor
            assert text is not None
            assert ground is not None
            if theme.startswith("ansi"):
                assert text.triplet is None
                continue
            assert text.triplet is not None
            assert ground.triplet is not None
            lightness = [sum(colour) / 765 for colour in (text.triplet, ground.triplet)]
            assert abs(lightness[0] - lightness[1]) > 0.25, name


async def test_cursor_is_seen_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = OneWidget(lambda: TreeTable(ListTree(10)))
    app.theme = "ansi-dark"
    async with app.run_test(size=(60, 10)):
        view = app.query_one(TreeTable)
        assert view.style_named("rows--cursor").reverse
        assert lines(view)[1].startswith("▌")
