"""The flame graph of Call paths: what it shows follows the tree, and it is written as it is."""

import json
from pathlib import Path

import pytest

from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.tui.key_texts import palette_keys
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_flame import PathFlame
from dctx.tui.screens.prompt import PromptScreen
from dctx.tui.widgets.flame_graph import FlameGraph
from dctx.tui.widgets.status_line import StatusLine
from tests.tui.app_support import app_of, opened, press, settle


async def test_it_follows_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened() as pilot:
        await press(pilot, "2", "f")
        screen = app_of(pilot).screen
        assert isinstance(screen, PathsScreen)
        graph = screen.query_one(FlameGraph)

        def flame() -> PathFlame:
            assert isinstance(graph.source, PathFlame)
            return graph.source

        def name() -> str:
            return flame().label(graph.cursor)

        def said() -> str:
            return screen.query_one(StatusLine).left

        assert screen.footer == "paths-flame"
        assert {"paths.flame", "flame.zoom"} <= {key.id for key in palette_keys(screen.footer)}
        assert flame().tree.metric is Metric.GPU

        # Search: the widest first, then the narrower ones and round.
        await press(pilot, "/")
        await pilot.press(*"launch")
        await settle(pilot)
        await press(pilot, "enter")
        assert graph.has_focus
        widest = graph.cursor
        assert "launch" in name().casefold()
        assert said().startswith("“launch” ")
        await press(pilot, "n")
        assert graph.cursor != widest
        assert flame().layout.size(graph.cursor) <= flame().layout.size(widest)
        await press(pilot, "N")
        assert graph.cursor == widest
        await press(pilot, "escape")
        assert not flame().view.filter_text
        assert graph.display

        # The hot path, zoom by its key, and out again by escape.
        await press(pilot, "home", "z")
        deepest = graph.cursor
        await press(pilot, "enter")
        assert graph.zoom == deepest
        await press(pilot, "escape")
        assert graph.zoom != deepest
        assert graph.display

        # Another metric keeps the cursor; the widths are of the new one.
        await press(pilot, "home", "z", "up", "up")
        context = flame().view.source(graph.cursor)
        await press(pilot, "m")
        assert flame().tree.metric is Metric.HOST
        assert flame().view.source(graph.cursor) == context
        assert flame().tree.total == flame().view.total
        while flame().tree.metric is not Metric.GPU:
            await press(pilot, "m")

        # Folded layers and a percent limit.
        await press(pilot, "%")
        await pilot.press("backspace", *"5", "enter")
        await settle(pilot)
        assert 0 < (flame().tree.size > 0).sum() < len(flame().tree.size)
        assert flame().tree.own().sum() == flame().tree.total

        # Bottom-up: what costs is at the top.
        await press(pilot, "b")
        assert flame().view.turned
        frames = flame().tree.frames
        assert frames.layers[int(flame().tree.frame[graph.levels()[0][0].node])] is Layer.KERNEL

        # Each file adds up to what is drawn.
        written: dict[str, str] = {}
        for ending in ("svg", "json", "folded"):
            await press(pilot, "e")
            assert isinstance(app_of(pilot).screen, PromptScreen)
            await pilot.press(*["backspace"] * len("svg"), *ending, "enter")
            await settle(pilot)
            [file] = tmp_path.glob(f"*-flame.{ending}")
            written[ending] = file.read_text(encoding="utf-8")
        total = flame().tree.total
        assert total == sum(int(line.split()[-1]) for line in written["folded"].splitlines())
        assert json.loads(written["json"])["profiles"][0]["endValue"] == total
        assert "bottom-up" in written["svg"]

        # Back to the tree on the same context.
        at = graph.cursor
        await press(pilot, "f")
        assert screen.table.cursor_node == at
        assert not graph.display
        assert screen.footer == "paths"
