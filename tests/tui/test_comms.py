"""The Comms view: the table, who waits, and where rows lead."""

from pathlib import Path

import pytest
from textual.widgets import Static

from dctx.tui.demo import demo_trace
from dctx.tui.screens.comms import CommsScreen
from dctx.tui.screens.comms_rows import ASCII_SHADES, SHADES, shade
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.title_bar import TitleBar
from tests.kineto_files import call, kernel
from tests.rank_files import all_reduces, arguments, write_rank
from tests.tui.app_support import AppPilot, app_of, opened, press, settle

DDP = demo_trace().parent / "torch-ddp"
ENDS = (160.0, 360.0, 560.0)
STARTS = {0: (100.0, 300.0, 500.0), 1: (110.0, 310.0, 510.0), 2: (150.0, 350.0, 550.0)}
"""Rank 2 is late by 50 us for rank 0 and 40 us for rank 1."""


def screen_of(pilot: AppPilot) -> CommsScreen:
    screen = app_of(pilot).screen
    assert isinstance(screen, CommsScreen)
    return screen


def table_of(pilot: AppPilot) -> BigTable:
    return screen_of(pilot).query_one("#table", BigTable)


def waits_of(pilot: AppPilot) -> RowList:
    return screen_of(pilot).query_one("#waits", RowList)


def notes_of(pilot: AppPilot) -> str:
    return str(screen_of(pilot).query_one("#comms-notes", Static).content)


def cells(pilot: AppPilot, row: int) -> dict[str, str]:
    table = table_of(pilot)
    found = table.row(row)
    assert found is not None
    return dict(zip((column.key for column in table.columns), found.cells, strict=True))


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, starts in STARTS.items():
        write_rank(folder, rank, all_reduces(starts, ENDS, arguments((0, 1, 2))))
    return folder


async def test_the_table_tells_time_message_and_bandwidth(ranks: Path) -> None:
    async with opened(ranks) as pilot:
        await press(pilot, "7")
        row = cells(pilot, 0)
        assert (row["name"], row["type"], row["count"]) == ("allreduce", "f32", "3")
        assert (row["total"], row["size"], row["exposed"]) == ("360.00", "1.00 MiB", "100.0 %")
        assert (row["latency"], row["wait"]) == ("10.00", "30.00")
        assert (row["algorithm"], row["bus"]) == ("104.9", "139.8")
        assert row["group"] == "0 · 3 ranks"
        assert "Rank 2 is late: the last in 3 of 3 collectives" in notes_of(pilot)


async def test_the_late_rank_has_a_light_row(ranks: Path) -> None:
    async with opened(ranks) as pilot:
        await press(pilot, "7")
        rows = waits_of(pilot).rows
        assert [set(row.label) for row in rows] == [{SHADES[4]}, {SHADES[4]}, {SHADES[0]}]
        assert [row.figures.split()[:3] for row in rows] == [
            ["0", "150", "µs"],
            ["1", "120", "µs"],
            ["2", "0", "ns"],
        ]
        assert rows[2].figures.endswith("3 of 3  ")
        assert "█ 37.5 µs" in str(waits_of(pilot).border_title)


def test_shades_tell_waits_without_colour() -> None:
    marks = [shade(wait, 100.0, SHADES) for wait in (0, 9.9, 10, 25, 50, 75, 100)]
    assert marks == ["·", "·", "░", "▒", "▓", "█", "█"]
    assert shade(float("nan"), 100.0, SHADES) == " "
    assert shade(0.0, 0.0, SHADES) == "·"
    assert ASCII_SHADES.isascii()
    assert len(set(ASCII_SHADES)) == len(SHADES)


async def test_rows_lead_to_call_paths_and_kernels(ranks: Path) -> None:
    async with opened(ranks) as pilot:
        app = app_of(pilot)
        await press(pilot, "7", "enter")
        assert isinstance(app.screen, PathsScreen)
        await press(pilot, "q", "u")
        assert isinstance(app.screen, KernelsScreen)
        await press(pilot, "q", "tab", "down")
        assert waits_of(pilot).has_focus
        await press(pilot, "enter")
        assert isinstance(app.screen, PathsScreen)
        await press(pilot, "q", "u")
        assert isinstance(app.screen, KernelsScreen)
        await press(pilot, "q", "up", "up")
        assert table_of(pilot).has_focus


async def test_one_rank_limits_the_sums(ranks: Path) -> None:
    async with opened(ranks) as pilot:
        await press(pilot, "7")
        totals: list[float] = []
        for _ in range(3):
            await press(pilot, "r")
            totals.append(float(cells(pilot, 0)["total"]))
        assert totals == [180.0, 150.0, 30.0]
        assert screen_of(pilot).query_one(TitleBar).rank == "only rank 2"
        assert len(waits_of(pilot).rows) == 3  # a wait is one for another rank


async def test_sorting_and_filtering() -> None:
    async with opened(DDP) as pilot:
        await press(pilot, "7")
        sizes = [cells(pilot, row)["size"] for row in range(4)]
        await press(pilot, "s", "m")
        assert table_of(pilot).order == ("size", True)
        assert [cells(pilot, row)["size"] for row in range(4)] == sorted(sizes, reverse=True)
        await press(pilot, "/")
        await pilot.press(*"nothing like it")
        await settle(pilot)
        assert table_of(pilot).row_count == 0
        assert "Nothing matches" in table_of(pilot).empty_text
        await press(pilot, "escape")
        assert table_of(pilot).row_count == 4


async def test_the_export_has_raw_values(ranks: Path) -> None:
    async with opened(ranks) as pilot:
        await press(pilot, "7")
        table = screen_of(pilot).export_table()
        [row] = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        assert (row["message_bytes"], row["total_ns"], row["latency_ns"]) == (
            1_048_576,
            360_000,
            10_000,
        )


async def test_one_rank_alone_says_what_is_not_known(tmp_path: Path) -> None:
    path = write_rank(tmp_path, 0, all_reduces(STARTS[0], ENDS, arguments((0, 1))))
    async with opened(path) as pilot:
        await press(pilot, "7")
        assert "name the files of all to see who waits" in notes_of(pilot)
        assert not waits_of(pilot).display
        assert cells(pilot, 0)["wait"] == "n/a"
        assert cells(pilot, 0)["total"] == "180.00"


async def test_without_communication_it_says_so(tmp_path: Path) -> None:
    events = [call("cudaLaunchKernel", 0, 1, 1), kernel("gemm", 5, 5, 1)]
    async with opened(write_rank(tmp_path, 0, events)) as pilot:
        await press(pilot, "7", "enter", "u", "y", "s", "s")
        assert isinstance(app_of(pilot).screen, CommsScreen)
        assert "No communication kernels in this trace" in table_of(pilot).empty_text
