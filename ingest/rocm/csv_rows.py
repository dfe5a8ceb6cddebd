"""A table of rocprofv3 in a CSV file, as columns."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import StringPool
from ..arrays import I32, I64, NULL64, Mask
from ..csv_head import csv_header, csv_table
from ..errors import DamagedTraceError
from ..inputs import Source, Tell

_WHOLE: Final = r"^-?[0-9]{1,18}$"
_NUMBER: Final = r"^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$"
_YES: Final = ("1", "true")
pa: Any = import_module("pyarrow")  # without types of its own
pc: Any = import_module("pyarrow.compute")
csv: Any = import_module("pyarrow.csv")


class CsvRows:
    """Rows of one file: columns by their name in lower case."""

    def __init__(self, table: str, columns: Any, lost: int = 0) -> None:
        self.table = table
        self.lost = lost
        """Rows of the file that are not whole: none of these."""
        self._columns = columns
        self._kept: I64 = np.arange(columns.num_rows, dtype=np.int64)

    @property
    def count(self) -> int:
        """Rows that are kept."""
        return len(self._kept)

    def keep(self, mask: Mask) -> None:
        """Hand out only the rows where `mask` is true."""
        self._kept = self._kept[mask]

    def copy(self) -> CsvRows:
        """The same rows, to keep others of them."""
        other = CsvRows(self.table, self._columns)
        other._kept = self._kept
        return other

    def has(self, name: str) -> bool:
        """The file has the column."""
        return name in self._columns.column_names

    def i64(self, name: str) -> I64:
        """A column of whole numbers; NULL64 where there is none."""
        if not self.has(name):
            return np.full(self.count, NULL64)
        values: I64 = self._numbers(name, _WHOLE, pa.int64()).fill_null(NULL64).to_numpy()
        return values[self._kept]

    def f64(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; NaN where there is none."""
        if not self.has(name):
            return np.full(self.count, np.nan)
        values: NDArray[np.float64]
        values = self._numbers(name, _NUMBER, pa.float64()).fill_null(np.nan).to_numpy()
        return values[self._kept]

    def texts(self, name: str) -> tuple[list[str], I32]:
        """The distinct texts of a column, and for each row which of them it has; -1: none."""
        if not self.has(name):
            return [], np.full(self.count, -1, np.int32)
        coded = self._columns[name].combine_chunks().dictionary_encode()
        found: list[str] = coded.dictionary.to_pylist()
        index: I32 = coded.indices.fill_null(-1).to_numpy().astype(np.int32)[self._kept]
        empty = [at for at, text in enumerate(found) if not text]
        return found, np.where(np.isin(index, empty), -1, index).astype(np.int32)

    def each(self, name: str) -> list[str]:
        """The texts of a column of a small table, row by row; empty where there is none."""
        found, index = self.texts(name)
        rows: list[int] = index.tolist()
        return [found[row] if row >= 0 else "" for row in rows]

    def names(self, name: str, pool: StringPool) -> I32:
        """A column of texts as ids, -1 where there is none."""
        found, index = self.texts(name)
        ids = np.array([*map(pool.intern, found), -1], np.int32)
        return ids[index]

    def flags(self, name: str) -> Mask:
        """A column that tells yes or no: 1 or true is yes."""
        found, index = self.texts(name)
        yes = np.array([*(text.lower() in _YES for text in found), False], np.bool_)
        return yes[index]

    def _numbers(self, name: str, pattern: str, kind: Any) -> Any:
        column = self._columns[name].combine_chunks()
        good = pc.match_substring_regex(column, pattern)
        return pc.if_else(good, column, None).cast(kind)


def read_rows(source: Source, tell: Tell) -> CsvRows:
    """The table of a file. DamagedTraceError when it is no table."""
    data = source.read_all(tell)
    whole, ended, rest = data.rpartition(b"\n")
    names, table = csv_header(source.head) or [], csv_table(source.head) or ""
    lost = 1 if rest.strip() and ended else 0

    def skip(row: object) -> str:
        nonlocal lost
        lost += 1
        return "skip"

    try:
        columns = csv.read_csv(
            pa.BufferReader(_readable(whole + ended)),
            read_options=csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False),
            parse_options=csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        what = f"the table cannot be read ({str(error).splitlines()[0]})."
        raise DamagedTraceError(source.path, what, "Copy it again, or record it again.") from error
    # Of columns with one name the first counts.
    return CsvRows(table, columns.select([*map(names.index, dict.fromkeys(names))]), lost)


def _readable(data: bytes) -> bytes:
    """Names of kernels may hold bytes that are no UTF-8; each is shown as �."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data
