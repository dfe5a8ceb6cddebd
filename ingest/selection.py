"""Which files a trace is made of: one, several, a pattern, or all rank files of a folder."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .baselines import named as baseline
from .cache import STORE_SUFFIX, entry_path
from .csv_head import run_in_name
from .errors import NotATraceError, TraceError, shown_path
from .raw_bytes import is_standard_input

_MOST_FILES: Final = 10_000
_MOST_DEPTH: Final = 5
"""JAX keeps recordings in plugins/profile/<run> below the folder it is given."""
_NEVER_TRACES: Final = re.compile(
    r"\.(bat|c|cfg|cpp|css|csv|cu|dctx|err|h|html|ini|ipynb|jpg|js|log|md|npy|npz|out|pdf|pt|pth|png"
    r"|py|pyc|rst|safetensors|sh|so|svg|toml|tsv|txt|yaml|yml)$",
    re.IGNORECASE,
)
"""Files that are passed over in a folder, but for the tables of rocprofv3. When the user names one
it is looked at."""
_NUMBER: Final = re.compile(r"([0-9]+)")

Asked = Path | Sequence[Path]
"""What a user can name: one path, or several."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The files that may be parts of the trace."""

    files: tuple[Path, ...]
    """In order. From a folder: not looked into yet."""
    folder: Path | None = None
    """Set when they were found in a folder: some may be no traces."""

    @property
    def one(self) -> bool:
        """The user named one file, or the standard input."""
        return self.folder is None and len(self.files) == 1

    @property
    def title(self) -> str:
        """What the trace is called, for people and for the cache."""
        if self.folder is not None:
            return shown_path(os.path.realpath(self.folder))
        first = self.files[0]
        if is_standard_input(first):
            return "standard input"
        name = shown_path(os.path.realpath(first))
        more = len(self.files) - 1
        return f"{name} and {more} more" if more else name

    @property
    def is_stream(self) -> bool:
        """It comes from the standard input: it can be read once, and has no name."""
        return self.one and is_standard_input(self.files[0])

    @property
    def path(self) -> Path:
        """The path that stands for the whole trace."""
        return self.folder or self.files[0]

    @property
    def paths(self) -> tuple[Path, ...]:
        """What to name to open it again, with patterns replaced by what they stand for."""
        return self.files if self.folder is None else (self.folder,)

    def entry(self, version: str, suffix: str = STORE_SUFFIX) -> Path:
        """The place in the cache of a product of the files as they are now. OSError when they
        cannot be read."""
        return entry_path(self.files, version, suffix, asked=self.title)


def select(asked: Asked) -> Selection:
    """The files behind what the user named: paths, or `@NAME` for a baseline. TraceError when
    there are none."""
    named = (asked,) if isinstance(asked, Path) else tuple(asked)
    paths = tuple(baseline(path) or path for path in named)
    if len(paths) == 1 and paths[0].is_dir():
        folder = paths[0]
        found = tuple(_files_below(folder))
        if not found:
            what = "there is no trace in this folder."
            raise NotATraceError(folder, what, "Name the folder the profiler wrote to.")
        return Selection(found, folder)
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            what = "it is a folder among files."
            raise NotATraceError(path, what, "Name one folder alone, or files only.")
        files += _matches(path)
    if len(files) > 1 and any(is_standard_input(path) for path in files):
        raise TraceError("-", "the standard input is one trace.", "Give it alone.")
    unique = dict.fromkeys(files)
    return Selection(tuple(unique))


def _matches(path: Path) -> list[Path]:
    """The path itself, or the files it stands for when it is a pattern."""
    pattern = os.fspath(path)
    if os.path.lexists(path) or is_standard_input(path) or not glob.has_magic(pattern):
        return [path]
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True), key=natural)]
    files = [name for name in found if name.is_file()]
    if not files:
        raise TraceError(path, "no file matches this pattern.", "Check the name.")
    return files


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts rank10 behind rank9."""
    return [
        (int(part), "") if index % 2 else (-1, part)
        for index, part in enumerate(_NUMBER.split(name))
    ]


def _is_file(entry: os.DirEntry[str]) -> bool:
    """False also for links that lead nowhere, or in a circle."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _may_be_trace(name: str) -> bool:
    return run_in_name(name) is not None or not _NEVER_TRACES.search(name)


def _files_below(folder: Path) -> Iterable[Path]:
    """Files that may be traces, those nearest to the folder first, then by name.

    TraceError when it cannot be listed."""
    found: list[tuple[int, list[tuple[int, str]], Path]] = []
    level = [folder]
    for depth in range(_MOST_DEPTH):
        below: list[Path] = []
        for place in level:
            try:
                entries = list(os.scandir(place))
            except OSError as error:
                if place != folder:
                    continue
                what = f"the folder cannot be listed ({error.strerror})."
                raise TraceError(folder, what, "Ask its owner for access.") from error
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif _is_file(entry) and _may_be_trace(entry.name):
                    found.append((depth, natural(entry.path), Path(entry.path)))
            if len(found) > _MOST_FILES:
                what = f"there are more than {_MOST_FILES} files below this folder."
                raise NotATraceError(folder, what, "Name the folder the profiler wrote to.")
        level = below
    return [path for _, _, path in sorted(found)]
