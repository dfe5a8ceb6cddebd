"""Decompression as a stream: pieces of compressed bytes in, pieces of what they hold out.

Nothing here fails at a cut or damaged stream: it ends early, and `Ending.why` says so. What
inflated before is handed out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, cast

PIECE_BYTES: Final = 2**20
"""Most bytes of one piece that is handed out."""

_FEXTRA, _FNAME, _FCOMMENT, _FHCRC = 4, 8, 16, 2
_GZIP_START: Final = b"\x1f\x8b\x08"  # magic, deflate
_GZIP_HEAD_BYTES: Final = 10
_GZIP_TAIL_BYTES: Final = 8


@dataclass(slots=True)
class Ending:
    """How a stream ended: `why` is empty when it ended where it should."""

    why: str = ""

    def early(self, why: str) -> None:
        """Note why nothing more comes; the first reason is the one that counts."""
        self.why = self.why or why


class ZstdMissingError(Exception):
    """No module that reads zstd is installed."""


class _Deflate(Protocol):
    """A decompressor of zlib, isal or zlib-ng."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


class _Frames(Protocol):
    """A decompressor of bz2, lzma or zstd: one stream, or frame, each."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Zlib:
    """A module with the interface of zlib."""

    decompressobj: Callable[..., _Deflate]
    crc32: Callable[[bytes, int], int]
    error: type[Exception]


def _zlib() -> _Zlib:
    """The fastest one installed: isal is about three times as fast as zlib."""
    for name in ("isal.isal_zlib", "zlib_ng.zlib_ng", "zlib"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        return _Zlib(module.decompressobj, module.crc32, module.error)
    raise ImportError("zlib")


class _Pieces:
    """Reads exact numbers of bytes from an iterator of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def some(self) -> bytes:
        """The next bytes, as many as come; empty at the end."""
        rest, self._rest = self._rest, b""
        return rest or next(self._pieces, b"")

    def exactly(self, count: int) -> bytes:
        """The next `count` bytes, fewer at the end only."""
        while len(self._rest) < count:
            more = next(self._pieces, b"")
            if not more:
                break
            self._rest += more
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def back(self, unused: bytes) -> None:
        """Put bytes back in front."""
        self._rest = unused + self._rest

    def skip_zeros(self) -> bool:
        """Skip padding; False when nothing follows it."""
        while piece := self.some():
            self._rest = piece.lstrip(b"\0")
            if self._rest:
                return True
        return False


def gzip_pieces(pieces: Iterator[bytes], ending: Ending) -> Iterator[bytes]:
    """The bytes of every member of a gzip stream, one after the other."""
    zlib = _zlib()
    source = _Pieces(pieces)
    first = True
    while first or source.skip_zeros():
        trouble = _gzip_header(source)
        if trouble:
            ending.early(trouble)
            return
        first = False
        inflate = zlib.decompressobj(-15)
        crc = 0
        while not inflate.eof:
            data = inflate.unconsumed_tail or source.some()
            try:
                out = inflate.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                ending.early(f"the gzip stream is damaged ({error})")
                return
            if out:
                crc = zlib.crc32(out, crc)
                yield out
            elif not data:
                ending.early("the gzip stream is cut")
                return
        source.back(inflate.unused_data)
        tail = source.exactly(_GZIP_TAIL_BYTES)
        if len(tail) < _GZIP_TAIL_BYTES:
            ending.early("the gzip stream is cut before its checksum")
            return
        if struct.unpack("<I", tail[:4])[0] != crc:
            ending.early("the gzip stream has a wrong checksum")
            return


def _gzip_header(source: _Pieces) -> str:
    """Skip the header of a member; what is wrong with it, or empty."""
    cut = "the gzip stream is cut inside a header"
    head = source.exactly(_GZIP_HEAD_BYTES)
    if head[:3] != _GZIP_START[: len(head)]:
        return "bytes that are no gzip stream follow one"
    if len(head) < _GZIP_HEAD_BYTES:
        return cut
    flags = head[3]
    if flags & _FEXTRA:
        size = source.exactly(2)
        if len(size) < 2:
            return cut
        count = int.from_bytes(size, "little")
        if len(source.exactly(count)) < count:
            return cut
    for text in (_FNAME, _FCOMMENT):
        if flags & text and not _skip_text(source):
            return cut
    return cut if flags & _FHCRC and len(source.exactly(2)) < 2 else ""


def _skip_text(source: _Pieces) -> bool:
    """Skip a text and its final zero; False when it does not end."""
    while piece := source.some():
        _, zero, rest = piece.partition(b"\0")
        if zero:
            source.back(rest)
            return True
    return False


def xz_pieces(pieces: Iterator[bytes], ending: Ending) -> Iterator[bytes]:
    """The bytes of an xz stream."""
    import lzma

    return _frames(pieces, ending, "xz", lzma.LZMADecompressor, (lzma.LZMAError,))


def bzip2_pieces(pieces: Iterator[bytes], ending: Ending) -> Iterator[bytes]:
    """The bytes of a bzip2 stream."""
    import bz2

    return _frames(pieces, ending, "bzip2", bz2.BZ2Decompressor, (OSError, ValueError))


def zstd_pieces(pieces: Iterator[bytes], ending: Ending) -> Iterator[bytes]:
    """The bytes of a zstd stream. ZstdMissingError when no module reads it."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        new = cast("Callable[[], _Frames]", module.ZstdDecompressor)
        return _frames(pieces, ending, "zstd", new, (module.ZstdError,))
    try:
        zstandard = import_module("zstandard")
    except ImportError as error:
        raise ZstdMissingError from error
    return _zstandard(zstandard, pieces, ending)


def _frames(
    pieces: Iterator[bytes],
    ending: Ending,
    name: str,
    new: Callable[[], _Frames],
    errors: tuple[type[Exception], ...],
) -> Iterator[bytes]:
    source = _Pieces(pieces)
    first = True
    while first or source.skip_zeros():
        inflate = new()
        begun = False
        while not inflate.eof:
            data = source.some() if inflate.needs_input else b""
            if inflate.needs_input and not data:
                ending.early(f"the {name} stream is cut")
                return
            try:
                out = inflate.decompress(data, PIECE_BYTES)
            except errors as error:
                if begun or first:
                    ending.early(f"the {name} stream is damaged ({error})")
                else:
                    ending.early(f"bytes that are no {name} stream follow one")
                return
            begun = True
            if out:
                yield out
        source.back(inflate.unused_data)
        first = False


def _zstandard(module: Any, pieces: Iterator[bytes], ending: Ending) -> Iterator[bytes]:
    reader = module.ZstdDecompressor().stream_reader(_File(pieces), read_across_frames=True)
    while True:
        try:
            out = cast("bytes", reader.read(PIECE_BYTES))
        except module.ZstdError as error:
            ending.early(f"the zstd stream is damaged ({error})")
            return
        if not out:
            return
        yield out


class _File:
    """The pieces as a file that can only be read on."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._source = _Pieces(pieces)

    def read(self, size: int) -> bytes:
        return self._source.exactly(size)
