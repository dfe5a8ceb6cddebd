"""What this installation is made of, for problem reports."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

from ..ingest.cache import cache_dir
from ..ingest.recent import list_path
from . import format as fmt
from .json_text import json_text

SCHEMA_VERSION = 1
_PACKAGES = ("dctx", "duckdb", "textual", "numpy", "pyarrow", "click", "rich")


def installation() -> dict[str, Any]:
    """Versions, directories and terminal. What cannot be told is None."""
    columns, lines = shutil.get_terminal_size()
    return {
        "schema_version": SCHEMA_VERSION,
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in _PACKAGES},
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "python": sys.executable,
        "cache_directory": str(cache_dir()),
        "state_directory": str(list_path().parent),
        "recent_traces": str(list_path()),
        "nsys": shutil.which("nsys"),
        "terminal": {
            "is_terminal": sys.stdout.isatty(),
            "term": os.environ.get("TERM"),
            "colorterm": os.environ.get("COLORTERM"),
            "no_color": bool(os.environ.get("NO_COLOR")),
            "columns": columns,
            "lines": lines,
            "encoding": sys.stdout.encoding or locale.getpreferredencoding(False),
        },
    }


def installation_json(facts: dict[str, Any]) -> str:
    """The facts as indented JSON with a final newline."""
    return json_text(facts, indent=2) + "\n"


def installation_text(facts: dict[str, Any]) -> str:
    """The facts, one a line."""
    lines: list[str] = []
    for key, value in facts.items():
        if key == "schema_version":
            continue
        items = cast("dict[str, Any]", value) if isinstance(value, dict) else {key: value}
        lines += [
            f"{name.replace('_', ' '):<18}{fmt.NA if item is None else item}"
            for name, item in items.items()
        ]
    return "\n".join(map(fmt.clean, lines)) + "\n"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
