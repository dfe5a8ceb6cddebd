"""JSON documents that are read whole: where one is damaged, and how much of it is lost there."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Final

from ..native import DocumentReader
from .inputs import Source, Tell

_PLACE: Final = re.compile(r"byte (\d+): (.*)", re.DOTALL)


def read_document(source: Source, document: DocumentReader, tell: Tell) -> str:
    """Have the reader read the file. What to tell of damage, and how much comes after it; empty
    for a sound file."""
    size = 0
    with closing(source.chunks(tell)) as chunks:
        for chunk in chunks:
            size += len(chunk)
            document.feed(chunk)
    document.finish()
    return damage(document, size)


def damage(document: DocumentReader, size: int) -> str:
    """Where a document of `size` bytes is damaged, and how much comes after that; or empty."""
    if document.error is None:
        return ""
    place = _PLACE.fullmatch(document.error)
    if place is None:
        return document.error
    at, what = int(place[1]), place[2]
    if at >= size:
        return f"cut at byte {at:,}"
    share = (size - at) / size
    return (
        f"damaged at byte {at:,} ({what}); the {size - at:,} bytes after it, "
        f"{100 * share:.0f} %, are lost"
    )
