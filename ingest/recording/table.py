"""The tables inside chunks: columns as narrow as their values."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..arrays import I64
from .chunks import Chunk, FormatError

_HEAD: Final = struct.Struct("<IIIHH")
_COLUMN: Final = struct.Struct("<BBBBI")
_ROWS_WITHOUT_BYTES: Final = 2**20
"""Rows of zeros take no bytes: a table may have so many, or one for each of its bytes."""
_INTEGER, _NUMBER, _TEXT = range(3)


class Table:
    """One table. A column that the file lacks is 0, or empty text, in every row."""

    def __init__(self, chunk: Chunk) -> None:
        """FormatError when its parts do not fit together."""
        self._chunk, content = chunk, chunk.content
        if len(content) < _HEAD.size:
            raise self._damage()
        self.rows: int
        self.first: int
        self.owner: int
        self.rows, self.first, self.owner, columns, _ = _HEAD.unpack_from(content)
        if self.rows > max(len(content), _ROWS_WITHOUT_BYTES):
            raise self._damage()  # no count may take all memory
        at = _HEAD.size + columns * _COLUMN.size
        self._columns: dict[int, tuple[int, int, memoryview]] = {}
        if at > len(content):
            raise self._damage()
        for number in range(columns):
            column, coding, width, _, size = _COLUMN.unpack_from(
                content, _HEAD.size + number * _COLUMN.size
            )
            if at + size > len(content) or width > 8:
                raise self._damage()
            self._columns[column] = (coding, width, content[at : at + size])
            at += size

    def _damage(self) -> FormatError:
        name = self._chunk.type.decode("ascii", "replace").strip()
        return FormatError(f"the {name} table at byte {self._chunk.offset} is damaged.")

    def has(self, column: int) -> bool:
        """The file has it."""
        return column in self._columns

    def integers(self, column: int) -> I64:
        """A column of whole numbers."""
        coding, width, data = self._columns.get(column, (_INTEGER, 0, memoryview(b"")))
        if coding != _INTEGER or len(data) != width * self.rows:
            raise self._damage()
        return _widened(data, width, self.rows)

    def numbers(self, column: int) -> NDArray[np.float64]:
        """A column of floating-point numbers."""
        if column not in self._columns:
            return np.zeros(self.rows, np.float64)
        coding, _, data = self._columns[column]
        if coding != _NUMBER or len(data) != 8 * self.rows:
            raise self._damage()
        values: NDArray[np.float64] = np.frombuffer(data, "<f8").astype(np.float64)
        return values

    def texts(self, column: int) -> list[str]:
        """A column of texts. Bytes that are no UTF-8 are shown as �."""
        return [text.decode("utf-8", "replace") for text in self.blobs(column)]

    def blobs(self, column: int) -> list[bytes]:
        """A column of texts, or of other bytes, as they are."""
        if column not in self._columns:
            return [b""] * self.rows
        coding, width, data = self._columns[column]
        lengths_size = width * self.rows
        if coding != _TEXT or len(data) < lengths_size:
            raise self._damage()
        lengths = _widened(data[:lengths_size], width, self.rows)
        if bool((lengths < 0).any()) or int(lengths.sum()) != len(data) - lengths_size:
            raise self._damage()
        ends: list[int] = (lengths_size + np.cumsum(lengths)).tolist()
        raw, begin, out = bytes(data), lengths_size, list[bytes]()
        for end in ends:
            out.append(raw[begin:end])
            begin = end
        return out


def _widened(data: memoryview, width: int, rows: int) -> I64:
    """Little-endian two's complement of `width` bytes each, as int64."""
    if width == 0:
        return np.zeros(rows, np.int64)
    narrow = np.frombuffer(data, np.uint8).reshape(rows, width)
    wide: NDArray[Any] = np.zeros((rows, 8), np.uint8)
    wide[:, :width] = narrow
    if width < 8:
        wide[:, width:] = np.where(narrow[:, -1:] >= 0x80, 0xFF, 0)
    values: I64 = wide.view("<i8").reshape(rows).astype(np.int64)
    return values
