"""Opens an SQLite trace: by the page reader, or by the SQLite library where that is needed.

The user's file is read only, and nothing is written beside it.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final

from ..native import ColumnKind, SqliteFile, TraceCorrupt
from .errors import DamagedTraceError, NotATraceError, TraceError
from .sqlite_library import LibraryReader, TableColumns

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_WATCHED_S: Final = 10.0
_WATCH_S: Final = 0.05
COPY_LIMIT_BYTES: Final = 4 * 2**30
"""Largest file, with its log, that is copied to merge the log into it."""

_SALVAGE: Final = "open it with --salvage to see what is left"


class SqliteSource:
    """The tables of an SQLite file.

    Raises TraceError, or one of its subclasses, from every method: the file cannot be opened, is
    no SQLite file, is cut, is damaged. With `salvage` a cut or damaged file gives the rows before
    the damage, and the result's `damaged` says where they end.
    """

    tables: dict[str, tuple[str, ...]]
    """Names of the columns of each table, in the order of the file."""
    damaged: str | None
    """Why tables may be missing (salvage only); None when all were found."""

    def __init__(
        self, path: Path, salvage: bool = False, *, copy_limit_bytes: int = COPY_LIMIT_BYTES
    ) -> None:
        self.path = path
        self.tables = {}
        self.damaged = None
        self._salvage = salvage
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._library: LibraryReader | None = None
        self._by_library: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._copied = ""
        self._opened = path
        try:
            self._check_head()
            self._check_growth()
            self._merge_log(copy_limit_bytes)
            self._original = self._stamps()
            self._file = self._open_pages()
            self._list_tables()
        except OSError as error:
            self.close()
            raise _system_error(path, error) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "SqliteSource":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and delete the private copy if one was made."""
        if self._library is not None:
            self._library.close()
            self._library = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def reader(self) -> str:
        """How the file is read, for people."""
        whole = self._file.needs_library
        if whole is not None:
            text = f"SQLite library, because {whole}"
        else:
            text = "page reader"
            if self._by_library:
                reasons = "; ".join(f"{name}: {why}" for name, why in self._by_library.items())
                text += f"; SQLite library for {reasons}"
        return text + self._copied

    def read(
        self,
        table: str,
        columns: Mapping[str, ColumnKind],
        *,
        nulls: Mapping[str, int] | None = None,
        share: tuple[int, int] = (0, 1),
    ) -> TableColumns:
        """The asked columns of a table, in rowid order.

        `share` (i, n): only the i-th of n contiguous shares, which may differ in size; nothing is
        to be read after a share that is `damaged`.

        NULL becomes `nulls[column]`, by default the smallest value of the type, NaN for f64. A
        table or column the file lacks is a KeyError. How values of another type are converted,
        see `dctx.native.ScanResult.converted`.
        """
        known = {name.lower() for name in self.tables[table]}
        for name in columns:
            if name.lower() not in known:
                raise KeyError(name)
        try:
            if not self._through_library(table):
                return self._file.read(
                    table,
                    list(columns.items()),
                    nulls=nulls,
                    share=share,
                    salvage=self._salvage,
                )
            return self._open_library().read(
                table, columns, nulls=nulls or {}, salvage=self._salvage, empty=share[0] > 0
            )
        except TraceCorrupt as error:
            raise self._corrupt(error) from error
        except sqlite3.Error as error:
            raise self._library_error(error, f"table {table}") from error

    def row_count(self, table: str) -> int:
        """Rows of a table; with `salvage` those before the damage. KeyError when there is none."""
        known = self._counts.get(table)
        if known is None:
            known = self._counts[table] = self._count(table)
        return known

    def _count(self, table: str) -> int:
        if table not in self.tables:
            raise KeyError(table)
        try:
            if not self._through_library(table):
                return self._file.row_count(table, salvage=self._salvage)
            return self._open_library().row_count(table)
        except TraceCorrupt as error:
            raise self._corrupt(error) from error
        except sqlite3.Error as error:
            if self._salvage:
                return self.read(table, {}).rows
            raise self._library_error(error, f"table {table}") from error

    def unchanged(self) -> bool:
        """False when the file was written to since it was opened."""
        try:
            return self._file.unchanged() and self._stamps() == self._original
        except OSError:
            return False

    def check_unchanged(self) -> None:
        """TraceError when the file was written to since it was opened: call it after reading."""
        if not self.unchanged():
            raise self._replaced()

    # ---------------------------------------------------------------- opening --

    def _check_head(self) -> None:
        if self.path.is_dir():
            raise NotATraceError(self.path, "is a directory;", "give the file inside it")
        with self.path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
        if not any(head[: len(_MAGIC)]):
            if any(self._sidecars()):
                return  # the library may recover the header from the journal
            raise DamagedTraceError(
                self.path, "export was interrupted: the SQLite header is empty;", "export again"
            )
        if not head.startswith(_MAGIC):
            raise NotATraceError(
                self.path,
                "not an SQLite file (encrypted or another format).",
                "Export it again with: nsys export --type sqlite",
            )
        if len(head) < _HEADER_BYTES:
            raise self._cut(f"it ends after {len(head)} bytes")

    def _check_growth(self) -> None:
        before = self.path.stat()
        if abs(time.time() - before.st_mtime) > _WATCHED_S:
            return
        time.sleep(_WATCH_S)
        after = self.path.stat()
        if after.st_size > before.st_size and not self._salvage:
            raise self._cut("it is growing")

    def _sidecars(self) -> list[Path]:
        """The files beside it without which the newest rows are missing, or wrong."""
        real = os.path.realpath(self.path)
        found: list[Path] = []
        log = Path(real + "-wal")
        if log.is_file() and log.stat().st_size > 0:
            found.append(log)
        journal = Path(real + "-journal")
        if journal.is_file():
            with journal.open("rb") as file:
                if file.read(1) not in (b"", b"\0"):  # else it was closed properly
                    found.append(journal)
        return found

    def _stamps(self) -> list[tuple[str, int, int]]:
        files = [self.path, *self._sidecars()]
        return [(str(f), s.st_size, s.st_mtime_ns) for f in files for s in [f.stat()]]

    def _merge_log(self, limit_bytes: int) -> None:
        """Merge a write-ahead log or an open journal into a private copy of the file."""
        sidecars = self._sidecars()
        if not sidecars:
            return
        before = self._stamps()
        size = sum(length for _, length, _ in before)
        names = " and ".join(sidecar.name for sidecar in sidecars)
        if size > limit_bytes:
            raise TraceError(
                self.path,
                f"the newest rows are in {names}, and merging them takes a copy of {_mib(size)}, "
                f"above the limit of {_mib(limit_bytes)}.",
                f"Merge them once with: sqlite3 {self.path.name} 'PRAGMA journal_mode=DELETE'",
            )
        self._folder = tempfile.TemporaryDirectory(prefix="dctx-")
        copy = Path(self._folder.name, "trace.sqlite")
        shutil.copyfile(self.path, copy)
        for sidecar in sidecars:
            suffix = sidecar.name.rpartition("-")[2]
            shutil.copyfile(sidecar, f"{copy}-{suffix}")
        if self._stamps() != before:
            raise self._cut("it changed while it was copied")
        try:
            connection = sqlite3.connect(copy)
            try:
                connection.execute("PRAGMA journal_mode=DELETE").fetchall()
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise self._library_error(error, names) from error
        self._opened = copy
        self._copied = f", over a private copy with {names} merged ({_mib(size)})"

    def _open_pages(self) -> SqliteFile:
        try:
            file = SqliteFile(self._opened)
        except ValueError as error:
            raise DamagedTraceError(
                self.path, f"the SQLite header is damaged: {error};", "export again"
            ) from error
        if file.pages_present < file.page_count and not self._salvage:
            raise self._cut(f"{file.pages_present} of {file.page_count} pages are there")
        return file

    def _list_tables(self) -> None:
        if self._file.needs_library is not None:
            try:
                library = self._open_library()
                self.tables = {name: library.columns(name) for name in library.tables()}
            except sqlite3.Error as error:
                raise self._library_error(error, "schema") from error
            return
        try:
            tables = self._file.tables()
        except TraceCorrupt as error:
            if not self._salvage:
                raise self._corrupt(error) from error
            self.damaged = str(error.args[0])
            tables = self._file.tables(salvage=True)
        for table in tables:
            if table.unreadable is None:
                self.tables[table.name] = tuple(column.name for column in table.columns)
            elif table.root_page > 0:
                self._list_by_library(table.name, table.unreadable)

    def _list_by_library(self, table: str, reason: str) -> None:
        try:
            self.tables[table] = self._open_library().columns(table)
            self._by_library[table] = reason
        except sqlite3.Error as error:
            if not self._salvage:
                raise self._library_error(error, f"table {table}") from error
            self.damaged = f"table {table}: {error}"

    def _through_library(self, table: str) -> bool:
        return self._file.needs_library is not None or table in self._by_library

    def _open_library(self) -> LibraryReader:
        if self._library is None:
            self._library = LibraryReader(self._opened)
        return self._library

    # ----------------------------------------------------------------- errors --

    def _replaced(self) -> TraceError:
        return TraceError(self.path, "file changed while reading;", "open it again")

    def _cut(self, detail: str) -> DamagedTraceError:
        return DamagedTraceError(
            self.path,
            f"file is still being written or was cut ({detail});",
            f"try again when the export has ended, or {_SALVAGE}",
        )

    def _corrupt(self, error: TraceCorrupt) -> TraceError:
        if not self.unchanged():
            return self._replaced()
        _, table, page, offset, reason, rows = error.args
        return DamagedTraceError(
            self.path,
            f"damaged page: {reason}; {rows} rows before it are intact;",
            f"export again, or {_SALVAGE}",
            f"table {table}, page {page}, offset {offset}",
        )

    def _library_error(self, error: sqlite3.Error, where: str) -> DamagedTraceError:
        return DamagedTraceError(
            self.path, f"damaged: {error};", f"export again, or {_SALVAGE}", where
        )


def _system_error(path: Path, error: OSError) -> TraceError:
    if isinstance(error, FileNotFoundError):
        return TraceError(path, "no such file.", "Check the name.")
    if isinstance(error, PermissionError):
        return TraceError(path, "permission denied;", "ask its owner for the right to read it")
    reason = error.strerror or str(error)
    return TraceError(path, f"cannot be read: {reason.lower()}.", "Check the disk and the name.")


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f} MiB"
