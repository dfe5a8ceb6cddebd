"""The library that stands before a device's own in LD_PRELOAD: exports functions by name, each of
which loads its number and goes on in the preload library of dctx. ELF, x86-64."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

ENTER: Final = "dctx_device_enter"
"""Where every export leads: exported by dctx's own library."""

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_DYNAMIC: Final = struct.Struct("<qQ")
_RELA: Final = struct.Struct("<QQq")
_PAGE: Final = 4096
_STUB_BYTES: Final = 16
_FUNCTION: Final = 0x12  # global, function
_GLOB_DAT: Final = 6
_LOAD, _DYNAMIC_SEGMENT, _STACK = 1, 2, 0x6474E551
_EXECUTE, _WRITE, _READ = 1, 2, 4


def stub_library(functions: Sequence[str]) -> bytes:
    """The library's bytes. Function n of it goes to ENTER with n in the register r11."""
    names = [ENTER, *functions]
    strings, offsets = b"\0", list[int]()
    for name in names:
        offsets.append(len(strings))
        strings += name.encode() + b"\0"
    head = _HEADER.size + 4 * _SEGMENT.size
    symbols_at = _up(head, 8)
    hash_at = symbols_at + (len(names) + 1) * _SYMBOL.size
    table = _hash_table(names)
    rela_at = _up(hash_at + len(table), 8)
    strings_at = rela_at + _RELA.size
    text_at = _up(strings_at + len(strings), _STUB_BYTES)
    text_end = text_at + _STUB_BYTES * len(functions)
    data_at = _up(text_end, _PAGE)
    got_at = data_at
    dynamic_at = got_at + 8
    dynamic = [
        (4, hash_at), (5, strings_at), (6, symbols_at), (10, len(strings)), (11, _SYMBOL.size),
        (7, rela_at), (8, _RELA.size), (9, _RELA.size), (0, 0),
    ]  # fmt: skip
    data_end = dynamic_at + _DYNAMIC.size * len(dynamic)

    out = bytearray(data_end)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    _HEADER.pack_into(
        out, 0, ident, 3, 62, 1, 0, _HEADER.size, 0, 0, _HEADER.size, _SEGMENT.size, 4, 0, 0, 0
    )
    segments = [
        (_LOAD, _READ | _EXECUTE, 0, text_end, _PAGE),
        (_LOAD, _READ | _WRITE, data_at, data_end - data_at, _PAGE),
        (_DYNAMIC_SEGMENT, _READ | _WRITE, dynamic_at, data_end - dynamic_at, 8),
        (_STACK, _READ | _WRITE, 0, 0, 16),
    ]
    for number, (kind, flags, at, size, align) in enumerate(segments):
        _SEGMENT.pack_into(
            out, _HEADER.size + number * _SEGMENT.size, kind, flags, at, at, at, size, size, align
        )
    _SYMBOL.pack_into(out, symbols_at + _SYMBOL.size, offsets[0], _FUNCTION, 0, 0, 0, 0)
    for number in range(len(functions)):
        at = text_at + number * _STUB_BYTES
        _SYMBOL.pack_into(
            out, symbols_at + (number + 2) * _SYMBOL.size, offsets[number + 1], _FUNCTION, 0, 1,
            at, _STUB_BYTES,
        )  # fmt: skip
        # endbr64; mov $number, %r11d; jmp *got(%rip)
        jump = got_at - (at + _STUB_BYTES)
        out[at : at + _STUB_BYTES] = struct.pack(
            "<4s2sI2si", b"\xf3\x0f\x1e\xfa", b"\x41\xbb", number, b"\xff\x25", jump
        )
    out[hash_at : hash_at + len(table)] = table
    _RELA.pack_into(out, rela_at, got_at, 1 << 32 | _GLOB_DAT, 0)
    out[strings_at : strings_at + len(strings)] = strings
    for number, (tag, value) in enumerate(dynamic):
        _DYNAMIC.pack_into(out, dynamic_at + number * _DYNAMIC.size, tag, value)
    return bytes(out)


def _up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


def _hash_table(names: Sequence[str]) -> bytes:
    """DT_HASH: symbol 0 is none, symbol n + 1 is names[n]."""
    buckets, chains = [0] * len(names), [0] * (len(names) + 1)
    for number, name in enumerate(names, 1):
        bucket = _hash(name) % len(buckets)
        chains[number] = buckets[bucket]
        buckets[bucket] = number
    words = [len(buckets), len(chains), *buckets, *chains]
    return struct.pack(f"<{len(words)}I", *words)


def _hash(name: str) -> int:
    """The hash of the System V ABI."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value
