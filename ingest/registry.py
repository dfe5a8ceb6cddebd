"""Opens any trace: by its cached store, or by reading it with the module of its format."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from ..native import trim_memory
from .baselines import is_baseline, open_baseline
from .cache import make_private, temporary_path, tidy, tidy_beside, touch
from .detect import READS
from .errors import NotATraceError, TraceError, shown_path
from .gather import Format, Gathered, gather
from .inputs import Source
from .model import Severity
from .progress import Progress, silent
from .raw_bytes import check_readable, unreadable
from .recent import RecentTrace, recent_traces, remember
from .selection import Asked, Selection, select
from .store import STORE_VERSION, Store, is_store, open_store
from .writer import StoreWriteError, StoreWriter

__all__ = ["Asked", "RecentTrace", "import_trace", "open_trace", "recent_traces"]

_SPARE_BYTES: Final = 64 * 2**20
_STORE_SHARE: Final = 0.5
"""A store is smaller than this share of what is read; below that much free space none is begun."""
_INFLATED: Final = 4
"""For that, a compressed file counts this many times its size."""

_FORMATS: Final = ("nsys", "kineto", "jax", "rocm", "proton", "recording")
"""Readers, loaded when a trace without a store is read: the others only cost time."""


def open_trace(
    trace: Asked,
    *,
    progress: Progress = silent,
    on_summary: Callable[[Store], None] | None = None,
    cache: bool = True,
    salvage: bool = False,
) -> Store:
    """The store of a trace: the cached one when its files have not changed, else built now.

    `trace` is a file, a folder or pattern of rank files, several files, or `-` for the standard
    input, which is not cached. `on_summary` is called on this thread with the store as soon as all
    tables but those of single events are complete; the same store is returned at the end. With a
    cached store it is not called. `salvage` accepts a damaged database and keeps what is readable.
    TraceError when it cannot be read, CancelledError when `progress` raises it."""
    selection = select(trace)
    store = _ready_store(selection, cache=cache, salvage=salvage)
    if store is None:
        with ExitStack() as stack:
            parts = gather(selection, stack, _format_of, progress, cache=cache)
            build = _Build(selection, parts, on_summary, salvage)
            store = build.into(_entry(selection, salvage=salvage) if cache else None, cache)
    if not selection.is_stream and not is_baseline(selection.path):
        remember(selection.paths, _size(selection))
    return store


def import_trace(
    trace: Asked, output: Path, *, progress: Progress = silent, salvage: bool = False
) -> None:
    """Write the store of a trace to `output`, which appears when it is complete."""
    selection = select(trace)
    if not output.parent.is_dir():
        what = f"there is no directory {shown_path(output.parent)}."
        raise TraceError(output, what, "Make it first, or write to another place.")
    mode = 0o600
    if not selection.is_stream:
        for path in selection.files:
            if is_store(check_readable(path)):
                raise TraceError(path, "it is a store already.", "Copy the file instead.")
            mode |= stat.S_IMODE(path.stat().st_mode)
    with ExitStack() as stack:
        parts = gather(selection, stack, _format_of, progress, cache=True)
        tidy_beside(output)
        temporary = temporary_path(output)
        try:
            writer = StoreWriter(selection.path, temporary, mode)
            _fill(writer, selection, parts, salvage)
            writer.publish(output).close()
        except StoreWriteError as error:
            what = f"the store cannot be written ({error})."
            raise TraceError(output, what, "Write it where there is room.") from error


def _format_of(source: Source) -> Format:
    for name in _FORMATS:
        kind = cast("Format", import_module(f".{name}", __package__))
        if source.content in kind.READS:
            return kind
    what = f"this is a {source.content} trace, which this version does not read."
    raise NotATraceError(source.path, what, READS)


def _size(selection: Selection) -> int:
    return sum(path.stat().st_size for path in selection.files if path.exists())


def _ready_store(selection: Selection, *, cache: bool, salvage: bool) -> Store | None:
    """A store that is there already: the file itself is one, or the cache has it."""
    if selection.is_stream:
        return None
    if selection.folder is None:
        for path in selection.files:
            baseline = is_baseline(path)
            if not baseline and not is_store(check_readable(path)):
                continue
            if not selection.one:
                raise TraceError(path, "a store is a whole trace.", "Open it alone.")
            return open_baseline(path) if baseline else open_store(path)
    entry = _entry(selection, salvage=salvage) if cache else None
    if entry is None or not entry.exists():
        return None
    try:
        store = open_store(entry, selection.path)
    except TraceError:
        return None  # another version of DuckDB, or damaged: built anew
    touch(entry)
    return store


def _entry(selection: Selection, *, salvage: bool) -> Path | None:
    """The trace's place in the cache; None for the standard input."""
    if selection.is_stream:
        return None
    version = f"{STORE_VERSION} salvage" if salvage else str(STORE_VERSION)
    try:
        return selection.entry(version)
    except OSError as error:
        raise unreadable(selection.path, error) from error


