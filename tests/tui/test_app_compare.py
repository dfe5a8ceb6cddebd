"""The Compare view in the application: two traces, every key of its own, and what may go wrong."""

import csv
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from textual.widgets import Static

from dctx.analyzers.compare_order import Order
from dctx.queries.metric import Metric
from dctx.tui.demo import demo_trace
from dctx.tui.screens.compare import CompareScreen
from dctx.tui.screens.compare_figures import FigureSource
from dctx.tui.screens.compare_parts import FIGURES, PARTS
from dctx.tui.screens.compare_source import CompareSource
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.widgets.error_panel import ErrorPanel
from dctx.tui.widgets.flame_graph import FlameGraph
from dctx.tui.widgets.head_lines import HeadLines
from dctx.tui.widgets.pair_histogram import PairHistogramView
from dctx.tui.widgets.side_tree import SideTree
from dctx.tui.widgets.status_line import StatusLine
from tests.near import near
from tests.tui.app_support import (
    AppPilot,
    app_of,
    comparing,
    demo_base,
    opened,
    press,
    settle,
)

PLANTED = (
    "Request handling takes",
    "launched kernels per step",
    "New work in each step",
)
"""What demo_data/truth.json calls request-management, launch-count, new-bookkeeping, in order."""
CHANGED = {
    "_process_requests": -666.3,
    "_sample_async": -442.7,
    "_update_requests": 310.2,
    "broadcast_requests": 249.6,
    "_fetch_new_requests": 234.0,
    "prepare_resources": 156.2,
}
"""µs per step, from the per-step times that demo_data/truth.json was made with."""


@asynccontextmanager
async def compared(
    size: tuple[int, int] = (120, 40), base: Path | None = None, target: Path | None = None
) -> AsyncGenerator[tuple[AppPilot, CompareScreen], None]:
    """The application on two traces, compared and at rest."""
    async with comparing(base, target, size) as pilot:
        screen = app_of(pilot).screen
        assert isinstance(screen, CompareScreen)
        yield pilot, screen


async def find(pilot: AppPilot, text: str, *keys: str) -> None:
    """Filter by a text, accept it, then press keys."""
    await pilot.press("slash", *text, "enter")
    await settle(pilot)
    await press(pilot, *keys)


def source_of(screen: CompareScreen) -> CompareSource:
    source = screen.source
    assert source is not None
    return source


def name_at_cursor(screen: CompareScreen) -> str:
    line = screen.table.cursor_line
    assert line is not None
    return line.label


def shown_rows(screen: CompareScreen) -> dict[str, tuple[str, ...]]:
    """By name: the cells of the rows in sight."""
    source = screen.table.source
    return {line.label: tuple(line.cells) for line in source.rows(0, source.row_count())}


async def test_the_first_screen_names_the_planted_causes_in_order() -> None:
    async with compared((80, 24)) as (_, screen):
        head = screen.query_one(HeadLines)
        assert head.size.height == 8  # all of them, whole, at the smallest size
        assert head.lines[0].startswith("+19.9 % per step (3,317.4 → 3,977.7 µs")
        assert "inter-step host overhead, 75 %" in head.lines[1]
        assert head.lines[2].startswith(
            "Slower or new, per step: _update_requests +310.2 µs, broadcast_requests +249.6 µs, "
            "_fetch_new_requests +234.0 µs"
        )
        for line, planted in zip(head.lines[3:6], PLANTED, strict=True):
            assert planted in line
        source = screen.table.source
        rows = source.rows(0, source.row_count())  # as far as the tree is unfolded
        changes = {line.label: float(line.cells[0].replace(",", "")) for line in rows}
        for name, planted_us in CHANGED.items():
            assert changes[name] == near(planted_us, abs=0.05), name


