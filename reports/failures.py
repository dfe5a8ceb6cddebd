"""What a failed command says, and what it exits with: one place for every command."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import TextIO

from ..ingest.errors import CancelledError, TraceError
from .exit_codes import ExitCode
from .format import clean, clean_lines


class UserError(Exception):
    """The command cannot do what was asked. The text says what, why and what to do."""


def report(error: BaseException, program: str, stream: TextIO, *, debug: bool = False) -> ExitCode:
    """Write one paragraph about the error to `stream` and return the exit code.

    Silent when the reader of our output went away; with `debug` the traceback comes first.
    """
    if isinstance(error, BrokenPipeError):
        # Nobody reads on: keep the interpreter from complaining when it flushes at exit.
        silence(sys.stdout)
        return ExitCode.OK
    if isinstance(error, CancelledError | KeyboardInterrupt) or _is_interrupt(error):
        say(stream, f"{program}: cancelled\n")
        return ExitCode.CANCELLED
    if isinstance(error, TraceError):
        text, code = clean(error.paragraph()), ExitCode.USAGE
    elif isinstance(error, UserError):
        text, code = str(error), ExitCode.USAGE
    else:
        text, code = fault_text(error, debug=debug), ExitCode.FAULT
    if debug:
        say(stream, clean_lines("".join(traceback.format_exception(error))))
    say(stream, clean_lines(f"{program}: error: {text}\n"))
    return code


def say(stream: TextIO, text: str) -> None:
    """Write a message. The exit code tells what a stream that takes nothing cannot."""
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """What is still buffered goes nowhere: the interpreter would fail on it again at its end."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _is_interrupt(error: BaseException) -> bool:
    """DuckDB turns Ctrl+C in a query into an error of its own."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def fault_text(error: BaseException, *, debug: bool = False) -> str:
    """The paragraph about a fault of our own."""
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    if debug:
        return f"internal fault ({what}). Please report it with the traceback above."
    return f"internal fault ({what}). Run it again with --debug and report the traceback it shows."
