"""Decompression as a stream: whole, several members, cut anywhere, damaged, followed by others."""

import bz2
import gzip
import lzma
import random
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from dctx.ingest import inflate
from dctx.ingest.inflate import (
    PIECE_BYTES,
    Ending,
    ZstdMissingError,
    bzip2_pieces,
    gzip_pieces,
    xz_pieces,
    zstd_pieces,
)

Peel = Callable[[Iterator[bytes], Ending], Iterator[bytes]]

RANDOM = random.Random(7)
DATA = b"".join(b'{"ph":"X","ts":%d},' % RANDOM.getrandbits(40) for _ in range(20_000))
ZLIBS = [name for name in ("isal", "zlib_ng", "zlib") if find_spec(name)]


def run(peel: Peel, packed: bytes, piece: int = 1000) -> tuple[bytes, str]:
    """What comes out of pieces of that many bytes, and how it ended."""
    ending = Ending()
    pieces = (packed[at : at + piece] for at in range(0, len(packed), piece))
    out = list(peel(pieces, ending))
    assert all(0 < len(part) <= PIECE_BYTES for part in out)
    return b"".join(out), ending.why


@pytest.fixture(params=ZLIBS)
def zlib_module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Only this module, and zlib, can be imported."""
    for name, module in (("isal", "isal.isal_zlib"), ("zlib_ng", "zlib_ng.zlib_ng")):
        if name != request.param:
            monkeypatch.setitem(sys.modules, module, None)
    return str(request.param)


@pytest.mark.parametrize("piece", [1, 7, 1000, 10**7])
def test_gzip_is_inflated_in_pieces_of_any_size(zlib_module: str, piece: int) -> None:
    data = DATA[: 20_000 if piece < 1000 else None]
    assert run(gzip_pieces, gzip.compress(data), piece) == (data, "")


def test_members_are_read_one_after_the_other(zlib_module: str) -> None:
    packed = gzip.compress(DATA[:777]) + gzip.compress(b"") + gzip.compress(DATA[777:])
    assert run(gzip_pieces, packed, 1) == (DATA, "")
    padded = gzip.compress(DATA[:777]) + bytes(513) + gzip.compress(DATA[777:]) + bytes(5000)
    assert run(gzip_pieces, padded) == (DATA, "")


def test_every_header_field_is_skipped() -> None:
    deflated = zlib.compress(DATA, wbits=-15)
    head = b"\x1f\x8b\x08" + bytes([2 | 4 | 8 | 16]) + bytes(6)
    head += struct.pack("<H", 300) + bytes(300) + b"name.json\0" + b"a comment\0" + b"cc"
    packed = head + deflated + struct.pack("<II", zlib.crc32(DATA), len(DATA))
    assert run(gzip_pieces, packed, 3) == (DATA, "")
    for end in range(3, len(head)):
        assert run(gzip_pieces, packed[:end]) == (b"", "the gzip stream is cut inside a header")


def test_what_inflated_before_a_cut_is_kept(zlib_module: str) -> None:
    data = DATA[:3000]
    packed = gzip.compress(data)
    longest = 0
    for end in range(1, len(packed)):
        out, why = run(gzip_pieces, packed[:end], 64)
        assert data.startswith(out)
        assert "cut" in why
        assert len(out) >= longest
        longest = len(out)
    assert longest == len(data)


def test_a_wrong_checksum_costs_nothing(zlib_module: str) -> None:
    packed = bytearray(gzip.compress(DATA))
    packed[-6] ^= 1
    assert run(gzip_pieces, bytes(packed)) == (DATA, "the gzip stream has a wrong checksum")


def test_damage_ends_the_stream_there(zlib_module: str) -> None:
    packed = bytearray(gzip.compress(DATA))
    packed[len(packed) // 2 :] = RANDOM.randbytes(len(packed) // 2)
    out, why = run(gzip_pieces, bytes(packed), 4096)
    assert DATA.startswith(out[: len(DATA) // 3])
    assert len(out) > len(DATA) // 3
    assert "damaged" in why or "checksum" in why or "cut" in why


@pytest.mark.parametrize("rest", [b"garbage", b"\0\0garbage", b"\x1f\x8c\x08"])
def test_other_bytes_behind_a_member_are_told(rest: bytes) -> None:
    out, why = run(gzip_pieces, gzip.compress(DATA) + rest)
    assert out == DATA
    assert why == "bytes that are no gzip stream follow one"


def zstd_module() -> Any:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            return pytest.importorskip(name)
        except pytest.skip.Exception:
            continue
    return pytest.skip("no module for zstd")


def packer(name: str) -> tuple[Peel, Callable[[bytes], bytes]]:
    if name == "xz":
        return xz_pieces, lzma.compress
    if name == "bzip2":
        return bzip2_pieces, bz2.compress
    return zstd_pieces, zstd_module().compress


@pytest.mark.parametrize("name", ["xz", "bzip2", "zstd"])
def test_other_compressions(name: str) -> None:
    peel, pack = packer(name)
    packed = pack(DATA)
    assert run(peel, packed, 7) == (DATA, "")
    assert run(peel, packed + packed) == (DATA + DATA, "")
    assert run(peel, packed + b"garbage behind it") == (
        DATA,
        f"bytes that are no {name} stream follow one",
    )
    out, why = run(peel, packed[: len(packed) // 2])
    assert DATA.startswith(out)
    assert why == f"the {name} stream is cut"
    broken = packed[: len(packed) // 2] + b"\xff" * 40 + packed[len(packed) // 2 + 40 :]
    out, why = run(peel, broken)
    assert DATA.startswith(out[: len(DATA) // 4])
    assert "damaged" in why


def test_the_zstandard_module_serves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    packed = zstandard.compress(DATA)
    assert run(zstd_pieces, packed + packed, 100) == (DATA + DATA, "")
    broken = packed[: len(packed) // 2] + b"\xff" * 40 + packed[len(packed) // 2 + 40 :]
    assert "damaged" in run(zstd_pieces, broken)[1]


def test_without_a_module_for_zstd_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ZstdMissingError):
        zstd_pieces(iter([b""]), Ending())


def test_a_little_that_inflates_to_much_comes_in_small_pieces(zlib_module: str) -> None:
    packed = gzip.compress(bytes(64 * 2**20))
    sizes = [len(part) for part in gzip_pieces(iter([packed]), Ending())]
    assert sum(sizes) == 64 * 2**20
    assert max(sizes) == inflate.PIECE_BYTES