async def test_changes_one_by_one_the_largest_first() -> None:
    async with compared() as (pilot, screen):
        await press(pilot, "C")
        names: list[str] = []
        for _ in range(6):
            await press(pilot, "]")
            names.append(name_at_cursor(screen))
        delta = source_of(screen).view.change.delta
        found = [source_of(screen).view.sides.names.index(name) for name in names]
        sizes = np.abs(delta[found])
        assert list(sizes) == sorted(sizes, reverse=True)
        assert names[0] == "_process_requests"
        await press(pilot, "[")
        assert name_at_cursor(screen) == names[-2]


async def test_swapping_turns_every_sign() -> None:
    async with compared() as (pilot, screen):
        await press(pilot, "E")
        before = shown_rows(screen)
        await press(pilot, "tab")
        after = shown_rows(screen)
        head = screen.query_one(HeadLines).lines
        assert head[0].startswith("-16.6 % per step (3,977.7 → 3,317.4 µs")
        assert head[1].startswith("Improved")
        turned = str.maketrans("+-▲▼", "-+▼▲")
        # A row that both have under other names is called by the target's: these have the same.
        common = before.keys() & after.keys()
        assert len(common) > 50
        for name in common:
            assert after[name][:2] == tuple(cell.translate(turned) for cell in before[name][:2])
            assert after[name][-2:] == before[name][-2:][::-1]
        await press(pilot, "tab")
        assert shown_rows(screen) == before


async def test_a_trace_with_itself_changes_nothing() -> None:
    async with compared(target=demo_base()) as (pilot, screen):
        assert "0.0 %" in screen.query_one(HeadLines).lines[0]
        for _, _, title in PARTS[:-1]:
            await press(pilot, next(key for key, _, part in PARTS if part == title))
            source = screen.source
            if source is None:  # neither trace has operators
                continue
            view = source.view
            for metric in view.sides.metrics:
                assert not view.sides.metrics[metric].delta.any(), (title, metric)
            assert not view.changes()
            assert {line.cells[1] for line in source.rows(0, 500)} == {""}
        await press(pilot, "T")
        assert {cells[0] for cells in shown_rows(screen).values()} <= {"0", ""}
        await press(pilot, "P", "]")
        assert "No change is larger" in list(app_of(pilot)._notifications)[-1].message  # pyright: ignore[reportPrivateUsage]
        await press(pilot, "a")
        assert screen.table.row_count == 0
        assert "a shows all rows again" in screen.table.empty_text


async def test_noise_can_be_hidden_and_is_marked_without_colour() -> None:
    async with compared() as (pilot, screen):
        await press(pilot, "E")
        rows = screen.table.source.rows(0, 1000)
        view = source_of(screen).view
        for line in rows:
            row = view.row_at_node(line.node)
            assert line.dim == (row.within_noise is True or row.delta == 0)
            assert (line.cells[1] == "≈") == bool(row.within_noise and row.delta)
        await press(pilot, "a")
        kept = [view.row_at_node(line.node) for line in screen.table.source.rows(0, 1000)]
        below = set(view.sides.parent[[row.node for row in kept]].tolist())
        assert 0 < len(kept) < len(rows)
        # What is kept changed beyond chance, or something below it did.
        assert all(not row.within_noise or row.node in below for row in kept)
        await press(pilot, "a")
        assert screen.table.row_count > len(kept)  # all again; what was hidden comes back folded


async def test_relative_changes() -> None:
    async with compared() as (pilot, screen):
        await press(pilot, "K")
        await press(pilot, "d")
        rows = shown_rows(screen)
        assert rows["vectorized_elementwise_kernel"][:3] == ("+183.1 %", "▲", "x2.83")
        assert source_of(screen).view.order is Order.PERCENT
        # What is new is beyond any percentage, then the others by theirs.
        assert list(rows)[:3] == [
            *("DeviceScanKernel", "index_elementwise_kernel", "vectorized_elementwise_kernel"),
        ]
        await press(pilot, "d")
        assert shown_rows(screen)["vectorized_elementwise_kernel"][0] == "+20.0"
        assert source_of(screen).view.order is Order.DELTA


