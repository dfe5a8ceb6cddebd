"""Contents of chunks that are packed."""

from __future__ import annotations

import zlib
from typing import Final

MOST_BYTES: Final = 2**28
"""Unpacked: a damaged chunk must not take all memory."""


def unpacked(packed: bytes | memoryview) -> bytes | None:
    """The content of a chunk; None when it is damaged, or larger than it may be."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, MOST_BYTES)
    except zlib.error:
        return None
    return data if stream.eof else None
