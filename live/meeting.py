"""The folder where the processes of a job tell `dctx record` that they are there.

Each writes `PID.hello` when it starts (its text is empty, or why it cannot be recorded) and
`PID.N.file` with the path of each recording it begins, `PID.N.trouble` with the path and why when
it could not be written. The first one also makes `first`. Where it was asked for, each has a
socket `PID.control` there that takes commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

CONTROL: Final = ".control"
_TROUBLE: Final = ".trouble"


def is_first(folder: Path) -> bool:
    """True in the first process of a job that asks, and in its later images (exec)."""
    place = folder / "first"
    pid = str(os.getpid())
    try:
        with place.open("x") as file:
            file.write(pid)
    except FileExistsError:
        return place.read_text() == pid
    return True


def control_path(folder: Path) -> Path:
    """The control socket of this process."""
    return folder / f"{os.getpid()}{CONTROL}"


def told_before(folder: Path) -> int:
    """How many recordings this process, or an image before it (exec), told of."""
    return len(list(folder.glob(f"{os.getpid()}.*.file")))


def add_file(folder: Path, path: Path) -> None:
    """Tell of a recording that begins."""
    (folder / f"{os.getpid()}.{told_before(folder)}.file").write_text(str(path))


def told_files(folder: Path) -> list[Path]:
    """Recordings that were begun, whether or not there is anything in them yet."""
    return [Path(place.read_text()) for place in sorted(folder.glob("*.file"))]


def add_trouble(folder: Path, path: Path, why: str) -> None:
    """Tell that a recording could not be written."""
    count = len(list(folder.glob(f"{os.getpid()}.*{_TROUBLE}")))
    (folder / f"{os.getpid()}.{count}{_TROUBLE}").write_text(f"{path}\0{why}")


def told_troubles(folder: Path) -> dict[Path, str]:
    """Why recordings could not be written."""
    texts = [place.read_text() for place in sorted(folder.glob(f"*{_TROUBLE}"))]
    return {Path(path): why for path, _, why in (text.partition("\0") for text in texts)}


def greetings(folder: Path) -> dict[int, str]:
    """By process: empty, or why it cannot be recorded."""
    found: dict[int, str] = {}
    for place in sorted(folder.glob("*.hello")):
        found[int(place.stem)] = place.read_text()
    return found


def processes(folder: Path) -> set[int]:
    """All that told something there."""
    stems = (place.name.partition(".")[0] for place in folder.iterdir())
    return {int(stem) for stem in stems if stem.isdecimal()}


def runs(process: int) -> bool:
    """Whether there is a process of that number: it may be another one by now."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # not ours to tell
    return True
