"""One file of a trace, opened: what it holds, and its inflated bytes as a stream.

A user's file is only ever read.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Final

from .cache import has_log
from .detect import Content, Refusal, sqlite_content
from .errors import NotATraceError, TraceError
from .inflate import Ending
from .memory import shortage
from .progress import Done, Pace
from .raw_bytes import (
    FileBytes,
    RawBytes,
    StandardInput,
    check_readable,
    is_standard_input,
    unreadable,
)
from .sniff import sniff

_QUEUE: Final = 4
_CHECK_EVERY: Final = 64
"""After so many pieces it is looked whether there is room for more."""
_SPARE_BYTES: Final = 2**26
"""Disk that unpacking never takes."""
_POLL_S: Final = 0.1

Tell = Callable[[Done], None]
"""Takes how much of the file was read. May raise CancelledError."""


def quiet(done: Done) -> None:
    """For callers that show no progress."""


class Source:
    """One file of a trace, or the standard input. Close it: threads and spooled copies go then."""

    path: Path
    """As the user named it."""
    label: str
    """A short name, unique among the files of a trace."""
    rank: int | None
    """As the file's name tells; None when it does not."""
    content: Content
    head: bytes
    """The first inflated bytes, as many as it took to tell what they are."""
    file: Path | None
    """SQLite only: the database to open by its name."""
    size_bytes: int
    """On the disk; 0 when not known."""
    mtime_ns: int | None
    cut: str
    """Once `chunks` has ended: why it ended early, or empty."""

    def __init__(
        self, path: Path, label: str = "", *, export: Path | None = None, tell: Tell = quiet
    ) -> None:
        """Find out what `path` holds, or the `export` that was made of it. TraceError when it
        cannot be read or is no trace.

        `tell` is called while an SQLite database that is compressed, or comes from the standard
        input, is copied into a private temporary folder: it cannot be read as a stream."""
        self.path, self.label = path, label or path.name
        self.rank, self.file, self.cut = None, None, ""
        self.size_bytes, self.mtime_ns = 0, None
        self._scratch = ExitStack()
        self._closed = threading.Event()
        self._stamps: tuple[int, ...] = ()
        raw: RawBytes
        if is_standard_input(path):
            self.label = "standard input"
            raw = StandardInput()
        else:
            check_readable(path)
            status = path.stat()
            self.size_bytes, self.mtime_ns = status.st_size, status.st_mtime_ns
            self._stamps = _stamps(status)
            raw = FileBytes(export or path)
        try:
            self._inside = sniff(raw)
            if isinstance(raw, StandardInput):
                raw.keep_no_more()
            found = self._inside.found
            if isinstance(raw, StandardInput) and not self._inside.head:
                raise NotATraceError(self.label, "nothing came.", "Send it a trace.")
            if isinstance(found, Refusal):
                raise found.error(self.label if isinstance(raw, StandardInput) else path)
            self.head = self._inside.head
            if found is Content.NSYS:
                self.file = self._as_file(tell)
                found = sqlite_content(_tables(self.file))
            self.content = found
        except OSError as error:
            self.close()
            raise unreadable(path, error) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop reading, and remove what was spooled."""
        self._closed.set()
        self._scratch.close()

    def chunks(self, tell: Tell = quiet) -> Generator[bytes]:
        """The inflated bytes from the first one on, at most 1 MiB each.

        They are made on a thread of their own, a few ahead. `tell` is called on the iterating
        thread, again and again while there is nothing to hand out. A cut or damaged stream ends
        early, and `cut` says so. The standard input can be read once. TraceError when the system
        cannot read the file."""
        queue: Queue[bytes | BaseException | None] = Queue(_QUEUE)
        stop = threading.Event()
        ending = Ending()
        pace = Pace()

        def put(item: bytes | BaseException | None) -> bool:
            while not stop.is_set() and not self._closed.is_set():
                with suppress(Full):
                    queue.put(item, timeout=_POLL_S)
                    return True
            return False

        def work() -> None:
            try:
                for piece in self._inside.pieces(ending):
                    if not put(piece):
                        return
                put(None)
            except BaseException as error:
                put(error)

        thread = threading.Thread(target=work, name="dctx-inflate", daemon=self._waits_for_others())
        thread.start()
        handed_out = 0
        try:
            while True:
                tell(self._done(pace))
                try:
                    item = queue.get(timeout=_POLL_S)
                except Empty:
                    if self._closed.is_set():
                        raise ValueError("the source is closed") from None
                    continue
                if item is None:
                    break
                if isinstance(item, OSError):
                    raise unreadable(self.path, item) from item
                if isinstance(item, BaseException):
                    raise item
                yield item
                handed_out += 1
                if handed_out % _CHECK_EVERY == 0:
                    self._check_memory()
        finally:
            stop.set()
            if not thread.daemon:
                thread.join()
            self.cut = ending.why
        tell(1.0)

    def read_all(self, tell: Tell = quiet) -> bytes:
        """All inflated bytes, for formats that cannot be read as a stream."""
        with closing(self.chunks(tell)) as chunks:
            return b"".join(chunks)

    def check_unchanged(self) -> None:
        """TraceError when the file was written to since it was opened. Recordings only grow: what
        was read of one stays true."""
        if self.content is Content.DCTXREC:
            return
        if self._stamps and _stamps(self.path.stat()) != self._stamps:
            raise TraceError(
                self.path,
                "file changed while reading: is it still being written?",
                "Open it again when its writer has ended.",
            )

    def _check_memory(self) -> None:
        """TraceError when what was read until now leaves too little memory for the rest."""
        short = shortage()
        if short is not None:
            used, left = (size / 2**30 for size in short)
            what = (
                f"it does not fit into memory: {used:.1f} GiB are in use after {self._progress()}, "
                f"and {left:.1f} GiB are left."
            )
            raise TraceError(self._named(), what, "Record fewer steps, or use a larger machine.")

    def _progress(self) -> str:
        read = self._inside.raw.position
        if self.size_bytes:
            return f"{100 * self._fraction():.0f} % of the file"
        return f"{read / 2**20:,.0f} MiB"

    def _named(self) -> Path | str:
        """What the user calls it."""
        return self.label if self._waits_for_others() else self.path

    @property
    def compressed(self) -> bool:
        """Its bytes are more than `size_bytes` when read."""
        return bool(self._inside.layers) or not isinstance(self._inside.raw, FileBytes)

    def _waits_for_others(self) -> bool:
        """A program that writes to our standard input may never end: no one waits for it."""
        return isinstance(self._inside.raw, StandardInput)

    def _done(self, pace: Pace) -> Done:
        return self._fraction() if self.size_bytes else pace.at(self._inside.raw.position)

    def _fraction(self) -> float:
        return min(self._inside.raw.position / self.size_bytes, 1.0)

    def _as_file(self, tell: Tell) -> Path:
        """The bytes as a file of their own, unless they are one already."""
        raw = self._inside.raw
        if isinstance(raw, FileBytes) and not self._inside.layers:
            return raw.path
        import tempfile

        folder = self._scratch.enter_context(tempfile.TemporaryDirectory(prefix="dctx-"))
        target = Path(folder) / "trace.sqlite"
        try:
            with target.open("wb") as file, closing(self.chunks(tell)) as chunks:
                for number, chunk in enumerate(chunks):
                    if number % _CHECK_EVERY == _CHECK_EVERY - 1 and not _has_room(folder):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    file.write(chunk)
        except OSError as error:
            what = f"it cannot be unpacked into {folder} ({error.strerror})."
            remedy = "Unpack it yourself, or set TMPDIR to where there is room."
            raise TraceError(self._named(), what, remedy) from error
        return target


def _has_room(folder: str) -> bool:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize > _SPARE_BYTES


def _stamps(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _tables(file: Path) -> list[str]:
    """Names of the tables of a database, as far as it can be read: its reader tells the rest."""
    from ..native import SqliteFile, TraceCorrupt
    from .sqlite import SqliteSource

    try:
        if has_log(file):
            with SqliteSource(file) as source:
                return list(source.tables)
        return [table.name for table in SqliteFile(file).tables(salvage=True)]
    except (OSError, ValueError, TraceCorrupt, TraceError):
        return []