def _fill(writer: StoreWriter, selection: Selection, parts: Gathered, salvage: bool) -> None:
    """Load into the writer; nothing is left of it when that fails."""
    sources = parts.sources
    try:
        writer.facts(_source_facts(selection, sources))
        writer.notes(parts.notes)
        writer.before_summary(lambda: _account_for(sources, writer))
        parts.format.load(sources, writer, parts.progress, salvage)
        trim_memory()
        parts.progress("Writing the store", 0.97)
        writer.finish()
    except BaseException as error:
        writer.abandon()
        told = _told(error, selection, sources)
        if told is None:
            raise
        raise told from error


def _told(
    error: BaseException, selection: Selection, sources: Sequence[Source]
) -> TraceError | None:
    """The error in the user's terms; None for one that is so already."""
    if isinstance(error, MemoryError):
        what = f"there is not enough memory for it ({error or 'none is left'})."
        return TraceError(selection.title, what, "Free memory, or use a larger machine.")
    if isinstance(error, TraceError):
        for source in sources:  # unpacked, it has a name that the user does not know
            if source.file is not None and error.path == shown_path(source.file):
                return type(error)(source.path, error.what, error.remedy, error.where)
    return None


def _source_facts(selection: Selection, sources: Sequence[Source]) -> dict[str, object]:
    stamps = [source.mtime_ns for source in sources if source.mtime_ns is not None]
    return {
        "source_path": selection.title,
        "source_size_bytes": sum(source.size_bytes for source in sources) or None,
        "source_mtime_ns": max(stamps, default=None),
        "sources": len(sources),
        "format": sources[0].content.value,
    }


def _account_for(sources: Sequence[Source], writer: StoreWriter) -> None:
    """Everything was read: tell what was cut. TraceError when a file changed meanwhile."""
    cut = [source for source in sources if source.cut]
    for source in sources:
        source.check_unchanged()
    for source in cut:
        text = f"{source.label}: {source.cut}; what comes before that is shown."
        writer.notes([(Severity.WARNING, "import", text)])
    if cut:
        writer.facts({"truncated_gz": len(cut)})


class _Build:
    """Builds a store in the cache, or in memory where the cache cannot take it."""

    def __init__(
        self,
        selection: Selection,
        parts: Gathered,
        on_summary: Callable[[Store], None] | None,
        salvage: bool,
    ) -> None:
        self._selection = selection
        self._path = selection.path
        self._parts = parts
        self._on_summary = on_summary
        self._salvage = salvage
        self._shown: Store | None = None
        """The store readers have already, from an attempt that failed later."""

    def into(self, entry: Path | None, cache: bool) -> Store:
        """The finished store; `entry` None: in memory, as asked when `cache` is false."""
        reason = ""
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
        need = int(sum(map(_read_bytes, self._parts.sources)) * _STORE_SHARE) + _SPARE_BYTES
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
        _fill(writer, self._selection, self._parts, self._salvage)

    def _show(self, store: Store) -> None:
        self._shown = store
        if self._on_summary is not None:
            self._on_summary(store)


def _read_bytes(source: Source) -> int:
    """About how many bytes are read of a file."""
    if source.file is not None:
        return source.file.stat().st_size
    return source.size_bytes * (_INFLATED if source.compressed else 1)