async def test_metrics_sort_and_filter() -> None:
    async with compared() as (pilot, screen):
        view = source_of(screen).view
        assert view.metric is Metric.HOST
        seen = [view.metric]
        for _ in range(len(view.sides.metrics) - 1):
            await press(pilot, "m")
            seen.append(view.metric)
        assert set(seen) == set(view.sides.metrics)
        await press(pilot, "m")
        assert view.metric is Metric.HOST
        await press(pilot, "s", "s")  # the next column: the base
        assert view.order is Order.BASE
        await press(pilot, "escape", "S")
        assert not view.descending
        await find(pilot, "requests")
        assert "requests" in name_at_cursor(screen)
        first = screen.table.cursor
        await press(pilot, "n")
        assert screen.table.cursor != first
        await press(pilot, "N")
        assert screen.table.cursor == first
        assert "match “requests”" in screen.query_one("#compare-status", StatusLine).left
        await press(pilot, "escape")
        assert not view.filter_text


async def test_every_table_has_its_key() -> None:
    async with compared() as (pilot, screen):
        for key, name, title in PARTS:
            await press(pilot, key)
            assert f"[{name}]" in screen.query_one("#compare-parts", StatusLine).left
            assert screen.focused is screen.table
            source = screen.table.source
            if title == FIGURES:
                assert isinstance(source, FigureSource)
                assert shown_rows(screen)["wall time"][2] == "+19.9 %"
                rows = screen.table.row_count
                await press(pilot, "space")
                assert screen.table.row_count == rows - 4  # its quantiles
            elif title == "Operations by name":
                assert "neither trace has operators" in screen.table.empty_text
            else:
                assert source_of(screen).view.sides is screen.pair.found().parts[title]  # type: ignore[union-attr]


async def test_the_detail_tells_both_sides() -> None:
    async with compared() as (pilot, screen):
        await find(pilot, "_fetch_new")
        heading = str(screen.query_one("#pair-heading", Static).content)
        assert heading.startswith("python3 (101) > python3 (main thread 101) > _fetch_new_requests")
        steps = screen.query_one("#pair-steps", PairHistogramView).shown
        assert steps is not None
        # 199 steps on each of two ranks.
        assert sum(steps.base) == sum(steps.target) == 398
        assert steps.base_figures.startswith("mean 36.4 µs")
        assert steps.target_figures.startswith("mean 270 µs")
        await press(pilot, "v")
        assert not screen.detail_shown


async def test_rows_lead_into_the_target() -> None:
    async with compared() as (pilot, screen):
        await find(pilot, "broadcast_req", "enter")
        paths = app_of(pilot).screen
        assert isinstance(paths, PathsScreen)
        assert paths.table.cursor_line is not None
        assert paths.table.cursor_line.label == "broadcast_requests"
        await press(pilot, "q")
        assert app_of(pilot).screen is screen
        await press(pilot, "escape", "K", "enter")
        kernels = app_of(pilot).screen
        assert isinstance(kernels, KernelsScreen)
        assert kernels.table.cursor_row is not None
        assert "vectorized_elementwise_kernel" in kernels.table.cursor_row.cells


async def test_the_flame_graph() -> None:
    async with compared() as (pilot, screen):
        await find(pilot, "_update_req", "escape", "f")
        graph = screen.query_one(FlameGraph)
        names = source_of(screen).view.sides.names
        assert graph.has_focus
        assert names[graph.cursor] == "_update_requests"
        assert graph.source.label(graph.cursor).startswith("▲")
        assert graph.source.kind(graph.cursor) == "more"
        await press(pilot, "enter")
        assert graph.zoom == graph.cursor
        await press(pilot, "escape")
        assert graph.zoom != graph.cursor
        await press(pilot, "home", "up")
        assert names[graph.cursor] == "python3 (main thread 101)"
        await press(pilot, "down", "left", "right")
        line = screen.query_one("#compare-status", StatusLine).left
        assert names[graph.cursor] in line
        await press(pilot, "tab")
        assert source_of(screen).view.swapped
        await press(pilot, "f")
        assert screen.table.has_focus
        assert screen.table.cursor_node == graph.cursor


