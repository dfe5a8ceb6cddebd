"""Errors a user can meet, each told in one paragraph: file, place, reason, remedy."""

import os
from pathlib import Path


def shown_path(path: Path | str) -> str:
    """A path as text for people and files: a name need not be valid UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


class TraceError(Exception):
    """A trace that cannot be read, or cannot be read in full.

    `where` is the place inside the file (a table and page, a line), empty for the whole file.
    """

    def __init__(self, path: Path | str, what: str, remedy: str, where: str = "") -> None:
        self.path = shown_path(path)
        self.where = where
        self.what = what
        self.remedy = remedy
        super().__init__(self.paragraph())

    def paragraph(self) -> str:
        """The message as shown to the user."""
        place = f"{self.path} ({self.where})" if self.where else self.path
        return f"{place}: {self.what} {self.remedy}".rstrip()


class NotATraceError(TraceError):
    """The file is fine, but it is no trace we know."""


class DamagedTraceError(TraceError):
    """The file is a trace, but part of it is cut or corrupt."""


class CancelledError(Exception):
    """The user stopped the work."""
