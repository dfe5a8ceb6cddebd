"""Files that are there whole or as they were: what fails or is broken off leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..ingest.cache import discard, temporary_path


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """A file to write, which takes the place of `path` at the end. OSError that names `path`.

    A link stays one: what it leads to is replaced. Pipes and devices are written themselves, and
    so is a file in a folder that takes no other.
    """
    place = path.resolve()
    temporary = temporary_path(place)
    try:
        special = place.exists() and not place.is_file()
        temporary = place if special else _made(place, temporary)
        yield temporary
        if temporary != place:
            temporary.replace(place)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise OSError(error.errno or 0, _why(error), str(path)) from error
    finally:
        if temporary != place:
            discard(temporary)


def _made(place: Path, temporary: Path) -> Path:
    """The temporary file, empty, with the rights of the one that it replaces."""
    try:
        temporary.touch()
    except PermissionError:
        if not place.is_file():
            raise
        return place
    if place.is_file():
        if not os.access(place, os.W_OK):  # a protected file is not to be replaced either
            raise PermissionError(13, os.strerror(13), str(place))
        temporary.chmod(place.stat().st_mode & 0o777)
    return temporary


def _why(error: OSError) -> str:
    """Arrow and DuckDB pack the reason of the system into texts of their own."""
    return os.strerror(error.errno) if error.errno else (error.strerror or str(error))
