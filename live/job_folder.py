"""The folder of one job (see meeting): made by `dctx record`, removed when the job has ended. What
a `dctx record` that was killed has left, the next one removes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from .meeting import processes, runs

_PREFIX: Final = "dctx-record-"
_OWNER: Final = "owner"
"""Locked by the `dctx record` that made the folder, for as long as that runs."""


@contextmanager
def job_folder() -> Generator[Path]:
    """A private folder, for the time of the block. OSError when none can be made."""
    _remove_left(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # It has its name once it is locked: nobody takes it for one that was left.
        fresh = folder / f"{_OWNER}.new"
        with fresh.open("w") as file:
            with suppress(OSError):  # a file system without locks: it is not removed by others
                fcntl.flock(file, fcntl.LOCK_EX)
                fresh.rename(folder / _OWNER)
            yield folder


def _remove_left(place: Path) -> None:
    """Remove the user's own folders of jobs of which nothing runs any more."""
    with suppress(OSError):
        for folder in place.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        return False
    with (folder / _OWNER).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return not any(runs(process) for process in processes(folder))
