"""Markdown for comments on pull requests. Names come from traces: they must not become markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .format import clean

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~@])")


def plain(text: str) -> str:
    """Text without any meaning as markup or HTML, on one line."""
    return _MARKUP.sub(r"\\\1", clean(text))


def cell(name: str) -> str:
    """A name as code, also inside a table."""
    return f"`{clean(name).replace('`', chr(39)).replace('|', '¦')}`"


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]
) -> Iterator[str]:
    """Columns `left` are aligned to the left, figures to the right."""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join(':--' if i in left else '--:' for i in range(len(headings)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
