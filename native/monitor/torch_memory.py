"""Allocations of torch: whether they can be listened to here."""

from __future__ import annotations

import importlib
import re
import threading
from typing import Any, Final

from .._core import TorchMemory
from .make_way import make_way

KNOWN: Final = frozenset({"2.13"})
"""Versions of torch whose classes were compared with what the core takes them for."""
_ELEMENTS: Final = 1_000


def refused_memory() -> str:
    """Why allocations cannot be recorded; empty when a program with a known allocation was told as
    it is. Torch must be loaded."""
    torch = importlib.import_module("torch")
    found = re.match(r"\d+\.\d+", str(torch.__version__))
    version = found[0] if found else str(torch.__version__)
    if version not in KNOWN:
        known = ", ".join(sorted(KNOWN))
        return f"it works with torch {known}, this is {torch.__version__}"
    try:
        TorchMemory.find()
    except RuntimeError as error:
        return str(error)
    told: list[tuple[int, int, int]] = []
    thread = threading.Thread(target=_probe, args=(torch, told), name="dctx-calibrate")
    thread.start()
    thread.join()
    expected = [(4 * _ELEMENTS, 0), (-4 * _ELEMENTS, 0)]
    if [row[:2] for row in told] != expected:
        return f"an allocation was not told as predicted: {told[:4]}"
    way = make_way(TorchMemory.release, TorchMemory.resume)
    return "" if way else "this torch does not tell when its profiler starts"


def _probe(torch: Any, told: list[tuple[int, int, int]]) -> None:
    TorchMemory.begin_probe()
    try:
        block = torch.empty(_ELEMENTS, dtype=torch.float32, device="cpu")
        del block
    finally:
        told += TorchMemory.end_probe()
