"""The source pane of Call paths, and the editor, on a trace whose sources are here."""

from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from dctx.queries.metric import Metric
from dctx.reports.source_map import SourceMap
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_source import PathSource
from dctx.tui.widgets.source_table import SourceTable, code_lines
from dctx.tui.widgets.status_line import StatusLine
from tests.torch_step import write_source, write_step
from tests.tui.app_support import app_of, demo_app, press, settle


def test_code_is_cut_by_kind_and_never_changed() -> None:
    lines = ["def f(x):", '    """Doc', '    more"""', "    return 1  # one"]
    found = code_lines("a.py", lines)
    assert ["".join(text for text, _ in line) for line in found] == lines
    assert ("def", "source--keyword") in found[0]
    assert ("f", "source--name") in found[0]
    assert {style for text, style in found[2] if text.strip()} == {"source--string"}
    assert ("1", "source--number") in found[3]
    assert found[3][-1] == ("# one", "source--comment")
    assert code_lines("a.unknown", ["if x"]) == [[("if x", "")]]
    assert code_lines("a.py", ["a\fb"]) == [[("a\fb", "")]]
    assert code_lines("a.py", []) == []


async def test_lines_with_their_costs(
    tmp_path: Path, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    app = demo_app(write_step(tmp_path / "step.json"))
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "/")
        await pilot.press(*"forward", "enter")
        await settle(pilot)
        await press(pilot, "O")
        screen = app_of(pilot).screen
        assert isinstance(screen, PathsScreen)
        table = screen.query_one(SourceTable)
        head = screen.query_one("#source-file", StatusLine)

        # Not here: the lines by their functions, with what they cost, and what to do.
        assert "not on this machine" in head.left
        assert "--source-map" in head.left
        named = [table.row(at) for at in (0, 1)]
        assert [row.cells[-2:] for row in named if row] == [("10", "train"), ("20", "forward")]

        # Mapped, it is read: all lines, those of the trace with their costs.
        here = str(write_source(tmp_path / "src" / "train.py"))
        app_of(pilot).sources = SourceMap((("train.py", here),))
        await press(pilot, "O", "O")
        row = table.cursor_row
        assert row is not None
        assert row.key == 20
        assert row.marked
        # 60 + 10 + 5 us below forward (the tree's own sum), 82 in the step.
        source = screen.table.source
        assert isinstance(source, PathSource)
        assert source.view.table.values[Metric.GPU][screen.node] == 75_000
        gpu = {line.key: line.cells[0] for line in map(table.row, range(table.row_count)) if line}
        assert float(gpu[20]) == 75
        assert float(gpu[10]) == 82
        assert gpu[21] == ""
        assert head.left.startswith(here)

        # From costly line to costly line, round the end.
        def line() -> int:
            at = table.cursor_row
            assert at is not None
            return at.key

        await press(pilot, "]")
        assert line() == 30
        await press(pilot, "[", "[")
        assert line() == 10
        await press(pilot, "[")
        assert line() == 40

        # The editor: of the pane when it has the focus, else of the row.
        with monkeypatch.context() as patch:
            patch.setattr(HeadlessDriver, "can_suspend", True, raising=False)
            await press(pilot, "o")
            table.focus()
            await press(pilot, "o", "enter")
        assert editor.read_text().splitlines() == [f"+20 {here}", f"+40 {here}", f"+40 {here}"]

        # Back to the detail by escape, once the filter is cleared.
        await press(pilot, "escape", "escape")
        assert not screen.source_shown
        assert screen.table.has_focus

        # A kernel has no line: that of its nearest caller.
        await press(pilot, "z")
        assert screen.row is not None
        assert screen.row.file is None
        with monkeypatch.context() as patch:
            patch.setattr(HeadlessDriver, "can_suspend", True, raising=False)
            await press(pilot, "o")
        assert editor.read_text().splitlines()[3:] == [f"+20 {here}"]
