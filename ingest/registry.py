"""Opens any trace: by its cached store, or by reading it with the module of its format."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from ..native import trim_memory
from . import nsys
from .cache import entry_path, make_private, temporary_path, tidy, touch
from .errors import NotATraceError, TraceError, shown_path
from .progress import Progress, silent
from .recent import RecentTrace, recent_traces, remember
from .source import SourceInfo
from .store import STORE_VERSION, Store, is_store, open_store
from .writer import StoreWriteError, StoreWriter

__all__ = ["RecentTrace", "import_trace", "open_trace", "recent_traces"]

_HEAD_BYTES: Final = 4096
_SPARE_BYTES: Final = 64 * 2**20
_STORE_SHARE: Final = 0.5
"""A store is smaller than this share of an export; below that much free space none is begun."""


class Format(Protocol):
    """What a format module offers."""

    @property
    def NAME(self) -> str: ...  # noqa: N802
    def detect(self, head: bytes) -> bool: ...
    def describe(self, path: Path) -> SourceInfo: ...
    def load(
        self, path: Path, writer: StoreWriter, progress: Progress, salvage: bool = False
    ) -> None: ...


_FORMATS: Final[tuple[Format, ...]] = (nsys,)


def open_trace(
    path: Path,
    *,
    progress: Progress = silent,
    on_summary: Callable[[Store], None] | None = None,
    cache: bool = True,
    salvage: bool = False,
) -> Store:
    """The store of a trace: the cached one when the file has not changed, else built now.

    `on_summary` is called on this thread with the store as soon as all tables but those of single
    events are complete; the same store is returned at the end. With a cached store it is not
    called. `salvage` accepts a damaged file and keeps what is readable. TraceError when the file
    cannot be read, CancelledError when `progress` raises it."""
    head = _read_head(path)
    if is_store(head):
        store = open_store(path)
        remember(path)
        return store
    with nsys.as_export(path, progress, cache=cache) as (readable, progress):
        if readable != path:
            head = _read_head(readable)
        kind = _format_of(path, head)
        store = _cached_or_built(path, readable, kind, progress, on_summary, cache, salvage)
    remember(path)
    return store


def import_trace(
    path: Path, output: Path, *, progress: Progress = silent, salvage: bool = False
) -> None:
    """Write the store of a trace to `output`, which appears when it is complete."""
    head = _read_head(path)
    if is_store(head):
        raise TraceError(path, "it is a store already.", "Copy the file instead.")
    if not output.parent.is_dir():
        what = f"there is no directory {shown_path(output.parent)}."
        raise TraceError(output, what, "Make it first, or write to another place.")
    with nsys.as_export(path, progress, cache=True) as (readable, progress):
        if readable != path:
            head = _read_head(readable)
        kind = _format_of(path, head)
        temporary = temporary_path(output)
        try:
            writer = StoreWriter(path, temporary, stat.S_IMODE(path.stat().st_mode))
            _fill(writer, path, readable, kind, progress, salvage)
            writer.publish(output).close()
        except StoreWriteError as error:
            what = f"the store cannot be written ({error})."
            raise TraceError(output, what, "Write it where there is room.") from error


def _read_head(path: Path) -> bytes:
    if path == Path("-") and not path.exists():
        raise NotATraceError(
            path, "traces are not read from the standard input.", "Save it to a file first."
        )
    if path.is_dir():
        raise NotATraceError(
            path, "it is a folder.", "Name one trace in it; folders of ranks are not read yet."
        )
    try:
        # Without blocking: a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _not_a_file(path)
            return file.read(_HEAD_BYTES)
    except FileNotFoundError as error:
        raise TraceError(path, "there is no such file.", "Check the name.") from error
    except PermissionError as error:
        what = "you may not read this file."
        raise TraceError(path, what, f"Ask its owner for access, or: chmod +r {path}") from error
    except OSError as error:
        if path.is_socket():
            raise _not_a_file(path) from error
        what = f"the file cannot be read ({error.strerror})."
        raise TraceError(path, what, "Check the disk or the network mount.") from error


def _not_a_file(path: Path) -> NotATraceError:
    return NotATraceError(
        path,
        "this is a pipe, a socket or a device; a trace is read in any order, not as a stream.",
        "Save it to a file first, and open that.",
    )


def _format_of(path: Path, head: bytes) -> Format:
    if not head:
        raise NotATraceError(
            path, "the file is empty: its export was interrupted.", "Export it again."
        )
    for kind in _FORMATS:
        if kind.detect(head):
            return kind
    raise NotATraceError(
        path,
        "this is no trace that dctx knows.",
        "It reads SQLite exports of Nsight Systems (nsys export --type sqlite) and .dctx stores.",
    )


def _cached_or_built(
    path: Path,
    readable: Path,
    kind: Format,
    progress: Progress,
    on_summary: Callable[[Store], None] | None,
    cache: bool,
    salvage: bool,
) -> Store:
    entry: Path | None = None
    if cache:
        entry = entry_path(path, f"{STORE_VERSION} salvage" if salvage else str(STORE_VERSION))
        if entry.exists():
            try:
                store = open_store(entry, path)
            except TraceError:
                pass  # another version of DuckDB, or damaged: built anew
            else:
                touch(entry)
                return store
    return _Build(path, readable, kind, progress, on_summary, salvage).into(entry, cache)


def _fill(
    writer: StoreWriter,
    path: Path,
    readable: Path,
    kind: Format,
    progress: Progress,
    salvage: bool,
) -> None:
    """Load into the writer; nothing is left of it when that fails."""
    try:
        status = path.stat()
        writer.facts(
            {
                "source_path": shown_path(os.path.realpath(path)),
                "source_size_bytes": status.st_size,
                "source_mtime_ns": status.st_mtime_ns,
                "format": kind.NAME,
            }
        )
        kind.load(readable, writer, progress, salvage)
        trim_memory()
        progress("Writing the store", 0.97)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


class _Build:
    """Builds a store in the cache, or in memory where the cache cannot take it."""

    def __init__(
        self,
        path: Path,
        readable: Path,
        kind: Format,
        progress: Progress,
        on_summary: Callable[[Store], None] | None,
        salvage: bool,
    ) -> None:
        self._path = path
        self._readable = readable
        self._kind = kind
        self._progress = progress
        self._on_summary = on_summary
        self._salvage = salvage
        self._shown: Store | None = None
        """The store readers have already, from an attempt that failed later."""

    def into(self, entry: Path | None, cache: bool) -> Store:
        """The finished store; `entry` None: in memory, as asked when `cache` is false."""
        reason = "" if entry is not None else "no cache was asked for"
        if entry is not None:
            try:
                return self._on_disk(entry)
            except (StoreWriteError, OSError) as error:
                reason = str(error)
        return self._in_memory(reason if cache else "")

    def _on_disk(self, entry: Path) -> Store:
        make_private(entry.parent)
        if not os.access(entry.parent, os.W_OK | os.X_OK):
            raise StoreWriteError(f"{entry.parent} is not writable")
        need = int(self._readable.stat().st_size * _STORE_SHARE) + _SPARE_BYTES
        room = os.statvfs(entry.parent)
        free = room.f_bavail * room.f_frsize
        if free < need:
            raise StoreWriteError(f"{free >> 20} MiB free in {entry.parent}")
        tidy(entry)
        writer = StoreWriter(self._path, temporary_path(entry))
        self._load(writer)
        store = writer.publish(entry)
        store.cached = True
        tidy(entry)
        return store

    def _in_memory(self, reason: str) -> Store:
        try:
            writer = StoreWriter(self._path, None)
            if reason:
                writer.note_memory_only(reason)
            self._load(writer)
            return writer.serve()
        except StoreWriteError as error:
            what = f"there is not enough memory for its tables ({error})."
            raise TraceError(self._path, what, "Free memory, or give the cache room.") from error

    def _load(self, writer: StoreWriter) -> None:
        if self._shown is not None:
            writer.continue_in(self._shown)
        elif self._on_summary is not None:
            writer.on_summary(self._show)
        _fill(writer, self._path, self._readable, self._kind, self._progress, self._salvage)

    def _show(self, store: Store) -> None:
        self._shown = store
        if self._on_summary is not None:
            self._on_summary(store)
