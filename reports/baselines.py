"""The list of baselines as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from . import format as fmt
from .json_text import json_text
from .tabular import write_table

if TYPE_CHECKING:
    from ..ingest.baselines import Baseline

_NS = 10**9


def write_baselines(found: Sequence[Baseline], out: TextIO) -> None:
    """One line each: name, when it was saved, size, and what it was made from."""
    rows = [
        (
            item.name,
            fmt.utc_time(round(item.saved_at * _NS)),
            fmt.size(item.size),
            item.source if item.trouble is None else f"cannot be used: {item.trouble}",
        )
        for item in found
    ]
    write_table(("baseline", "saved", "size", "trace"), iter(rows), out)


def baselines_json(found: Sequence[Baseline]) -> str:
    """A list, by name, with a final newline."""
    values = [
        {
            "name": item.name,
            "path": str(item.path),
            "saved_utc": fmt.utc_time(round(item.saved_at * _NS)),
            "size_bytes": item.size,
            "source": item.source,
            "trouble": item.trouble,
        }
        for item in found
    ]
    return json_text(values, indent=2) + "\n"