async def test_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with compared() as (pilot, _):
        await press(pilot, "R", "e")
        assert isinstance(app_of(pilot).screen, PromptScreen)
        await press(pilot, "enter")
        lines = (tmp_path / "llama-1b-main-compare.csv").read_text(encoding="utf-8").splitlines()
        row = {row["name"]: row for row in csv.DictReader(lines)}["_fetch_new_requests"]
        assert float(row["base_host_ns_per_step"]) == near(36_400)
        assert float(row["change_host_ns_per_step"]) == near(234_000)
        assert row["status"] == "REGRESSION"
        await press(pilot, "T", "e")
        await pilot.press(*["backspace"] * 11, *"steps.csv", "enter")
        await settle(pilot)
        [steps] = tmp_path.glob("*steps.csv")
        rows = list(csv.DictReader(steps.read_text(encoding="utf-8").splitlines()))
        assert float(rows[0]["change"]) == near(660_277, abs=1)


async def test_two_trees_from_160_columns_on() -> None:
    async with compared((160, 45)) as (pilot, screen):
        table = screen.query_one(SideTree)
        assert table.two_trees
        await find(pilot, "broadcast")
        line = table.line(table.cursor)
        assert line is not None
        pieces, _ = table.row_pieces(table.cursor, table.layout_now)
        text = "".join(piece.text for piece in pieces)
        assert len(text) == table.layout_now.width
        # The base has no such row: its half is empty.
        assert text.split("new")[0].strip().startswith("-")
        assert text.rstrip().endswith("broadcast_requests")
        await pilot.resize_terminal(159, 45)
        await settle(pilot)
        assert not table.two_trees


async def test_without_a_base_the_view_says_how_to_choose_one(tmp_path: Path) -> None:
    async with opened(size=(80, 24)) as pilot:
        await press(pilot, "8")
        screen = app_of(pilot).screen
        assert isinstance(screen, CompareScreen)
        message = screen.query_one("#compare-message", Static)
        assert "dctx-tui BASE TARGET" in str(message.content)
        await press(pilot, "B")
        await pilot.press(*"nothing.sqlite", "enter")
        assert isinstance(app_of(pilot).screen, PromptScreen)
        await pilot.press(*["backspace"] * 14, *str(demo_base()), "enter")
        await settle(pilot)
        assert not message.display
        assert screen.query_one(HeadLines).lines[0].startswith("+19.9 %")


async def test_a_base_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.touch()
    async with compared(base=broken) as (pilot, screen):
        panel = screen.query_one(ErrorPanel)
        assert panel.error is not None
        assert "broken.sqlite" in panel.error.path
        assert not screen.query("#pair-tree")
        broken.write_bytes(demo_base().read_bytes())
        await press(pilot, "r")
        await settle(pilot)
        assert screen.query_one(HeadLines).lines[0].startswith("+19.9 %")
        assert not screen.query(ErrorPanel)
        await press(pilot, "1", "8")
        assert screen.table.has_focus


async def test_reading_the_base_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(size=(80, 24)) as pilot:
        await press(pilot, "8")
        app, screen = app_of(pilot), app_of(pilot).screen
        app.compare_with(demo_base())
        assert app.base is not None
        app.base.cancel()
        await settle(pilot)
        if app.base_state.cancelled:  # else it was faster
            assert isinstance(screen, CompareScreen)
            message = screen.query_one("#compare-message", Static)
            assert "was stopped" in str(message.content)
        assert demo_trace().exists()
