"""Baselines: stores kept under a name in the user's data directory, for comparisons later on.

A baseline is a copy of a store, so it needs neither the trace nor the cache. It is written beside
its place and renamed: a half-written one is never used.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from .cache import STORE_SUFFIX, discard, make_private, sweep, temporary_path
from .errors import TraceError, shown_path

if TYPE_CHECKING:
    from .progress import Progress
    from .selection import Asked
    from .store import Store

MARK = "@"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_ALLOWED = "Use up to 64 letters, digits, dots, dashes and underscores, a letter or digit first."


@dataclass(frozen=True, slots=True)
class Baseline:
    """A saved baseline."""

    name: str
    path: Path
    saved_at: float
    """Seconds since the epoch."""
    size: int
    """Bytes."""
    source: str | None
    """The trace it was made from, as it was called then; None: see `trouble`."""
    trouble: str | None
    """Why it cannot be used; None: it can."""


def directory() -> Path:
    """Where baselines are; DCTX_DATA_DIR overrides the user's data directory."""
    override = os.environ.get("DCTX_DATA_DIR")
    base = Path(override) if override else Path(platformdirs.user_data_dir("dctx"))
    return base / "baselines"


def baseline_path(name: str) -> Path:
    """Where the baseline of this name belongs. TraceError for what cannot be a name."""
    if not _NAME.match(name):
        raise TraceError(MARK + name, "this is no name for a baseline.", _ALLOWED)
    return directory() / f"{name}{STORE_SUFFIX}"


def named(path: Path) -> Path | None:
    """The store behind `@NAME`; None for a path that means a file. TraceError when there is no
    such baseline and no such file."""
    text = os.fspath(path)
    if not text.startswith(MARK) or os.sep in text:
        return None
    name = text.removeprefix(MARK)
    if _NAME.match(name) and (found := baseline_path(name)).is_file():
        return found
    if os.path.lexists(path):
        return None
    baseline_path(name)
    raise _none(name)


def is_baseline(path: Path) -> bool:
    """True for the store of a baseline."""
    return path.parent == directory()


def open_baseline(path: Path) -> Store:
    """The store of a baseline. TraceError, in terms of baselines, when it cannot be used."""
    from .raw_bytes import check_readable
    from .store import is_store, open_store

    name = path.name.removesuffix(STORE_SUFFIX)
    remedy = f"Save it again: dctx baseline save {name} TRACE --replace."
    try:
        if not is_store(check_readable(path)):
            raise TraceError(MARK + name, "what was saved is damaged: it is no store.", remedy)
        return open_store(path)
    except TraceError as error:
        raise TraceError(MARK + name, error.what, remedy) from error


def save(
    name: str, trace: Asked, *, progress: Progress, salvage: bool = False, replace: bool = False
) -> Path:
    """Keep a copy of the trace's store under a name. TraceError when the trace cannot be read,
    the name is taken (without `replace`) or none, or nothing can be written."""
    from .registry import import_trace, open_trace
    from .selection import select

    target = baseline_path(name)
    if target.exists() and not replace:
        what = "a baseline of this name exists."
        raise TraceError(MARK + name, what, "Give --replace, or choose another name.")
    temporary = temporary_path(target)
    try:
        make_private(target.parent.parent)
        make_private(target.parent)
        sweep(target.parent)
        if select(trace).is_stream:
            import_trace(trace, temporary, progress=progress, salvage=salvage)
        else:
            with closing(open_trace(trace, progress=progress, salvage=salvage)) as store:
                if store.path is None:  # nothing can be cached here
                    import_trace(trace, temporary, progress=progress, salvage=salvage)
                else:
                    _copy(store.path, temporary)
        temporary.replace(target)
    except OSError as error:
        what = f"the baseline cannot be written ({error.strerror or error})."
        remedy = f"Make room in {shown_path(target.parent)}, or set DCTX_DATA_DIR."
        raise TraceError(MARK + name, what, remedy) from error
    finally:
        discard(temporary)
    return target


def remove(name: str) -> None:
    """Forget a baseline. TraceError when there is none of this name."""
    path = baseline_path(name)
    if not path.is_file():
        raise _none(name)
    try:
        path.unlink()
    except OSError as error:
        what = f"the baseline cannot be removed ({error.strerror or error})."
        raise TraceError(MARK + name, what, f"Check who may write to {path.parent}.") from error


def baselines() -> list[Baseline]:
    """All of them, by name. Opens each one."""
    found: list[Baseline] = []
    with suppress(FileNotFoundError):
        for path in sorted(directory().iterdir()):
            name = path.name.removesuffix(STORE_SUFFIX)
            if path.suffix == STORE_SUFFIX and _NAME.match(name) and path.is_file():
                found.append(_look(name, path))
    return found


def _look(name: str, path: Path) -> Baseline:
    status = path.stat()
    source, trouble = None, None
    try:
        with closing(open_baseline(path)) as store:
            source = shown_path(store.source)
    except TraceError as error:
        trouble = error.what
    return Baseline(name, path, status.st_mtime, status.st_size, source, trouble)


def _copy(store: Path, temporary: Path) -> None:
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out, store.open("rb") as file:
        shutil.copyfileobj(file, out, 1 << 20)
        out.flush()
        os.fsync(out.fileno())


def _none(name: str) -> TraceError:
    what = "there is no baseline of this name."
    remedy = "`dctx baseline list` shows those there are; `dctx baseline save` makes one."
    return TraceError(MARK + name, what, remedy)
