"""A report as one HTML file: titled sections of text, charts and sortable tables.

The file needs nothing else: no network, fonts or libraries. Without scripts it is complete, with
them tables sort and filter. Texts of traces are hostile: all of them are escaped here, and the
page's own policy lets no script run but the one this module writes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import islice
from math import isfinite
from typing import TextIO

from .format import clean
from .html_charts import Bars, bars_svg
from .html_style import SCRIPT, STYLE
from .sheets import Sheet, cell_text, is_numeric, titles

MOST_ROWS = 2_000
"""More rows than this are slow in a browser; files of tables hold all."""
_LONGEST = 2_000
"""Of a cell. Lists of kernels can be far longer."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text, set as a paragraph."""

    text: str
    warning: bool = False
    """Set it off: the reader should see it first."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading, reachable from the top."""

    title: str
    parts: Sequence[Paragraph | Bars | Sheet]
    """Of a sheet the name is not shown: the heading tells what it is."""
    open: bool = True
    """Folded up otherwise, until the reader opens it."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page."""

    title: str
    subtitle: str
    sections: Sequence[Section]


def write_html(document: Document, out: TextIO, most_rows: int = MOST_ROWS) -> None:
    """The page, piece by piece. Of a sheet at most `most_rows` rows are written, and how many were
    left out is told below it."""
    policy = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    out.write(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'; script-src 'sha256-{policy}'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_text(document.title)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body><header><h1>{_text(document.title)}</h1><p>{_text(document.subtitle)}</p>"
        "</header>\n<nav>"
    )
    for number, section in enumerate(document.sections):
        out.write(f'<a href="#s{number}">{_text(section.title)}</a> ')
    out.write("</nav>\n<main>\n")
    for number, section in enumerate(document.sections):
        is_open = " open" if section.open else ""
        out.write(
            f'<details id="s{number}"{is_open}><summary><h2>{_text(section.title)}</h2></summary>\n'
        )
        for part in section.parts:
            _write_part(part, section.title, out, most_rows)
        out.write("</details>\n")
    out.write(f"</main>\n<script>{SCRIPT}</script></body></html>\n")


def _write_part(part: Paragraph | Bars | Sheet, heading: str, out: TextIO, most_rows: int) -> None:
    if isinstance(part, Paragraph):
        kind = ' class="warning"' if part.warning else ""
        out.write(f"<p{kind}>{_text(part.text)}</p>\n")
    elif isinstance(part, Bars):
        out.write(bars_svg(part, _text))
    else:
        _write_table(part, heading, out, most_rows)


def _write_table(sheet: Sheet, heading: str, out: TextIO, most_rows: int) -> None:
    right = [is_numeric(column) for column in sheet.columns]
    out.write(f'<div class="table"><table aria-label="{_text(heading)}"><thead><tr>')
    for title, numeric in zip(titles(sheet), right, strict=True):
        kind = ' class="n"' if numeric else ""
        out.write(f'<th{kind} scope="col">{_text(title)}</th>')
    out.write("</tr></thead><tbody>\n")
    out.writelines(_rows(sheet, right, most_rows))
    out.write("</tbody></table></div>\n")
    more = len(sheet) - most_rows
    if more > 0:
        out.write(f"<p>{more:,} more rows are not shown here: write them with --csv.</p>\n")


def _rows(sheet: Sheet, right: Sequence[bool], most_rows: int) -> Iterable[str]:
    for row in islice(sheet.rows(), most_rows):
        cells: list[str] = []
        for value, column, numeric in zip(row, sheet.columns, right, strict=True):
            if numeric:
                known = value is not None and isfinite(value)
                exact = f' data-v="{value!r}">{cell_text(value, column)}' if known else ">"
                cells.append(f'<td class="n"{exact}</td>')
            else:
                text = "" if value is None else str(value)
                cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
                cells.append(f"<td>{_text(cut)}</td>")
        yield f"<tr>{''.join(cells)}</tr>\n"


def _text(text: str) -> str:
    """The text for any place between tags or quotes."""
    return escape(clean(text), quote=True)
