"""The lines of a source file with what each costs, in the colours of its language."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.highlight import HighlightTheme, highlight

from .big_table import BigTable
from .columns import Layout
from .fit import cells, clean, fit
from .rows_window import Piece

CodeLine = Sequence[tuple[str, str]]
"""Stretches of a line: text and style, one of `SourceTable.COMPONENT_CLASSES` or nothing."""

_STYLES = {
    "Comment": "source--comment",
    "String": "source--string",
    "Number": "source--number",
    "Keyword": "source--keyword",
    "Function": "source--name",
    "Class": "source--name",
    "Decorator": "source--name",
}
_NAMES = frozenset(_STYLES.values())
_LANGUAGES = {"h": "c", "hpp": "cpp", "cc": "cpp", "cuh": "cuda"}
"""By the ending of a file's name, where it is not itself a name of the language."""


class _Named(HighlightTheme):
    """Textual's kinds of tokens, with names of component classes for their styles."""

    STYLES = {  # noqa: RUF012 - declared by HighlightTheme
        kind: next((name for part, name in _STYLES.items() if part in str(kind).split(".")), "")
        for kind in HighlightTheme.STYLES
    }


def code_lines(name: str, lines: Sequence[str]) -> list[CodeLine]:
    """The lines cut into stretches, by the language that the ending of the file's name tells."""
    ending = name.rpartition(".")[2].lower()
    text = "\n".join(lines)
    content = highlight(text, language=_LANGUAGES.get(ending, ending), theme=_Named)
    # A highlighter that drops or adds a character must not shift the code against its figures.
    if not lines or content.plain.rstrip("\n") != text.rstrip("\n"):
        return [[(line, "")] for line in lines]
    found: list[list[tuple[str, str]]] = [[] for _ in lines]
    row, at = 0, 0

    def take(end: int, style: str) -> None:
        """What lies between here and `end`, line by line."""
        nonlocal row, at
        if end <= at:
            return
        first, *more = text[at:end].split("\n")
        found[row].append((first, style))
        for part in more:
            row += 1
            found[row].append((part, style))
        at = end

    for span in content.spans:
        if span.style in _NAMES and span.start >= at:
            take(span.start, "")
            take(min(span.end, len(text)), str(span.style))
    take(len(text), "")
    return [list(line) for line in found]


class SourceTable(BigTable):
    """A `BigTable` whose last column is code; `code` has the lines' stretches by row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("source--comment", "source--string", "source--number"),
        *("source--keyword", "source--name"),
    }
    DEFAULT_CSS = """
    SourceTable {
        & > .source--comment { color: $text-muted; text-style: italic; }
        & > .source--string { color: $text-success; }
        & > .source--number { color: $text-warning; }
        & > .source--keyword { color: $text-primary; text-style: bold; }
        & > .source--name { color: $text-accent; }
        &:ansi > .source--comment { color: ansi_default; text-style: italic; }
        &:ansi > .source--string { color: ansi_green; }
        &:ansi > .source--number { color: ansi_yellow; }
        &:ansi > .source--keyword { color: ansi_blue; text-style: bold; }
        &:ansi > .source--name { color: ansi_cyan; }
        &:nocolor > .source--string { color: ansi_default; }
        &:nocolor > .source--number { color: ansi_default; }
        &:nocolor > .source--keyword { color: ansi_default; text-style: bold; }
        &:nocolor > .source--name { color: ansi_default; }
    }
    """

    code: Mapping[int, CodeLine] = {}

    def row_pieces(self, row: int, layout: Layout) -> tuple[list[Piece], bool]:
        contents = self.row(row)
        line = self.code.get(row)
        if contents is None or line is None:
            return super().row_pieces(row, layout)
        last = layout.placed[-1]
        pieces = self.cell_pieces(layout, contents.cells[:-1], contents.share, "", last.x)
        room = last.width
        for text, style in line:
            shown = clean(text)
            if not shown or room <= 0:
                continue
            piece = Piece(fit(shown, min(cells(shown), room), "left", self.glyphs.ellipsis), style)
            pieces.append(piece)
            room -= cells(piece.text)
        pieces.append(Piece(" " * max(0, room)))
        return pieces, contents.marked
