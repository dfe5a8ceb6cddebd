"""Opening a source line in the user's editor."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePath

from textual.app import App, SuspendNotSupported

from ..reports.source_map import SourceMap, not_here

_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Visual Studio Code and its kin: `--goto FILE:LINE`, and `--wait` to come back when it is shut."""
_COLON = frozenset({"hx", "helix", "subl", "zed", "mate"})
"""`FILE:LINE`."""


def editor_command(file: str, line: int | None) -> list[str]:
    """$VISUAL, $EDITOR or vi with the line in that editor's own way: vi, vim, nano, emacs, kak,
    micro and joe know `+LINE FILE`."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if not command:
        command = ["vi"]
    return [*command, *_place(PurePath(command[0]).name, command, file, line)]


def _place(editor: str, command: Sequence[str], file: str, line: int | None) -> list[str]:
    if editor in _GOTO:
        wait = [] if {"-w", "--wait"} & set(command) else ["--wait"]
        return [*wait, file] if line is None else [*wait, "--goto", f"{file}:{line}"]
    if line is None:
        return [file]
    return [f"{file}:{line}"] if editor in _COLON else [f"+{line}", file]


def open_in_editor(
    app: App[None], file: str | None, line: int | None, sources: SourceMap | None = None
) -> str:
    """Suspend the application while the editor shows the line; says what stood in the way."""
    if file is None:
        return "The trace does not tell where this is in the sources."
    local = file if sources is None else sources.local(file)
    if local.startswith("-"):
        local = f"./{local}"  # no option of the editor
    if not Path(local).is_file():
        return not_here(file, local)
    try:
        command = editor_command(local, line)
    except ValueError as error:
        return f"$EDITOR cannot be read ({error}). Set it to the editor you use."
    try:
        with app.suspend():  # nothing may fail in it: the application would stay suspended
            return _run(command)
    except SuspendNotSupported:
        return "An editor cannot be opened from here."


def _run(command: list[str]) -> str:
    try:
        ended = subprocess.run(command, check=False)
    except OSError as error:
        return f"{command[0]}: {error.strerror}. Set $EDITOR to the editor you use."
    return f"{command[0]} ended with code {ended.returncode}." if ended.returncode else ""
