"""The traces opened last, for the start screen. Kept as JSON in the user's state directory."""

import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from .cache import temporary_path

_LIMIT = 30


@dataclass(frozen=True, slots=True)
class RecentTrace:
    """A trace opened before. `opened_at` is seconds since the epoch, `size` bytes at that time."""

    paths: tuple[Path, ...]
    """A file or folder, or several files."""
    opened_at: float
    size: int


def state_directory() -> Path:
    """What dctx remembers; DCTX_STATE_DIR overrides the user's state directory (XDG_STATE_HOME)."""
    override = os.environ.get("DCTX_STATE_DIR")
    return Path(override) if override else Path(platformdirs.user_state_dir("dctx"))


def list_path() -> Path:
    """Where the list is."""
    return state_directory() / "recent.json"


def recent_traces() -> list[RecentTrace]:
    """Latest first; traces that are gone are left out. An unreadable list is an empty one."""
    try:
        items = json.loads(list_path().read_text(encoding="utf-8"))
        traces = [
            RecentTrace(
                (Path(item["path"]), *map(Path, item.get("more", []))),
                float(item["opened_at"]),
                int(item["size"]),
            )
            for item in items
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [trace for trace in traces if all(path.exists() for path in trace.paths)]


def remember(paths: Sequence[Path], size: int) -> None:
    """Put what was opened first in the list. A list that cannot be written is no one's problem."""
    with contextlib.suppress(OSError):
        real = tuple(Path(os.path.realpath(path)) for path in paths)
        now = RecentTrace(real, time.time(), size)
        traces = [now, *(t for t in recent_traces() if t.paths != real)][:_LIMIT]
        target = list_path()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = temporary_path(target)
        items = [
            {
                "path": str(trace.paths[0]),
                "more": [str(path) for path in trace.paths[1:]],
                "opened_at": trace.opened_at,
                "size": trace.size,
            }
            for trace in traces
        ]
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(items), encoding="utf-8")
        temporary.replace(target)
