"""Where built stores are kept: names, leftovers of dead processes, the size cap."""

import contextlib
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import platformdirs

LIMIT_BYTES = 20 * 2**30
"""The least recently used stores are removed above this."""

_FOREIGN_LEFTOVER_S = 7 * 86_400
"""A temporary file of another host sharing the directory is dead after this long."""

_EDGE_BYTES = 4096
STORE_SUFFIX = ".dctx"
_TEMPORARY = ".part"


def cache_dir() -> Path:
    """The directory of built stores; DCTX_CACHE_DIR overrides the user's cache directory."""
    override = os.environ.get("DCTX_CACHE_DIR")
    return Path(override) if override else Path(platformdirs.user_cache_dir("dctx"))


def make_private(directory: Path) -> None:
    """Make a directory that no one else may look into; one that is there stays as it is."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if directory == Path(platformdirs.user_cache_dir("dctx")):
        with contextlib.suppress(OSError):
            directory.chmod(0o700)


def _digest(*parts: object) -> str:
    # A file name need not be valid UTF-8.
    return hashlib.sha256(b"\0".join(os.fsencode(str(part)) for part in parts)).hexdigest()[:16]


def _edges(source: Path) -> str:
    with source.open("rb") as file:
        head = file.read(_EDGE_BYTES)
        file.seek(max(0, os.fstat(file.fileno()).st_size - _EDGE_BYTES))
        return hashlib.sha256(head + file.read(_EDGE_BYTES)).hexdigest()


def _sidecars(source: Path) -> list[int]:
    """Size and time of what SQLite keeps beside a database: its newest rows may be there."""
    real = os.path.realpath(source)
    stamps: list[int] = []
    for suffix in ("-wal", "-journal"):
        with contextlib.suppress(OSError):
            status = os.stat(real + suffix)
            if status.st_size:
                stamps += [status.st_size, status.st_mtime_ns]
    return stamps


def has_log(source: Path) -> bool:
    """True when SQLite keeps something beside a database."""
    return bool(_sidecars(source))


def entry_path(
    source: Path | Sequence[Path], version: str, suffix: str = STORE_SUFFIX, *, asked: str = ""
) -> Path:
    """Where the product of `source` as it is now belongs. OSError when it cannot be read.

    The name holds the real path, size, modification time and both ends of the file, size and time
    of an SQLite log beside it, and `version` (of the store and of the options it was built with).
    Of several files the ends do not count; `asked` is what the user called them all."""
    files = (source,) if isinstance(source, Path) else tuple(source)
    stamps: list[object] = []
    for file in files:
        status = file.stat()
        stamps += [status.st_size, status.st_mtime_ns]
        if len(files) == 1:
            stamps += [_edges(file), *_sidecars(file)]
        else:
            stamps.append(os.path.realpath(file))
    place = _digest(os.path.realpath(files[0]) if len(files) == 1 else asked)
    return cache_dir() / f"{place}-{_digest(*stamps, version)}{suffix}"


def _host() -> str:
    return _digest(os.uname().nodename)[:8]


def temporary_path(target: Path) -> Path:
    """A name beside `target` that no other process uses, and that tells who made it."""
    owner = f"{_host()}-{os.getpid()}-{os.urandom(4).hex()}"
    return target.with_name(f"{target.name}.{owner}{_TEMPORARY}")


def spill_path() -> Path:
    """A folder of this process for what a question cannot hold in memory; made when needed."""
    return cache_dir() / f"spill.{_host()}-{os.getpid()}{_TEMPORARY}"


def log_of(path: Path) -> Path:
    """What DuckDB keeps beside a store while it is written."""
    return path.with_name(path.name + ".wal")


def discard(path: Path) -> None:
    """Remove a store and what DuckDB keeps beside it, or a spill folder. Missing is fine."""
    if path.is_dir():
        import shutil  # only here: every start of the program passes through this module

        shutil.rmtree(path, ignore_errors=True)
    for name in (path, log_of(path)):
        with contextlib.suppress(OSError):
            name.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _abandoned(path: Path) -> bool:
    owner = path.name.removesuffix(".wal").removesuffix(_TEMPORARY).rpartition(".")[2]
    host, _, rest = owner.partition("-")
    pid = rest.partition("-")[0]
    if host == _host() and pid.isdigit():
        return not _alive(int(pid))
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime > _FOREIGN_LEFTOVER_S
    return False


def sweep(directory: Path) -> None:
    """Remove what dead builders left behind in a directory. OSError when it cannot be read."""
    for path in sorted(directory.iterdir()):
        if path.name.removesuffix(".wal").endswith(_TEMPORARY) and _abandoned(path):
            discard(path)


def tidy_beside(target: Path) -> None:
    """Remove what killed writers of `target` left beside it."""
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            name = path.name.removesuffix(".wal")
            mine = name.startswith(target.name + ".") and name.endswith(_TEMPORARY)
            if mine and _abandoned(path):
                discard(path)


def tidy(keep: Path) -> None:
    """Remove leftovers of dead builders, older stores of the same trace, and what exceeds the cap.

    `keep` stays. Trouble with the cache is never the user's: it is ignored."""
    directory = keep.parent
    try:
        sweep(directory)
        names = sorted(directory.iterdir())
    except OSError:
        return
    stores: list[tuple[float, int, Path]] = []
    place = keep.name.partition("-")[0]
    for path in names:
        if path.name.removesuffix(".wal").endswith(_TEMPORARY):
            continue
        if path.suffix == keep.suffix and path != keep and path.name.startswith(place + "-"):
            discard(path)
        else:
            with contextlib.suppress(OSError):
                status = path.stat()
                stores.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in stores)
    for _, size, path in sorted(stores):
        if total <= LIMIT_BYTES:
            break
        if path != keep:
            discard(path)
            total -= size


def touch(path: Path) -> None:
    """Mark a store as used now."""
    with contextlib.suppress(OSError):
        os.utime(path)
