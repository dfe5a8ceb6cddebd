"""The lines of a program around a place that a trace names, or why they cannot be shown."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

AROUND = 3
"""Lines shown before and after the one asked for."""
_LONGEST = 400
"""Characters of a line that are kept."""
_FARTHEST = 1_000_000
"""Lines read at most: a place beyond is in no source that people write."""
_LARGEST = 64 << 20
"""Bytes: a line may be as long as the file, and is read whole."""
_NO_FILE = "no file: the code was made while the program ran"


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Lines [first, first + len(lines)) of a file, numbered from 1."""

    line: int
    """The one asked for."""
    first: int
    lines: tuple[str, ...]
    """Without their ends; tabs as spaces."""
    changed: bool
    """The file was written after the trace began: the lines may not be what ran."""

    def numbered(self, mark: str = ">") -> list[str]:
        """`  232  q = norm(x)`, the one asked for behind the mark."""
        width = len(str(self.first + len(self.lines) - 1))
        return [
            f"{mark if number == self.line else ' ' * len(mark)} {number:>{width}}  {text}".rstrip()
            for number, text in enumerate(self.lines, self.first)
        ]


def kept_lines(text: str, line: int | None, *, around: int = AROUND) -> SourceLines | str:
    """The same of a text that the trace keeps: what ran."""
    if line is None or line < 1:
        return "the line was not recorded"
    first = max(1, line - around)
    found = [each[:_LONGEST].expandtabs(4) for each in text.splitlines()[first - 1 : line + around]]
    if len(found) <= line - first:
        return f"no line {line} in the file that the trace keeps"
    return SourceLines(line, first, tuple(found), changed=False)


def source_lines(
    file: str, line: int | None, *, since_utc_ns: int | None = None, around: int = AROUND
) -> SourceLines | str:
    """The lines, or in a few words why there are none. `since_utc_ns`: when the trace began, ns
    since 1970; None where that is not known. Reads nothing but regular files, up to the lines."""
    if line is None or line < 1:
        return "the line was not recorded"
    if file.startswith("<"):
        return _NO_FILE
    path = Path(file)
    try:
        # Looked at first: opening a pipe would wait for who writes to it.
        found_there = path.stat()
        if not stat.S_ISREG(found_there.st_mode):
            return "no regular file on this machine"
        if found_there.st_size > _LARGEST:
            return "too large for a source file"
        if line > _FARTHEST:
            return f"no line {line} in the file on this machine"
        first = max(1, line - around)
        with path.open(encoding="utf-8", errors="replace") as text:
            written = os.fstat(text.fileno()).st_mtime_ns
            found = [
                each.rstrip("\r\n")[:_LONGEST].expandtabs(4)
                for each in islice(text, first - 1, line + around)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return "not on this machine"
    except (OSError, ValueError) as error:
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if any("\0" in each for each in found):
        return "no text"
    if len(found) <= line - first:
        return f"no line {line} in the file on this machine"
    changed = since_utc_ns is not None and written > since_utc_ns
    return SourceLines(line, first, tuple(found), changed)
