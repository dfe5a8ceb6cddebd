"""The verdict on the Overview and the Steps view: states, choices, and where the rows lead."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from dctx.demo_data.nsys_export import ExportWriter
from dctx.ingest.registry import open_trace
from dctx.queries.scope import TimeScope
from dctx.reports.verdict_card import Lead, VerdictCard
from dctx.tui.app import DctxApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading, StepPatterns
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.screens.overview_verdict import COMPUTING, READING, STOPPED
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.steps import StepsScreen
from dctx.tui.session import Session
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.step_strip import StepStrip
from dctx.tui.widgets.title_bar import TitleBar
from dctx.tui.widgets.verdict_view import VerdictView
from tests.tui.app_support import AppPilot, app_of, demo_app, opened, press, settle, until
from tests.tui.test_app_states import nvtx_only

TIMEOUT_S = 60.0


def text_of(pilot: AppPilot, selector: str) -> str:
    return str(app_of(pilot).screen.query_one(selector, Static).render())


def card_of(pilot: AppPilot) -> VerdictView:
    return app_of(pilot).screen.query_one(VerdictView)


def screen_text(pilot: AppPilot) -> str:
    """What the terminal shows."""
    lines = app_of(pilot).screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return "\n".join(line.text for line in lines)


def rows_of(pilot: AppPilot, name: str) -> RowList:
    return app_of(pilot).screen.query_one(f"#{name}", RowList)


# --------------------------------------------------------------------- card --


async def test_the_card_tells_answer_evidence_and_next_step() -> None:
    async with opened(size=(80, 24)) as pilot:
        shown = screen_text(pilot)
        assert " YES  the GPUs wait for the host: idle (no kernel running)" in shown
        assert "GPU idle          81.2 %  > 30 %  ▲ severe" in shown
        assert "Next: start with _prepare_inputs" in shown
        await press(pilot, "enter")
        app = app_of(pilot)
        assert isinstance(app.screen, PathsScreen)
        line = app.screen.table.cursor_line
        assert line is not None
        assert line.label == "_prepare_inputs"
        await press(pilot, "q")
        assert isinstance(app.screen, OverviewScreen)


async def test_every_size_shows_the_whole_table() -> None:
    async with opened(size=(250, 70)) as pilot:
        for size in ((250, 70), (160, 45), (120, 32), (100, 30), (80, 24), (60, 20)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            shown = screen_text(pilot)
            assert "81.2 %" in shown, size
            assert ("generation  " in shown or "79.8 %" in shown) == (size[0] >= 80), size


async def test_judging_waits_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path))
    go_on = threading.Event()
    card = Session.card

    def slow(self: Session, *question: Any) -> VerdictCard:
        go_on.wait(TIMEOUT_S)
        return card(self, *question)

    monkeypatch.setattr(Session, "card", slow)
    try:
        async with demo_app().run_test(size=(80, 24)) as pilot:
            app = app_of(pilot)
            await until(pilot, lambda: app.load_state.ended and card_of(pilot).said == COMPUTING)
            await until(pilot, lambda: bool(rows_of(pilot, "kernels").rows))
            assert "esc stops" in screen_text(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: card_of(pilot).said == STOPPED)
            assert app.is_running
            go_on.set()
            await settle(pilot)
            assert card_of(pilot).card is None, "nobody wants it any more"
            await press(pilot, "w")
            shown = card_of(pilot).card
            assert shown is not None
            assert shown.window_kind == "auto"
    finally:
        go_on.set()


async def test_before_the_events_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path))
    go_on, told = threading.Event(), threading.Event()

    def slow(*arguments: object, **options: object) -> object:
        store = open_trace(*arguments, **options)  # type: ignore[arg-type]
        told.set()
        go_on.wait(TIMEOUT_S)
        return store

    monkeypatch.setattr("dctx.ingest.registry.open_trace", slow)
    try:
        async with demo_app().run_test(size=(80, 24)) as pilot:
            app = app_of(pilot)
            await until(pilot, lambda: told.is_set() and app.session is not None)
            await until(pilot, lambda: card_of(pilot).said == READING)
            assert not app.load_state.complete
            await pilot.press("w")
            await pilot.press("6")
            await until(pilot, lambda: "as soon as the events are read" in text_of(pilot, "#about"))
            go_on.set()
            await settle(pilot)
            assert "230 steps" in text_of(pilot, "#about")
    finally:
        go_on.set()


async def test_without_kernels_nothing_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "host.sqlite"
    nvtx_only(path)
    async with opened(path, size=(80, 24)) as pilot:
        assert not app_of(pilot).screen.query_one("#top").display
        assert isinstance(app_of(pilot).focused, RowList)
        assert "No GPU work was recorded" in screen_text(pilot)
        await press(pilot, "6")
        about = text_of(pilot, "#about")
        assert "10 steps" in about or "No steps" in about
        assert "no single kernel was recorded" in rows_of(pilot, "idle").rows[0].label


async def test_without_steps_it_says_why_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "kernels.sqlite"
    some_kernels(path)
    async with opened(path, size=(120, 40)) as pilot:
        card = card_of(pilot).card
        assert card is not None
        assert card.steps is None
        assert not app_of(pilot).screen.query_one("#strip-box").display
        await press(pilot, "w")
        card = card_of(pilot).card
        assert card is not None
        assert card.window_kind == "trace", "the steady state of no steps is passed over"
        await press(pilot, "6")
        about = text_of(pilot, "#about")
        assert about.startswith("No steps: ")
        assert "--step-regex" in about
        assert not app_of(pilot).screen.query_one("#strip-box").display
        assert rows_of(pilot, "idle").rows
        assert rows_of(pilot, "gaps").rows
        await press(pilot, "down", "enter")
        assert isinstance(app_of(pilot).screen, PathsScreen | KernelsScreen)


async def test_a_pattern_finds_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "kernels.sqlite"
    some_kernels(path)
    loading = Loading(path, patterns=StepPatterns(step_regex=r"my_turn (?P<step>\d+)"))
    loading.start()
    async with DctxApp(loading).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        assert "12 steps" in text_of(pilot, "#about")


def some_kernels(path: Path) -> None:
    """12 kernels of 60 µs, 1 ms apart, in ranges nobody knows."""
    from dctx.demo_data.nsys_export import global_pid, global_tid

    with ExportWriter(path) as export:
        export.describe("2025.1.1", "3.18.0")
        for i in range(12):
            start = 1_000_000 * (i + 1)
            export.add(
                "NVTX_EVENTS",
                start=start,
                end=start + 500_000,
                eventType=59,
                text=f"my_turn {i}",
                globalTid=global_tid(1, 1),
            )
            export.add(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                start=start + 10_000,
                end=start + 20_000,
                globalTid=global_tid(1, 1),
                correlationId=i + 1,
                nameId="cudaLaunchKernel_v7000",
                eventClass=0,
            )
            export.add(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                start=start + 30_000,
                end=start + 90_000,
                deviceId=0,
                contextId=1,
                streamId=7,
                globalPid=global_pid(1),
                correlationId=i + 1,
                shortName="gemm",
                demangledName="gemm",
            )


# -------------------------------------------------------------------- steps --


async def test_every_row_of_the_steps_view_leads_on() -> None:
    async with opened(size=(160, 45)) as pilot:
        app = app_of(pilot)
        for name in ("phases", "idle", "gaps", "largest", "costs", "operations", "calls", "work"):
            await press(pilot, "6")
            rows = rows_of(pilot, name)
            assert rows.rows, name
            assert all(row.target is not None for row in rows.rows), name
            rows.focus()
            await press(pilot, "enter")
            assert isinstance(app.screen, PathsScreen | KernelsScreen), name
            await press(pilot, "q")
            assert isinstance(app.screen, StepsScreen), name


async def test_an_operation_leads_to_its_call_path() -> None:
    async with opened(size=(160, 45)) as pilot:
        await press(pilot, "6")
        rows = rows_of(pilot, "operations")
        rows.focus()
        label = rows.rows[0].label
        await press(pilot, "enter")
        screen = app_of(pilot).screen
        assert isinstance(screen, PathsScreen)
        line = screen.table.cursor_line
        assert line is not None
        assert line.label == label


async def test_the_cursor_goes_through_strip_and_panels() -> None:
    async with opened(size=(80, 24)) as pilot:
        await press(pilot, "6")
        app = app_of(pilot)
        assert isinstance(app.focused, StepStrip)
        await press(pilot, "down")
        assert rows_of(pilot, "phases").has_focus
        await press(pilot, *["down"] * 8)
        assert rows_of(pilot, "idle").has_focus
        row = rows_of(pilot, "idle").cursor_row
        assert row is not None
        assert row.label[:20] in screen_text(pilot), "the row under the cursor is in sight"
        await press(pilot, *["up"] * 20)
        assert isinstance(app.focused, StepStrip)


async def test_chosen_steps_limit_paths_and_kernels() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await press(pilot, "3")
        kernels = app.screen
        assert isinstance(kernels, KernelsScreen)
        whole = kernels.table.cursor_row
        await press(pilot, "6", "pagedown", "pagedown", "enter")
        scope = app.scope
        assert isinstance(scope, TimeScope)
        assert scope.label in app.screen.query_one(TitleBar).status
        assert f"only {scope.label}" in text_of(pilot, "#about")
        await press(pilot, "3")
        assert kernels.table.cursor_row != whole
        assert "those of the whole trace" in screen_text(pilot)
        assert f"only {scope.label}" in screen_text(pilot)
        await press(pilot, "1")
        assert app.screen.query_one(TitleBar).status == f"only {scope.label}"
        assert f"Only {scope.label}" in screen_text(pilot), "the card is of them too"
        await press(pilot, "M")
        assert app.screen.query_one(TitleBar).status == f"not only {scope.label}"
        await press(pilot, "2", "x")
        assert app.scope is None
        await press(pilot, "3")
        assert kernels.table.cursor_row == whole


async def test_another_trace_is_seen_whole(tmp_path: Path) -> None:
    path = tmp_path / "kernels.sqlite"
    some_kernels(path)
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await press(pilot, "w", "6", "enter")
        assert app.scope is not None
        app.open(path)
        await settle(pilot)
        assert app.scope is None
        assert app.window == "auto"
        app.open(demo_trace())
        await settle(pilot)
        await press(pilot, "6")
        assert "230 steps" in text_of(pilot, "#about")


async def test_ascii_strip_is_ascii() -> None:
    async with demo_app(ascii_only=True).run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "right", "space", "right")
        strip = app_of(pilot).screen.query_one(StepStrip)
        assert all(strip.render_line(y).text.isascii() for y in range(5))
        bars = [row.figures for row in rows_of(pilot, "gaps").rows]
        assert all("█" not in text and "▏" not in text for text in bars)


async def test_another_window_keeps_the_chosen_steps() -> None:
    async with opened(size=(120, 32)) as pilot:
        app = app_of(pilot)
        await press(pilot, "6", "right", "enter")
        scope = app.scope
        assert scope is not None
        await press(pilot, "w")
        assert app.window == "steady"
        assert app.scope == scope
        assert f"only {scope.label}" in text_of(pilot, "#about")
        assert any(f"still show only {scope.label}" in n.message for n in app._notifications)  # pyright: ignore[reportPrivateUsage]
        await press(pilot, "x")
        assert "window steady" in text_of(pilot, "#about")


async def test_a_rank_scopes_card_and_steps() -> None:
    async with opened(size=(120, 45)) as pilot:
        app = app_of(pilot)
        title = app.screen.query_one(TitleBar)
        assert title.rank == "all 2 ranks"
        every = card_of(pilot).card
        await press(pilot, "r")
        assert app.rank is not None
        assert title.rank == f"only {app.rank.label}"
        assert f"Only {app.rank.label}" in screen_text(pilot)
        own = card_of(pilot).card
        assert every is not None
        assert own is not None
        assert own.signals != every.signals
        await press(pilot, "6")
        assert app.rank.label in app.screen.query_one(TitleBar).rank
        assert f"Steps of {app.rank.label}" in screen_text(pilot)
        idle = rows_of(pilot, "idle").rows[-1].figures
        await press(pilot, "r")
        assert rows_of(pilot, "idle").rows[-1].figures != idle
        rows_of(pilot, "idle").focus()
        rank = app.rank
        await press(pilot, "enter")
        assert isinstance(app.screen, PathsScreen)
        assert app.rank == rank, "a row of a rank leads to a path of that rank"


async def test_rows_lead_to_the_path_or_the_kernel_behind_them() -> None:
    async with opened(size=(160, 45)) as pilot:
        for name in ("phases", "idle", "gaps", "largest", "costs", "operations", "calls", "work"):
            await press(pilot, "6")
            for row in rows_of(pilot, name).rows:
                assert isinstance(row.target, Lead)
                more = row.label.endswith(" more")
                empty = "  0      0 ns" in row.figures
                known = row.target.node is not None or row.target.op is not None
                assert known or more or empty, (name, row.label)


async def test_gpu_work_of_a_step_leads_to_the_kernel() -> None:
    async with opened(size=(160, 45)) as pilot:
        app = app_of(pilot)
        await press(pilot, "6")
        rows = rows_of(pilot, "work")
        kernel = next(row for row in rows.rows if row.label == "reduce_kernel")
        copy = next(row for row in rows.rows if row.label == "memcpy HtoD")
        for row in (kernel, copy):
            await press(pilot, "6")
            rows.focus()
            rows.move_to(rows.rows.index(row))
            await press(pilot, "enter")
            assert isinstance(app.screen, KernelsScreen)
            assert app.screen.table.cursor_row is not None
            names = [cell.removesuffix(" (copy)") for cell in app.screen.table.cursor_row.cells]
            assert row.label in names, "copies come in sight too"


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (39, 24), (80, 9)])
async def test_too_small_says_so_and_recovers(size: tuple[int, int]) -> None:
    async with opened(size=(80, 24)) as pilot:
        await pilot.resize_terminal(*size)
        await settle(pilot)
        shown = " ".join(screen_text(pilot).split())
        assert "Terminal" in shown
        assert "Does the host" not in shown
        if size != (10, 3):
            assert shown == "Terminal too small: dctx needs 40 columns, 10 lines."
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "Does the host hold the GPUs up?" in screen_text(pilot)
