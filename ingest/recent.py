"""The traces opened last, for the start screen. Kept as JSON in the user's state directory."""

import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from .cache import temporary_path

_LIMIT = 30


@dataclass(frozen=True, slots=True)
class RecentTrace:
    """A trace opened before. `opened_at` is seconds since the epoch, `size` bytes at that time."""

    path: Path
    opened_at: float
    size: int


def list_path() -> Path:
    """Where the list is; DCTX_STATE_DIR overrides the user's state directory (XDG_STATE_HOME)."""
    override = os.environ.get("DCTX_STATE_DIR")
    directory = Path(override) if override else Path(platformdirs.user_state_dir("dctx"))
    return directory / "recent.json"


def recent_traces() -> list[RecentTrace]:
    """Latest first; traces that are gone are left out. An unreadable list is an empty one."""
    try:
        items = json.loads(list_path().read_text(encoding="utf-8"))
        traces = [
            RecentTrace(Path(item["path"]), float(item["opened_at"]), int(item["size"]))
            for item in items
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [trace for trace in traces if trace.path.exists()]


def remember(path: Path) -> None:
    """Put `path` first in the list. A list that cannot be written is no one's problem."""
    with contextlib.suppress(OSError):
        real = Path(os.path.realpath(path))
        now = RecentTrace(real, time.time(), real.stat().st_size)
        traces = [now, *(t for t in recent_traces() if t.path != real)][:_LIMIT]
        target = list_path()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = temporary_path(target)
        text = json.dumps(
            [{"path": str(t.path), "opened_at": t.opened_at, "size": t.size} for t in traces]
        )
        temporary.touch(mode=0o600)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
