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


def devices_of_torch() -> list[dict[str, Any]]:
    """The GPUs of this process as torch numbers them; empty unless torch uses them already."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    try:
        if cuda is None or not cuda.is_initialized():
            return []
        found: list[dict[str, Any]] = []
        for ordinal in range(cuda.device_count()):
            told = cuda.get_device_properties(ordinal)
            found.append(
                {
                    "ordinal": ordinal,
                    "name": str(told.name),
                    "sm_count": int(told.multi_processor_count),
                    "memory_bytes": int(told.total_memory),
                    "compute_major": int(told.major),
                    "compute_minor": int(told.minor),
                }
            )
    except Exception:  # torch's own trouble: the devices are shown without their models
        return []
    return found
