"""The ranked list on the Overview: what the analyzers find stands there, and leads to its place."""

from pathlib import Path

import pytest

from dctx import demo_data
from dctx.demo_data.torch_ddp import FOLDER
from dctx.ingest.cache import cache_dir
from dctx.reports.own_files import own_stamp
from dctx.tui.loading import StepPatterns
from dctx.tui.remembered import FINDINGS, remembered_findings
from dctx.tui.screens.overview import OverviewScreen
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.session import Session
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.tree_table import TreeTable
from tests.tui.app_support import app_of, opened, press

DEMO = Path(demo_data.__path__[0]) / FOLDER


async def test_findings_are_listed_and_lead_to_their_call_path() -> None:
    async with opened(DEMO) as pilot:
        app = app_of(pilot)
        assert isinstance(app.screen, OverviewScreen)
        findings = app.screen.query_one("#findings", RowList)
        texts = [row.label for row in findings.rows]
        assert texts[0].startswith("The GPU idles ")
        assert "of the time while __next__" in texts[0]
        [wait] = [at for at, text in enumerate(texts) if text.startswith("8 calls wait for the")]
        assert not any("Each step waits" in text for text in texts), "that is told already"
        findings.focus()
        findings.move_to(wait)
        await press(pilot, "enter")
        assert isinstance(app.screen, PathsScreen)
        table = app.screen.query_one(TreeTable)
        [row] = table.source.rows(table.cursor, 1)
        assert row.label == "<built-in method item of Tensor object>"
        await press(pilot, "1", "r")  # of one rank only the verdict tells
        assert isinstance(app.screen, OverviewScreen)
        texts = [row.label for row in app.screen.query_one("#findings", RowList).rows]
        assert not any("while __next__" in text for text in texts)


async def test_findings_are_kept_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path / "config"))

    async def listed() -> list[str]:
        async with opened(DEMO) as pilot:
            return [row.label for row in pilot.app.screen.query_one("#findings", RowList).rows]

    found = await listed()
    assert "of the time while __next__" in found[0]
    key = StepPatterns().key(own_stamp())
    assert remembered_findings(DEMO, key) is not None
    with monkeypatch.context() as patch:
        patch.setattr(Session, "findings", None)  # it is not asked again
        assert await listed() == found
    # A file of the user's may change what is found.
    (tmp_path / "config" / "analyzers").mkdir(parents=True)
    (tmp_path / "config" / "analyzers" / "mine.py").write_text("ANALYZERS = {}\n")
    assert remembered_findings(DEMO, StepPatterns().key(own_stamp())) is None
    [kept] = cache_dir().glob(f"*{FINDINGS}")
    kept.write_text('{"findings": [{}]}')
    assert remembered_findings(DEMO, key) is None
    # Files there that cannot be used are told of, and the rest is found all the same.
    (tmp_path / "config" / "architectures").mkdir()
    (tmp_path / "config" / "architectures" / "mine.toml").write_text("name =")
    (tmp_path / "config" / "analyzers" / "mine.py").write_text("def (")
    texts = await listed()
    assert "of the time while __next__" in texts[0]
    assert "Own architectures are left out" in " ".join(texts)
    (tmp_path / "config" / "architectures" / "mine.toml").unlink()
    assert "mine.py cannot be used (line 1): SyntaxError" in " ".join(await listed())


async def test_of_a_very_large_trace_the_list_says_how_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("dctx.tui.session.MOST_EVENTS", 100)
    async with opened(DEMO) as pilot:
        findings = pilot.app.screen.query_one("#findings", RowList)
        texts = " ".join(row.label for row in findings.rows)
        assert "is not listed by itself" in texts
        assert "--findings" in texts
