"""What only some traces have: layers, arguments, memory, ranks; on hand-made PyTorch traces."""

from pathlib import Path

import pytest
from textual.widgets import Static

from dctx.queries.metric import Metric
from dctx.tui.screens.memory import MemoryScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_source import PathSource
from dctx.tui.widgets.area_chart import AreaChart
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.status_line import StatusLine
from dctx.tui.widgets.title_bar import TitleBar
from dctx.tui.widgets.tree_table import TreeTable
from tests.torch_step import GPU_NS, write_ranks, write_step
from tests.tui.app_support import AppPilot, app_of, opened, press


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_step(tmp_path_factory.mktemp("torch") / "step.json")


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ranks(tmp_path_factory.mktemp("torch") / "run")


def labels(pilot: AppPilot) -> list[str]:
    table = pilot.app.screen.query_one(TreeTable)
    return [line.label for line in table.source.rows(0, table.row_count)]


def rows(pilot: AppPilot, name: str) -> list[str]:
    panel = pilot.app.screen.query_one(f"#{name}", RowList)
    return [f"{row.figures}{row.label}" for row in panel.rows] if panel.display else []


def title(pilot: AppPilot, name: str) -> str:
    return str(pilot.app.screen.query_one(f"#{name}", RowList).border_title)


async def test_a_preset_keeps_the_cursor_on_its_context(step: Path) -> None:
    async with opened(step) as pilot:
        await press(pilot, "2", "E", "z")
        table = pilot.app.screen.query_one(TreeTable)
        at = labels(pilot)[table.cursor]
        assert at == "gemm"
        await press(pilot, "L", "down", "enter", "escape")
        assert labels(pilot)[table.cursor] == "gemm"
        await press(pilot, "E")
        assert "forward" not in labels(pilot)
        assert "cudaLaunchKernel" not in labels(pilot)
        assert labels(pilot)[3:6] == ["Net_0", "aten::linear", "aten::mm"]
        line = pilot.app.screen.query_one(StatusLine)
        assert "without Python functions, API calls" in line.left
        # Turned over, and in the next trace of the session, it stays so.
        await press(pilot, "b")
        assert "forward" not in labels(pilot)


async def test_a_row_for_several_contexts_says_so(step: Path) -> None:
    async with opened(step) as pilot:
        await press(pilot, "2", "L", "down", "enter", "escape", "/")
        await press(pilot, *"::add", "enter")
        heading = str(pilot.app.screen.query_one("#heading", Static).content)
        assert heading.startswith("The heaviest of 2 paths that this row stands for:")


async def test_an_operator_lists_its_arguments(step: Path) -> None:
    async with opened(step) as pilot:
        await press(pilot, "2", "/", *"linear", "enter")
        table = pilot.app.screen.query_one(TreeTable)
        assert table.source.rows(table.cursor, 1)[0].note == "bf16[8,4] …"
        assert title(pilot, "list-0") == "Called with"
        assert [" ".join(row.split()) for row in rows(pilot, "list-0")] == [
            "60.0 µs 70.0 µs 1 bf16[8,4], bf16[4,4] strides (1,4), 1",
            "10.0 µs 80.0 µs 1 bf16[2,4], bf16[4,4] strides (1,4), 1",
        ]


async def test_overview_lists_operators(step: Path) -> None:
    async with opened(step) as pilot:
        found = [" ".join(row.split()) for row in rows(pilot, "operators")]
        assert found[0] == "85.4 % 70.0 µs 110 µs 2 aten::mm"
        panel = pilot.app.screen.query_one("#operators", RowList)
        panel.focus()
        await press(pilot, "down", "enter")
        assert isinstance(pilot.app.screen, PathsScreen)
        table = pilot.app.screen.query_one(TreeTable)
        assert labels(pilot)[table.cursor] == "aten::add"


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_memory_leads_to_the_call_path(step: Path, size: tuple[int, int]) -> None:
    async with opened(step, size) as pilot:
        await press(pilot, "M")
        screen = pilot.app.screen
        assert isinstance(screen, MemoryScreen)
        text = str(screen.query_one("#figures", Static).content)
        assert "peak 1.73 KiB allocated, at 125 µs" in text
        assert "at most 4.00 KiB reserved" in text
        assert "0.98 KiB of the peak were allocated before the recording" in text
        chart = screen.query_one(AreaChart)
        drawn = [chart.render_line(y).text for y in range(chart.size.height)]
        assert any("█" in line for line in drawn)
        assert drawn[-1].rstrip().endswith("440 µs")
        assert len(rows(pilot, "live")) == 1
        await press(pilot, "down", "down", "enter")  # over the edge into the other list
        assert isinstance(pilot.app.screen, PathsScreen)
        table = pilot.app.screen.query_one(TreeTable)
        assert labels(pilot)[table.cursor] == "aten::add"
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, MemoryScreen)


async def test_why_there_is_no_memory(tmp_path: Path) -> None:
    async with opened(write_step(tmp_path / "t.json", memory=False)) as pilot:
        await press(pilot, "M")
        text = str(pilot.app.screen.query_one("#figures", Static).content)
        assert "profile_memory=True" in text
        assert not pilot.app.screen.query_one(AreaChart).display


async def test_every_view_follows_the_rank(two_ranks: Path) -> None:
    async with opened(two_ranks) as pilot:
        devices = len(app_of(pilot).load_state.overview.devices)  # type: ignore[union-attr]
        assert devices == 2
        await press(pilot, "3", "2", "1", "r", "r")
        assert pilot.app.screen.query_one(TitleBar).rank == "only rank 1"
        assert title(pilot, "kernels").startswith("rank 1: Top kernels")
        await press(pilot, "2")
        table = pilot.app.screen.query_one(TreeTable)
        assert isinstance(table.source, PathSource)
        assert int(table.source.view.table.values[Metric.GPU][0]) == GPU_NS
        assert not any("rank 0" in label for label in labels(pilot))
        await press(pilot, "3")
        assert pilot.app.screen.query_one(StatusLine).right == "3 names, 5 launches"
        assert pilot.app.screen.query_one("#table", BigTable).row_count == 3
        await press(pilot, "M")
        assert "rank 1" in str(pilot.app.screen.query_one("#figures", Static).content)
        await press(pilot, "r")
        assert app_of(pilot).rank is None
        assert rows(pilot, "live")


async def test_a_way_to_another_rank_shows_all_again(two_ranks: Path) -> None:
    async with opened(two_ranks) as pilot:
        await press(pilot, "M", "2", "r", "r", "M")
        await press(pilot, "r")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, PathsScreen)
        assert labels(pilot)[pilot.app.screen.query_one(TreeTable).cursor] == "aten::mm"
