"""The ranked list on the Overview: what the analyzers find stands there, and leads to its place."""

from pathlib import Path

from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.widgets.row_list import RowList
from tests.rank_files import DEMO
from tests.tui.app_support import app_of, opened, press


async def test_findings_are_listed_and_lead_to_their_call_path(home: Path) -> None:
    async with opened(DEMO) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, OverviewScreen)
        findings = screen.query_one("#findings", RowList)
        texts = [row.label for row in findings.rows]
        starts = [text for text in texts if text.startswith(("The GPU idles", "8 calls wait"))]
        assert starts[0].startswith("The GPU idles 18.1 % of the time while __next__")
        assert starts[1].startswith("8 calls wait for the GPU")
        assert not any("waits" in text and "inside itself" in text for text in texts)
        findings.focus()
        findings.move_to(0)
        await press(pilot, "enter")
        view = app_of(pilot).screen
        assert view.VIEW == "paths"  # type: ignore[attr-defined]
        await press(pilot, "1", "r")  # of one rank only the verdict tells
        findings = pilot.app.screen.query_one("#findings", RowList)
        assert not any("__next__" in row.label for row in findings.rows)
