"""The memory view on a recording, which has sums of each context and no curve."""

from pathlib import Path

from textual.widgets import Static

from dctx.tui.screens.memory import MemoryScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.widgets.area_chart import AreaChart
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.status_line import StatusLine
from tests.ingest.test_recording_memory import recorded
from tests.tui.app_support import AppPilot, opened, press


def rows(pilot: AppPilot, name: str) -> list[tuple[str, list[str]]]:
    """Label and figures of the rows that a list shows."""
    panel = pilot.app.screen.query_one(f"#{name}", RowList)
    return [(row.label.split(" > ")[-1], row.figures.split()) for row in panel.rows]


async def test_sums_of_allocations_by_context(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    # Columns: node, type of device (0: CPU), its index, allocations, bytes, given back, peak.
    recorded(
        path,
        [[1, 2, 2], [0, 0, 1], [-1, -1, 3], [1, 9, 2], [1024, 3072, 4096], [1024, 1024, 0],
         [2048, 5120, 8192]],
    )  # fmt: skip
    async with opened(path) as pilot:
        await press(pilot, "M")
        screen = pilot.app.screen
        assert isinstance(screen, MemoryScreen)
        assert not screen.query_one(AreaChart).display
        figures = str(screen.query_one("#figures", Static).content)
        assert figures.splitlines() == [
            "at most 5.00 KiB in use by the allocator, in one process",
            "10 allocations, 4.00 KiB in all · 2.00 KiB given back · sums by context: there is no "
            "curve over time",
        ]
        assert screen.query_one(StatusLine).left == "host memory (d: 1 more)"
        assert rows(pilot, "live") == [("inner", ["100.0", "%", "2.00", "KiB", "9"])]
        assert rows(pilot, "allocating") == [
            ("inner", ["75.0", "%", "3.00", "KiB", "9"]),
            ("outer", ["25.0", "%", "1.00", "KiB", "1"]),
        ]
        await press(pilot, "d")
        assert screen.query_one(StatusLine).left == "memory of GPU 3 (d: 1 more)"
        assert rows(pilot, "allocating") == [("inner", ["100.0", "%", "4.00", "KiB", "2"])]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, PathsScreen)
