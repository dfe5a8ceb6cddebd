"""Modules of a command are loaded while DuckDB opens the trace: both take long, on a core each."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Final

_BLAS_THREADS: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def preload(*modules: str) -> None:
    """Begin to import modules of dctx (`reports.op_sheets`), and NumPy before them. An import that
    fails fails again where the module is needed."""
    threading.Thread(target=_load, args=modules, name="dctx-imports").start()


def _load(*modules: str) -> None:
    with suppress(Exception):
        with _one_blas_thread():
            import_module("numpy")
        for module in modules:
            import_module(f"..{module}", __package__)


@contextmanager
def _one_blas_thread() -> Generator[None]:
    """NumPy's library for matrices starts a thread a core as it is loaded, which costs more than
    all of NumPy. Nothing here multiplies matrices. Programs that dctx starts do not get to know."""
    set_here = [name for name in _BLAS_THREADS if name not in os.environ]
    for name in set_here:
        os.environ[name] = "1"
    try:
        yield
    finally:
        for name in set_here:
            del os.environ[name]
