"""JSON that can be shown on a terminal."""

import json
from typing import Any


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON in which letters stay as they are, and whatever could change the state of a terminal or
    the direction of writing is escaped (`json` itself leaves C1 and bidirectional controls)."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        # Line ends stand between values only: inside a text they are escaped already.
        c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1]
        for c in text
    )
