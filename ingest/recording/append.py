"""A recording with chunks that were found out after it ended."""

from __future__ import annotations

from collections.abc import Mapping

from ...native import Recorder, crc32c
from .chunks import CHUNK_HEAD, COMMIT, read_chunks
from .processor import SYMBOLS


def with_symbols(data: bytes, symbols: Mapping[tuple[int, int], str]) -> bytes:
    """The recording up to its last COMMIT, with the names of functions by module and offset.
    FormatError when it is none."""
    chunks = read_chunks(data)
    commit = chunks.chunks[-1]
    number = len(chunks.chunks) - 1
    places = sorted(symbols)
    content = Recorder.table(
        [
            [module for module, _ in places],
            [offset for _, offset in places],
            [0] * len(places),
            [symbols[place] for place in places],
        ]
    )
    return b"".join(
        (
            data[: commit.offset - CHUNK_HEAD.size],
            _chunk(SYMBOLS, content, number),
            _chunk(COMMIT, bytes(commit.content), number + 1),
        )
    )


def _chunk(kind: bytes, content: bytes, number: int) -> bytes:
    head = CHUNK_HEAD.pack(kind, 0, len(content), number, 0)[:-4]
    check = crc32c(content, crc32c(head))
    padded = content + bytes(-len(content) % 8)
    return head + check.to_bytes(4, "little") + padded
