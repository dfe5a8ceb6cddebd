"""Statements that outlive the application: what was run, and what the user saved."""

import contextlib
import json
from pathlib import Path
from typing import Any

from ..ingest.recent import state_directory
from ..queries.console import SavedQuery, saved_query
from ..reports.own_files import own_folder
from ..reports.written import replacing

MOST_REMEMBERED = 200
_LONGEST = 20_000
"""Characters of a statement that is remembered."""


def _history_file() -> Path:
    return state_directory() / "sql-history.json"


def history() -> list[str]:
    """Statements that were run, the latest last. A file that cannot be read is an empty one."""
    try:
        found: Any = json.loads(_history_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    kept: list[object] = found if isinstance(found, list) else []  # pyright: ignore
    return [one for one in kept if isinstance(one, str)]


def remember(text: str) -> list[str]:
    """The history with the statement last, once. What cannot be written is remembered no longer
    than the application runs."""
    found = [one for one in history() if one != text]
    found = [*found, text][-MOST_REMEMBERED:] if len(text) <= _LONGEST else found
    with contextlib.suppress(OSError):
        target = _history_file()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(target) as place:
            place.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return found


def own_queries() -> list[SavedQuery]:
    """The `.sql` files of the user's folder, by name; those that cannot be read are left out."""
    found: list[SavedQuery] = []
    for path in sorted(own_folder("queries").glob("*.sql")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found.append(saved_query(path.stem, path.read_text(encoding="utf-8")))
    return found


def query_file(name: str) -> Path:
    """Where the user's statement of that name is."""
    return own_folder("queries") / f"{name}.sql"


def save_query(name: str, text: str) -> Path:
    """OSError when it cannot be written."""
    target = query_file(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as place:
        place.write_text(text.rstrip() + "\n", encoding="utf-8")
    return target


def name_problem(name: str) -> str:
    """What is wrong with a name for a statement; empty when nothing is."""
    if not name or not all(part.isalnum() or part in " -_" for part in name):
        return "Use letters, digits, blanks, - and _."
    return ""
