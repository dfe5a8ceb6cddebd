"""Standard streams as the commands find them: closed, full, or without UTF-8."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from .failures import UserError, silence


def prepare_streams() -> None:
    """Make the standard streams usable; the first thing a command does.

    One that was closed leads nowhere from then on, so that no file that is opened later takes its
    number; what is written to a closed standard output is an error like a full disk, since nobody
    gets what was asked for. Characters that a terminal does not know are replaced: no reason to
    fail.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def moves_cursor(stream: TextIO) -> bool:
    """Whether it is a terminal that knows escape sequences. One whose TERM is not set is taken for
    one, as shells in containers often leave it out."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def output() -> Generator[TextIO]:
    """Standard output, flushed at the end. UserError when it cannot be written.

    A reader that went away stays a BrokenPipeError: that is no failure.
    """
    try:
        try:
            yield sys.stdout
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence(sys.stdout)
        why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
        raise UserError(f"the output cannot be written: {why}.") from error
