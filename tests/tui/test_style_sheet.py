"""Style sheets are parsed once for each theme, and what is shown is the same as with Textual's."""

import pytest
from textual.app import App, ComposeResult
from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet, StylesheetParseError
from textual.widgets import Label

from dctx.tui.style_sheet import ParsedOnce


class Coloured(App[None]):
    CSS = "Label { color: $ink; }"
    ink = "red"

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), "ink": self.ink}

    def compose(self) -> ComposeResult:
        yield Label("text")


async def test_another_value_of_a_variable_is_seen() -> None:
    app = Coloured()
    async with app.run_test():
        label = app.query_one(Label)
        assert label.styles.color.hex == "#FF0000"
        before = app.stylesheet.rules
        app.refresh_css()
        assert [id(rule) for rule in app.stylesheet.rules] == [id(rule) for rule in before]
        app.ink = "blue"
        app.refresh_css()
        assert label.styles.color.hex == "#0000FF"
        app.ink = "red"
        app.refresh_css()
        assert label.styles.color.hex == "#FF0000"
        assert [id(rule) for rule in app.stylesheet.rules] == [id(rule) for rule in before]


def test_rules_are_those_of_textual() -> None:
    ours, theirs = ParsedOnce(variables={"a": "red"}), Stylesheet(variables={"a": "red"})
    for sheet in (ours, theirs):
        sheet.add_source("Label { color: $a; }", read_from=("one", ""))
        sheet.reparse()
        sheet.add_source("Label { color: green; } .b { width: 3; }", read_from=("two", ""))
        sheet.reparse()
        sheet.set_variables({"a": "blue"})
        sheet.reparse()
    assert ours.css == theirs.css
    assert "#0000FF" in ours.css.upper() or "blue" in ours.css


def test_an_error_leaves_the_rules() -> None:
    sheet = ParsedOnce(variables={})
    sheet.add_source("Label { width: 3; }", read_from=("one", ""))
    sheet.reparse()
    before = sheet.rules
    sheet.add_source("Label { width: nonsense nonsense; }", read_from=("two", ""))
    with pytest.raises((StylesheetError, StylesheetParseError)):
        sheet.reparse()
    assert sheet._rules is before  # pyright: ignore[reportPrivateUsage]
