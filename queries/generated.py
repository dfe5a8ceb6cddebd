"""Code that was generated while the program ran, as the trace keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .paths import CallTree
    from .trace import Trace


@dataclass(frozen=True, slots=True)
class Origin:
    """What a line of generated code was made from."""

    nodes: str
    """Names in the graph of the program, `relu, add`."""
    operators: str
    """Operators before compiling, `aten.relu, aten.add`."""


def kept_source(trace: Trace, file: str) -> str | None:
    """The text of a file that the trace keeps; None when it does not."""
    rows = trace.rows("generated.text", {"file": file})
    return rows[0][0] if rows else None


def origin_at(trace: Trace, tree: CallTree, node: int) -> Origin | None:
    """What the generated line that a context runs in was made from: its own, or that of the nearest
    Python frame above. None for code that people wrote."""
    for above in reversed(tree.path(node)):
        file, line = tree.file(above), tree.line(above)
        if file is None or line is None:
            continue
        rows = trace.rows("generated.origin", {"file": file, "line": line})
        return Origin(*rows[0]) if rows else None
    return None
