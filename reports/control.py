"""What processes answer to `dctx control`."""

from __future__ import annotations

from collections.abc import Sequence

from ..live.control import Answer
from . import format as fmt
from .json_text import json_text
from .recording import shown


def answers_text(answers: Sequence[Answer]) -> str:
    """One line a process."""
    return "".join(f"{fmt.clean(_line(answer))}\n" for answer in answers)


def _line(answer: Answer) -> str:
    status = answer.status
    if answer.failure:
        return f"{answer.socket.stem}: {answer.failure}"
    if "pid" not in status:
        return f"{answer.socket.stem}: {status.get('error')}"
    state = "recording" if status["recording"] else "paused"
    steps = f", {fmt.count(status['steps'])} steps" if status["steps"] else ""
    size = fmt.size(status["file_bytes"]) if status["file_bytes"] else "not written yet"
    error = f"; the last snapshot failed: {status['error']}" if status["error"] else ""
    return (
        f"{status['pid']}: {state}; {fmt.count(status['events'])} events in "
        f"{fmt.count(status['contexts'])} contexts{steps}; {shown(status['file'])} ({size}){error}"
    )


def answers_json(answers: Sequence[Answer]) -> str:
    """One object a process and line: what it told, its socket, and why it told nothing."""
    told = (
        {**answer.status, "socket": str(answer.socket), "failure": answer.failure or None}
        for answer in answers
    )
    return "".join(json_text(value) + "\n" for value in told)
