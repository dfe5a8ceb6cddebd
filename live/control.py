"""Tells the processes that `dctx record --control` runs to start, to stop, to write a snapshot, or
how they stand."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

from .meeting import CONTROL, runs

Command = Literal["start", "stop", "snapshot", "status"]
_PATIENCE_S: Final = 30.0
"""A snapshot that is being written is waited for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one process."""

    socket: Path
    status: dict[str, Any]
    """`pid`, `recording`, `file`, `file_bytes`, `snapshots`, `events`, `contexts`, `steps`,
    `error`; empty when there was no answer."""
    failure: str = ""
    """Why there was none."""


def sockets(path: Path) -> list[Path]:
    """The control sockets at a path: itself, or those in the folder whose process runs."""
    if path.is_dir():
        found = (place for place in path.iterdir() if place.suffix == CONTROL)
        return sorted(place for place in found if _may_listen(place.stem))
    return [path] if path.exists() and stat.S_ISSOCK(path.stat().st_mode) else []


def _may_listen(process: str) -> bool:
    """A process that was killed, or left by os._exit, leaves its socket behind."""
    return not process.isdecimal() or runs(int(process))


def ask(places: Sequence[Path], command: Command) -> list[Answer]:
    """Send a command to each process in turn."""
    return [_ask(place, command) for place in places]


def _ask(place: Path, command: Command) -> Answer:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(_PATIENCE_S)
            client.connect(str(place))
            client.sendall(f"{command}\n".encode())
            text = b"".join(iter(lambda: client.recv(65_536), b""))
    except ConnectionRefusedError:
        return Answer(place, {}, "the process has ended without removing its socket")
    except TimeoutError:
        return Answer(place, {}, f"no answer within {_PATIENCE_S:.0f} s")
    except OSError as error:
        return Answer(place, {}, error.strerror or str(error))
    try:
        found = json.loads(text)
    except ValueError:
        return Answer(place, {}, "the process gave no answer that dctx understands")
    return Answer(place, cast("dict[str, Any]", found))
