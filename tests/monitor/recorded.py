"""A recording of one block of the test's own process, and its contexts as short texts."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dctx.native import monitor
from dctx.native._core import Monitor


@contextmanager
def recording(**options: Any) -> Generator[monitor.Status]:
    status = monitor.init(**options)
    try:
        yield status
    finally:
        monitor.finalize()


def losses() -> dict[str, int]:
    """The kinds of losses that occurred."""
    return {name: count for name, count in Monitor.losses().items() if count}


def text(frame: monitor.Frame) -> str:
    """Python frames as function+line, the line counted from that of `def`; others by name."""
    if frame.kind != "python":
        return str(frame)
    return f"{frame.name.rsplit('.', 1)[-1]}+{frame.line - frame.first_line}"


def counted(below: str, file: str = "") -> dict[str, int]:
    """Contexts inside the function `below` that counted events, with their counts. `file`: leave
    out the Python frames of other files."""
    found: dict[str, int] = {}
    for thread in monitor.tree():
        for node in thread.root.walk():
            steps = [
                text(frame)
                for frame in node.path()
                if not file or frame.kind != "python" or frame.file == file
            ]
            inside = [i for i, step in enumerate(steps) if step.startswith(f"{below}+")]
            if node.count and inside:
                path = " > ".join(steps[inside[0] :])
                found[path] = found.get(path, 0) + node.count
    return found
