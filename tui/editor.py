"""Opening a source line in the user's editor."""

import os
import shlex
import subprocess
from pathlib import Path

from textual.app import App, SuspendNotSupported


def open_in_editor(app: App[None], file: str | None, line: int | None) -> str:
    """Suspend the application while $EDITOR shows the line; says what stood in the way."""
    if file is None:
        return "The trace does not tell where this is in the sources."
    if not Path(file).is_file():
        return f"{file} is not on this machine."
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    place = [f"+{line}"] if line is not None else []
    try:
        with app.suspend():
            subprocess.run([*command, *place, file], check=False)
    except SuspendNotSupported:
        return "An editor cannot be opened from here."
    except OSError as error:
        return f"{command[0]}: {error.strerror}. Set $EDITOR to the editor you use."
    return ""
