"""The panel of one kernel with what it waits for."""

from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Static

from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.reports.source_map import SourceMap
from dctx.tui.app import DctxApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading
from dctx.tui.screens.kernel import KernelScreen
from dctx.tui.widgets.row_list import RowList
from tests.rocm_files import write_sampled
from tests.tui.app_support import app_of, opened, press, settle


async def test_stalls_of_the_kernel(
    tmp_path: Path, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "k.cu"
    source.write_text("// k\n  x = *p;\n", encoding="utf-8")
    lines = [
        NcuLine("0x10", "LDG", {"long_scoreboard": 60, "selected": 5}, 40, "/src/k.cu", 2),
        NcuLine("0x20", "BAR.SYNC", {"barrier": 20, "wait": 10, "selected": 5}),
    ]
    name = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT"
    kernels = [NcuKernel(name, lines=lines), NcuKernel("other", lines=lines[:1])]
    loading = Loading(demo_trace())
    loading.start()
    app = DctxApp(loading, measured=kernels, sources=SourceMap((("/src", str(tmp_path)),)))
    async with app.run_test(size=(160, 60)) as pilot:
        await settle(pilot)
        await press(pilot, "3", "down", "i")
        assert isinstance(app.screen, KernelScreen)
        shown = {str(rows.border_title): rows.rows for rows in app.screen.query(RowList)}
        stalls = shown["What it waits for"]
        figures = [row.figures.split() for row in stalls]
        assert [(one[0], one[-1]) for one in figures] == [
            ("66.7", "scoreboard"),
            ("22.2", "barrier"),
            ("11.1", "wait"),
        ]
        assert "waits for other warps of its block" in stalls[1].label
        hot = shown["By instruction"]
        assert [row.label for row in hot] == ["LDG  k.cu:2", "BAR.SYNC"]
        assert [row.figures.split()[0] for row in hot] == ["66.7", "33.3"]
        heading = str(app.screen.query_one("#heading", Static).content)
        assert "100 samples, 10.0 % of them issue an instruction" in heading
        assert heading.splitlines()[-1].startswith("Roofline: n/a, ")
        [line] = shown["By source line"]
        assert line.label == "k.cu:2  x = *p;"
        assert line.figures.split() == ["66.7", "%", "long", "scoreboard"]
        # Enter on a line of source opens the editor there.
        lists = app.screen.query(RowList)
        next(rows for rows in lists if "By source" in str(rows.border_title)).focus()
        monkeypatch.setattr(HeadlessDriver, "can_suspend", True, raising=False)
        await press(pilot, "enter")
        assert editor.read_text().splitlines() == [f"+2 {source}"]
        # Of another kernel nothing was measured: that is said.
        await press(pilot, "escape", "down", "i")
        heading = str(app.screen.query_one("#heading", Static).content)
        assert f"What --ncu gives has no launch of it. It has: {name}; other." in heading


async def test_stalls_that_the_trace_itself_holds(tmp_path: Path) -> None:
    path = write_sampled(tmp_path, stalled=150, issued=100)
    async with opened(path, size=(160, 60)) as pilot:
        screen = app_of(pilot).screen
        [told, *_] = [row.label for row in screen.query_one("#findings", RowList).rows]
        assert told.startswith("gemm takes 98.5 % of the GPU time; 100.0 % of its stalled samples")
        await press(pilot, "3", "i")
        screen = app_of(pilot).screen
        assert isinstance(screen, KernelScreen)
        shown = {str(rows.border_title): rows.rows for rows in screen.query(RowList)}
        [reason] = shown["What it waits for"]
        assert reason.figures.split()[-1] == "waitcnt"
        [place] = shown["By instruction"]
        assert place.label == "s_waitcnt vmcnt(0)  a.hip:16"
        heading = str(screen.query_one("#heading", Static).content)
        assert "250 samples, 40.0 % of them issue an instruction" in heading
