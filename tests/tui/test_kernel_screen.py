"""The panel of one kernel with what Nsight Compute measured of it."""

from textual.widgets import Static

from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.tui.app import DctxApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading
from dctx.tui.screens.kernel import KernelScreen
from dctx.tui.widgets.row_list import RowList
from tests.tui.app_support import press, settle


async def test_stalls_of_the_kernel() -> None:
    lines = [
        NcuLine("0x10", "LDG.E R2, [R4.64]", {"long_scoreboard": 60, "selected": 5}),
        NcuLine("0x20", "BAR.SYNC", {"barrier": 20, "wait": 10, "selected": 5}),
    ]
    name = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT"
    kernels = [NcuKernel(name, lines=lines), NcuKernel("other", lines=lines[:1])]
    loading = Loading(demo_trace())
    loading.start()
    app = DctxApp(loading, measured=kernels)
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
        assert [row.label for row in hot] == ["LDG.E R2, [R4.64]", "BAR.SYNC"]
        assert [row.figures.split()[0] for row in hot] == ["66.7", "33.3"]
        heading = str(app.screen.query_one("#heading", Static).content)
        assert "100 samples, 10.0 % of them issue an instruction" in heading
