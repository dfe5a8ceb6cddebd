"""Statements that outlive the application: what was run, and what the user saved."""

import contextlib
import json
from collections.abc import Sequence
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


def remember(text: str, known: Sequence[str]) -> list[str]:
    """The history with the statement last, once. `known`: as it was told before; what cannot be
    written is remembered as long as the application runs."""
    found = history()
    found += [one for one in known if one not in found]
    if len(text) <= _LONGEST:
        found = [*(one for one in found if one != text), text]
    found = found[-MOST_REMEMBERED:]
    with contextlib.suppress(OSError):
        target = _history_file()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(target) as place:
            place.write_text(json.dumps(found), encoding="ascii")  # also what is no text
    return found


def own_queries() -> list[SavedQuery]:
    """The `.sql` files of the user's folder, by name. One that cannot be used has no text: what it
    is about says why."""
    return [_own_query(path) for path in sorted(own_folder("queries").glob("*.sql"))]


def _own_query(path: Path) -> SavedQuery:
    try:
        found = saved_query(path.stem, path.read_text(encoding="utf-8"))
    except OSError as error:
        return SavedQuery(path.stem, f"cannot be read: {error.strerror}", "")
    except UnicodeDecodeError:
        return SavedQuery(path.stem, "cannot be read: it is not UTF-8", "")
    return found if found.text else SavedQuery(path.stem, "has no statement", "")


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
