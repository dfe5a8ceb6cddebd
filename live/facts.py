"""Facts about this process that go into its recording. No environment variable but the ranks."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

from .. import __version__
from .options import local_rank, rank, world_size


def facts_of_process() -> dict[str, Any]:
    """Keys are told in docs/recording-format.md."""
    return {
        "argv": list(sys.orig_argv[1:]) or [sys.executable],
        "program": _program(),
        "rank": rank(),
        "world_size": world_size(),
        "local_rank": local_rank(),
        "host": platform.node(),
        "python": platform.python_version(),
        "torch": torch_version(),
        "dctx": __version__,
    }


def _program() -> str:
    """What runs, without its arguments: these may hold what is nobody's business."""
    first = getattr(sys, "argv", [""])[0]  # none in the first moments of the interpreter
    return Path(first).name if first and first != "-c" else "python"


def torch_version() -> str | None:
    """Of the torch that is loaded; None when none is."""
    torch = sys.modules.get("torch")
    version = getattr(torch, "__version__", None)
    return None if version is None else str(version)
