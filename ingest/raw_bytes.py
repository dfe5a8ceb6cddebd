"""Where the bytes of a trace come from: a file, a member of a zip archive, the standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from .errors import NotATraceError, TraceError
from .inflate import PIECE_BYTES, Ending

STANDARD_INPUT: Final = Path("-")
_MAGIC_BYTES: Final = 16


class RawBytes(Protocol):
    """Bytes that can be read from their beginning, again and again."""

    @property
    def position(self) -> int:
        """How far into the file the last reading has come, bytes."""
        ...

    def pieces(self, ending: Ending) -> Iterator[bytes]: ...


class FileBytes:
    """The bytes of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0

    def pieces(self, ending: Ending) -> Iterator[bytes]:
        self.position = 0
        with self.path.open("rb", buffering=0) as file:
            while piece := file.read(PIECE_BYTES):
                self.position += len(piece)
                yield piece


class ZipMember:
    """The bytes of one member of a zip archive."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.position = 0

    def pieces(self, ending: Ending) -> Iterator[bytes]:
        import lzma
        import zlib
        from zipfile import BadZipFile, ZipFile

        with self.path.open("rb") as file, ZipFile(file) as archive:
            try:
                with archive.open(self.name) as member:
                    while piece := member.read(PIECE_BYTES):
                        self.position = file.tell()
                        yield piece
            except (BadZipFile, EOFError, NotImplementedError, zlib.error, lzma.LZMAError) as error:
                ending.early(f"the zip member {self.name} is damaged ({error})")


_standard_input = 0
"""The descriptor to read, once `set_standard_input_aside` was called."""


def set_standard_input_aside() -> None:
    """Make the terminal the standard input, and keep the present one for the trace.

    OSError when there is no terminal."""
    global _standard_input
    terminal = os.open("/dev/tty", os.O_RDWR)
    _standard_input = os.dup(0)
    os.dup2(terminal, 0)
    os.close(terminal)


class StandardInput:
    """The standard input. What is read before `keep_no_more` is kept and comes again."""

    def __init__(self) -> None:
        self.position = 0
        self._kept: list[bytes] = []
        self._keep = True

    def keep_no_more(self) -> None:
        """The next reading is the last one."""
        self._keep = False

    def pieces(self, ending: Ending) -> Iterator[bytes]:
        kept = self._kept if self._keep else self._give_up()
        yield from kept
        # Unbuffered: what is kept is all that was taken.
        while piece := os.read(_standard_input, PIECE_BYTES):
            self.position += len(piece)
            if self._keep:
                self._kept.append(piece)
            yield piece

    def _give_up(self) -> Iterator[bytes]:
        self._kept.reverse()
        while self._kept:
            yield self._kept.pop()


def is_standard_input(path: Path) -> bool:
    """True for `-`, unless a file has that name."""
    return path == STANDARD_INPUT and not path.exists()


def check_readable(path: Path) -> bytes:
    """The first bytes of a file. TraceError when it cannot be read, or is no file."""
    try:
        # Without blocking: a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _not_a_file(path)
            return file.read(_MAGIC_BYTES)
    except FileNotFoundError as error:
        raise TraceError(path, "there is no such file.", "Check the name.") from error
    except PermissionError as error:
        what = "you may not read this file."
        raise TraceError(path, what, f"Ask its owner for access, or: chmod +r {path}") from error
    except OSError as error:
        if path.is_socket():
            raise _not_a_file(path) from error
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> TraceError:
    """What to say when the system cannot read a file."""
    what = f"the file cannot be read ({error.strerror or error})."
    return TraceError(path, what, "Check the disk or the network mount.")


def _not_a_file(path: Path) -> NotATraceError:
    return NotATraceError(
        path,
        "this is a pipe, a socket or a device; a trace may be read more than once.",
        "Save it to a file first and open that, or send it to the standard input of: dctx info -",
    )
