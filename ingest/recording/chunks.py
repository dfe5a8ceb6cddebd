"""The container of a recording: header, chunks with check sums, up to the last COMMIT."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...native import crc32c

MAGIC: Final = b"DCTXREC\0"
MAJOR: Final = 1
_HEADER: Final = struct.Struct("<8sHHIII q q 20x I".replace(" ", ""))
_BYTE_ORDER: Final = 0x01020304
CHUNK_HEAD: Final = struct.Struct("<4sIQII")
COMMIT: Final = b"COMM"


class FormatError(Exception):
    """The bytes cannot be what they claim to be. Says what is wrong, and what to do about it."""

    def __init__(self, what: str, remedy: str = "Record it again.") -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


@dataclass(frozen=True, slots=True)
class Header:
    """The first 64 bytes."""

    minor: int
    pid: int
    start_utc_ns: int
    start_monotonic_ns: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the recording."""

    type: bytes
    offset: int
    """Of its content in the file."""
    content: memoryview


@dataclass(frozen=True, slots=True)
class Chunks:
    """All that a recording holds up to its last COMMIT."""

    header: Header
    chunks: list[Chunk]
    used_bytes: int
    lost: str
    """Why what follows was not read; empty when nothing follows."""


def read_chunks(data: bytes) -> Chunks:
    """Take a recording apart. FormatError when not even one snapshot is whole."""
    header = _header(data)
    found: list[Chunk] = []
    committed, used = 0, _HEADER.size
    lost = ""
    walk = _Walk(data)
    for chunk in walk:
        found.append(chunk)
        if chunk.type == COMMIT:
            committed, used = len(found), walk.at
    if walk.stopped:
        lost = walk.stopped
    elif used < len(data):
        lost = "the last snapshot is not complete"
    if not committed:
        raise FormatError(
            f"it holds no complete snapshot ({lost or 'nothing follows its header'}).",
            "Let the program run longer, or make snapshots more often: dctx record --snapshot.",
        )
    return Chunks(header, found[:committed], used, lost)


def _header(data: bytes) -> Header:
    if len(data) < _HEADER.size:
        raise FormatError("it is cut within its header.")
    magic, major, minor, order, pid, _, utc, monotonic, check = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise FormatError("it does not begin as a recording.")
    if order != _BYTE_ORDER:
        raise FormatError("its header is damaged, or written by a machine of other byte order.")
    if check != crc32c(data[: _HEADER.size - 4]):
        raise FormatError("its header is damaged.")
    if major > MAJOR:
        raise FormatError(
            f"its format is version {major}.{minor}, this dctx reads up to {MAJOR}.",
            "Install the dctx that wrote it, or a newer one.",
        )
    return Header(minor, pid, utc, monotonic)


class _Walk:
    """Chunk by chunk until the end, or the first that is damaged."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self.at = _HEADER.size
        self.stopped = ""

    def __iter__(self) -> Iterator[Chunk]:
        data, number = self._data, 0
        while self.at < len(data):
            begin = self.at + CHUNK_HEAD.size
            if begin > len(data):
                self.stopped = f"cut at byte {len(data)}"
                return
            kind, _, size, sequence, check = CHUNK_HEAD.unpack_from(data, self.at)
            if size > len(data) - begin:
                self.stopped = f"cut or damaged at byte {self.at}"
                return
            content = data[begin : begin + size]
            if check != crc32c(content, crc32c(data[self.at : begin - 4])) or sequence != number:
                self.stopped = f"damaged at byte {self.at}"
                return
            self.at = min(begin + (size + 7) // 8 * 8, len(data))
            number += 1
            yield Chunk(kind, begin, content)
