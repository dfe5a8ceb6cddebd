"""Operators of a torch that cannot be attached to, from the NVTX ranges its CUDA builds push."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from contextlib import suppress
from typing import Any, Final

from .._core import TorchMemory, TorchNvtx
from .calibrate import on_fresh_thread
from .make_way import make_way

VARIABLE: Final = "NVTX_INJECTION64_PATH"
"""Names the library that NVTX loads when a library first uses it."""
_enabled: Final = set[int]()
"""Threads on which torch pushes ranges because of us."""
_released: Final = set[int]()
"""Threads of which a profiler of the program's has taken the place."""


def enter_nvtx() -> str:
    """Have operators and scopes of the calling thread recorded from now on, and those of backward
    passes that it starts. Why that cannot be; empty when it is done. Torch must be loaded."""
    torch = importlib.import_module("torch")
    if getattr(torch.version, "cuda", None) is None:
        return "only CUDA builds push NVTX ranges"
    if VARIABLE in os.environ and not TorchNvtx.installed():
        return f"NVTX ranges go to another tool ({VARIABLE} is set)"
    try:
        refused = on_fresh_thread(lambda: _refused(torch))
        if refused:
            return str(refused)
        if not make_way(_release, _resume):
            return "this torch does not tell when its profiler starts"
        if threading.get_ident() not in _enabled:
            _enable()
    except (AttributeError, ImportError, RuntimeError, TypeError) as error:
        first_line = str(error).partition("\n")[0]
        return f"torch pushes no NVTX ranges: {first_line.rstrip('.')}"
    TorchNvtx.listen(True)
    return ""


def leave_nvtx() -> None:
    """Record no ranges from now on. Torch pushes them no longer, if this is the thread that
    entered."""
    TorchNvtx.listen(False)
    _released.clear()
    if threading.get_ident() in _enabled:
        with suppress(RuntimeError):  # the program has ended it
            _disable()


def _refused(torch: Any) -> str:
    """Why ranges cannot be read; empty when a program with known ones was told as it is."""
    x = torch.ones(3, device="cpu", requires_grad=True)
    asked = VARIABLE in os.environ
    if not asked:
        os.environ[VARIABLE] = str(
            sys.modules[TorchNvtx.__module__].__file__
        )  # only for torch, which looks now
    try:
        _enable()
        try:
            TorchNvtx.begin_probe()
            y = x.mul(2.0)
        finally:
            told = TorchNvtx.end_probe()
            _disable()
    finally:
        if not asked:
            del os.environ[VARIABLE]
    if not TorchNvtx.installed():
        return "torch began to use NVTX before dctx was there"
    start = f"aten::mul, seq = {y.grad_fn._sequence_nr()}"
    if not told or told[0].split(", op_id")[0] != start:
        return f"NVTX ranges were not told as predicted: {told[:1]}, not {start}"
    return ""


def _enable() -> None:
    # As emit_nvtx does, which also waits for the GPU, and so begins to use it.
    profiler: Any = importlib.import_module("torch.autograd.profiler")
    config = profiler.ProfilerConfig(
        profiler.ProfilerState.NVTX,
        False, False, False, False, False,
        profiler._ExperimentalConfig(),
    )  # fmt: skip
    TorchMemory.release()  # an earlier recording of allocations may have left its listener
    TorchMemory.resume()
    profiler._enable_profiler(config, set())
    _enabled.add(threading.get_ident())


def _disable() -> None:
    _enabled.discard(threading.get_ident())
    importlib.import_module("torch.autograd.profiler")._disable_profiler()


def _release() -> None:
    """A profiler of torch starts on this thread, which has place for one."""
    thread = threading.get_ident()
    if thread in _enabled:
        with suppress(RuntimeError):
            _disable()
        _released.add(thread)


def _resume() -> None:
    thread = threading.get_ident()
    if thread in _released:
        _released.discard(thread)
        with suppress(RuntimeError):  # another one runs
            _enable()
