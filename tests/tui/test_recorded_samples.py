"""A recording with sampled instructions, and a profile of Proton with some, in the application."""

import json
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Static

from dctx.ingest.recording.cubin_lines import can_read_lines
from dctx.queries.metric import Metric
from dctx.reports.source_map import SourceMap
from dctx.tui.app import DctxApp
from dctx.tui.loading import Loading
from dctx.tui.screens.kernel import KernelScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_flame import PathFlame
from dctx.tui.widgets.flame_graph import FlameGraph
from dctx.tui.widgets.row_list import RowList
from tests.ingest.test_proton import kernel, node
from tests.tui.app_support import AppPilot, app_of, opened, press, settle

RECORDING = Path(__file__).parent / "data" / "sampled.dctxrec"
"""As tests/live/sampled_recording.py makes it."""
SOURCES = Path(__file__).parents[1] / "ingest" / "data"
SAXPY = "saxpy(int, float, float const*, float*)"


def recorded() -> DctxApp:
    loading = Loading(RECORDING)
    loading.start()
    return DctxApp(loading, sources=SourceMap((("/src", str(SOURCES)),)))


def lists(pilot: AppPilot) -> dict[str, RowList]:
    return {str(rows.border_title): rows for rows in app_of(pilot).screen.query(RowList)}


def heading(pilot: AppPilot) -> str:
    return str(app_of(pilot).screen.query_one("#heading", Static).content)


@pytest.mark.skipif(not can_read_lines(), reason="needs pyelftools")
async def test_the_kernel_of_a_recording(editor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """16 launches of 100 samples each: 60 + 8 wait at line 2, 12 at line 8, 10 at line 5."""
    async with recorded().run_test(size=(160, 60)) as pilot:
        await settle(pilot)
        await press(pilot, "3", "i")
        assert isinstance(app_of(pilot).screen, KernelScreen)
        shown = lists(pilot)
        said = heading(pilot)
        assert "1,600 samples, 10.0 % of them issue an instruction" in said
        assert "In 40.0 % of all, the scheduler issued nothing" in said
        assert "Occupancy at most 75.0 %, limited by registers: 6 blocks fit" in said
        assert "14 further launches are counted with it" in said
        assert "Durations: n/a, no single launch was recorded." in said
        stalls = [row.figures.split() for row in shown["What it waits for"].rows]
        assert [(one[0], " ".join(one[3:])) for one in stalls] == [
            ("66.7", "long scoreboard"),
            ("33.3", "wait"),
        ]
        lines = [(row.label, row.figures.split()[0]) for row in shown["By source line"].rows]
        assert lines == [
            ("saxpy.cu:2  return x * 2.0f + 1.0f;", "75.6"),
            ("saxpy.cu:8  y[i] = a * v + y[i];", "13.3"),
            ("saxpy.cu:5  int i = blockIdx.x * blockDim.x + threadIdx.x;", "11.1"),
        ]
        places = [row.figures.split()[-1] for row in shown["By instruction"].rows]
        assert places == ["0xb0", "0xc0", "0x40"]
        # o opens the line that waits most, or that of the row with the cursor.
        monkeypatch.setattr(HeadlessDriver, "can_suspend", True, raising=False)
        await press(pilot, "o")
        shown["By source line"].focus()
        await press(pilot, "down", "o")
        shown["By instruction"].focus()
        await press(pilot, "end", "o")
        file = SOURCES / "saxpy.cu"
        assert editor.read_text().splitlines() == [f"+{line} {file}" for line in (2, 8, 5)]
        # Its contexts as wide as their samples: 12 launches in forward, 4 in backward, and fill.
        await press(pilot, "2", "f")
        screen = app_of(pilot).screen
        assert isinstance(screen, PathsScreen)
        graph = screen.query_one(FlameGraph)
        for _ in range(4):
            assert isinstance(graph.source, PathFlame)
            if graph.source.tree.metric is Metric.GPU_SAMPLES:
                break
            await press(pilot, "m")
        flame = graph.source
        assert isinstance(flame, PathFlame)
        assert flame.tree.metric is Metric.GPU_SAMPLES
        assert flame.tree.total == 1620
        wide: dict[str, int] = {}
        for at in range(len(flame.tree.parent)):
            name = flame.label(at)
            wide[name] = max(int(flame.layout.size(at)), wide.get(name, 0))
        assert wide["forward"] == 1200
        assert wide["backward"] == 420
        assert wide["fill(int, float*)"] == 20


async def test_a_profile_of_proton_with_stalls(tmp_path: Path) -> None:
    line = node("/src/saxpy.cu:8@saxpy", stalled_long_scoreboard=6, stalled_wait=2)
    gemm = kernel("gemm", 100, 4, stalled_selected=2)
    gemm["children"].append(line)
    path = tmp_path / "p.hatchet"
    path.write_text(json.dumps([node("ROOT", node("step", gemm)), {}]))
    async with opened(path, size=(160, 45)) as pilot:
        await press(pilot, "3", "i")
        assert "10 samples, 20.0 % of them issue an instruction" in heading(pilot)
        [row] = lists(pilot)["By source line"].rows
        assert row.label.startswith("saxpy.cu:8  (")  # why there is no text
        await press(pilot, "2", "f")
        graph = app_of(pilot).screen.query_one(FlameGraph)
        while isinstance(graph.source, PathFlame):
            if graph.source.tree.metric is Metric.GPU_SAMPLES:
                break
            await press(pilot, "m")
        assert isinstance(graph.source, PathFlame)
        assert graph.source.tree.total == 10
