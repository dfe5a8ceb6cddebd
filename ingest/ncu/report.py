"""Binary reports of Nsight Compute, through NVIDIA's own module where it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import DamagedTraceError, NotATraceError
from .kernel import NcuKernel, Triple

_INSTEAD = "ncu --import {name} --page raw --csv > kernels.csv, and give that file."


def read_report(path: Path) -> list[NcuKernel]:
    """The kernels of a `.ncu-rep`, with the values of their metrics; samples by instruction are
    in the source page of an export alone. TraceError where the module is missing or fails."""
    instead = _INSTEAD.format(name=path.name)
    try:
        module: Any = import_module("ncu_report")
    except ImportError as error:
        raise NotATraceError(
            path,
            "this is a binary report of Nsight Compute, and the module that reads it is missing.",
            f"pip install ncu-report; or {instead}",
        ) from error
    try:
        report = module.load_report(str(path))
        found = [
            _kernel(action, module)
            for place in range(len(report))
            for action in (report[place][i] for i in range(len(report[place])))
        ]
    except Exception as error:  # the module documents no classes of its own
        raise DamagedTraceError(
            path, f"NVIDIA's module cannot read it ({type(error).__name__}: {error}).", instead
        ) from error
    if not found:
        raise NotATraceError(path, "the report holds no kernel.", "Profile it again.")
    return found


def _kernel(action: Any, module: Any) -> NcuKernel:
    kernel = NcuKernel(str(action.name(module.IAction.NameBase_DEMANGLED)))
    for name in action.metric_names():
        metric = action[name]
        value = metric.value()
        if isinstance(value, int | float):
            kernel.metrics[name] = float(value)
            kernel.units[name] = str(metric.unit() or "")
    kernel.grid = _triple(kernel, "launch__grid_dim")
    kernel.block = _triple(kernel, "launch__block_dim")
    return kernel


def _triple(kernel: NcuKernel, name: str) -> Triple | None:
    values = [kernel.metrics.get(f"{name}_{axis}") for axis in "xyz"]
    x, y, z = (None if value is None else int(value) for value in values)
    return None if x is None or y is None or z is None else (x, y, z)
