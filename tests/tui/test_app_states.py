"""What the application shows for bad input, for traces without GPU work, and at any size."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Static

from dctx.demo_data.nsys_export import ExportWriter, global_tid
from dctx.reports.exit_codes import ExitCode
from dctx.tui.demo import demo_trace
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.widgets.error_panel import ErrorPanel
from dctx.tui.widgets.row_list import RowList
from tests.tui.app_support import app_of, demo_app, opened, press, settle, until

MakeFile = Callable[[Path], None]


def not_sqlite(path: Path) -> None:
    path.write_text("this is a text, not a trace\n" * 100)


def other_tables(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE accounts (name TEXT)")
    connection.commit()
    connection.close()


def cut(path: Path) -> None:
    whole = demo_trace().read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def zeros(path: Path) -> None:
    path.write_bytes(bytes(4096))


BAD: dict[str, MakeFile] = {
    "empty": lambda path: path.touch(),
    "zeros": zeros,
    "not-sqlite": not_sqlite,
    "other-tables": other_tables,
    "cut": cut,
    "directory": lambda path: path.mkdir(),
    "missing": lambda path: None,
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
async def test_bad_input_is_told_in_place(make: MakeFile, tmp_path: Path) -> None:
    path = tmp_path / "bad.sqlite"
    make(path)
    async with demo_app(path).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app = app_of(pilot)
        panel = app.screen.query_one(ErrorPanel)
        assert panel.display
        assert panel.error is not None
        assert str(path) == panel.error.path
        assert panel.error.what
        assert panel.error.remedy
        await press(pilot, "2", "3", "q")
        assert app.return_code == ExitCode.USAGE


def nvtx_only(path: Path) -> None:
    with ExportWriter(path) as export:
        export.describe("2025.1.1", "3.18.0")
        for start in range(10):
            export.add(
                "NVTX_EVENTS",
                start=start * 1000,
                end=start * 1000 + 800,
                eventType=59,
                text=f"step {start}",
                globalTid=global_tid(42, 42),
            )


async def test_a_trace_without_gpu_work_says_so_and_shows_the_host(tmp_path: Path) -> None:
    path = tmp_path / "host.sqlite"
    nvtx_only(path)
    async with opened(path, size=(80, 24)) as pilot:
        app = app_of(pilot)
        advice = app.screen.query_one("#advice", Static)
        assert advice.display
        assert "No GPU work was recorded" in str(advice.render())
        assert not app.screen.query_one("#kernels", RowList).display
        await press(pilot, "2")
        screen = app.screen
        assert isinstance(screen, PathsScreen)
        assert "host" in screen.table.render_line(0).text
        await press(pilot, "E")
        names = {
            line.label for n in range(screen.table.row_count) if (line := screen.table.line(n))
        }
        assert "step #" in names
        await press(pilot, "3")
        assert isinstance(app.screen, KernelsScreen)
        assert app.screen.table.row_count == 0
        shown = "".join(app.screen.table.render_line(y).text for y in range(1, 10))
        assert "No GPU work was recorded" in shown
        assert "2 Call paths has the host time" in shown
        await press(pilot, "down", "enter", "s", "s", "/", "x", "escape", "v", "c")


@pytest.mark.parametrize("view", ["1", "2", "3"])
async def test_resizing_at_any_time(view: str) -> None:
    async with opened() as pilot:
        await press(pilot, view)
        for size in ((80, 24), (39, 9), (10, 3), (2, 1), (250, 70), (40, 10), (100, 24), (160, 45)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            small = size[0] < 40 or size[1] < 10
            assert app_of(pilot).screen.query_one("#too-small").display is small
        await press(pilot, "down", "up")


async def test_opening_another_trace_forgets_the_first(tmp_path: Path) -> None:
    path = tmp_path / "host.sqlite"
    nvtx_only(path)
    async with opened() as pilot:
        await press(pilot, "2", "z")
        app = app_of(pilot)
        app.open(path)
        await settle(pilot)
        await press(pilot, "2")
        screen = app.screen
        assert isinstance(screen, PathsScreen)
        line = screen.table.line(0)
        assert line is not None
        assert line.label == "host.sqlite"


async def test_an_internal_fault_is_one_paragraph_and_exit_70() -> None:
    app = demo_app()
    reached: list[bool] = []

    def fault() -> None:
        reached.append(True)
        raise ZeroDivisionError

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            app.call_later(fault)
            await until(pilot, lambda: bool(reached))

    with pytest.raises(ZeroDivisionError):
        await run()
    assert app.return_code == ExitCode.FAULT
