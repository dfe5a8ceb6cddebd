"""Binary reports of Nsight Compute, through NVIDIA's own module where it is installed."""

from __future__ import annotations

import re
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any, Final

from ..errors import DamagedTraceError, NotATraceError
from ..stall_names import canonical
from .kernel import NOT_ISSUED, STALL_METRIC, NcuKernel, NcuLine, NcuRule, Triple

_NOTHING: Final[dict[str, Any]] = {}
_INSTEAD = "ncu --import {name} --page raw --csv > kernels.csv, and give that file."


def read_report(path: Path) -> list[NcuKernel]:
    """The kernels of a `.ncu-rep`: the values of their metrics, samples by instruction with their
    source lines, and the tool's own advice. TraceError where the module is missing or fails."""
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
    samples: dict[int, dict[str, int]] = {}
    idle: dict[int, int] = {}
    for name in action.metric_names():
        metric = action[name]
        value = metric.value()
        if isinstance(value, int | float) and isfinite(value):
            kernel.metrics[name] = float(value)
            kernel.units[name] = str(metric.unit() or "")
        if name.startswith(STALL_METRIC):
            reason = canonical(name.removeprefix(STALL_METRIC).removesuffix(NOT_ISSUED))
            for address, count in _by_address(metric):
                if name.endswith(NOT_ISSUED):
                    idle[address] = idle.get(address, 0) + count
                elif count:
                    samples.setdefault(address, {})[reason] = count
    kernel.grid = _triple(kernel, "launch__grid_dim")
    kernel.block = _triple(kernel, "launch__block_dim")
    kernel.lines = _lines(action, samples, idle)
    kernel.rules = _rules(action)
    return kernel


def _by_address(metric: Any) -> list[tuple[int, int]]:
    """Values of a metric by the instructions that they are of."""
    if not metric.has_correlation_ids():
        return []
    places = metric.correlation_ids()
    return [
        (int(places.as_uint64(at)), int(metric.as_uint64(at)))
        for at in range(metric.num_instances())
    ]


def _lines(action: Any, samples: dict[int, dict[str, int]], idle: dict[int, int]) -> list[NcuLine]:
    """Instructions with samples in their order; the source lines where the report has them."""
    sources: dict[str, list[str]] = {}
    for name, text in dict(action.source_files()).items():
        sources[str(name)] = str(text).splitlines()
    found: list[NcuLine] = []
    for address in sorted(samples):
        place = action.source_info(address)
        file = None if place is None else str(place.file_name())
        line = None if place is None else int(place.line())
        known = sources.get(file or "", [])
        found.append(
            NcuLine(
                f"{address:#x}",
                str(action.sass_by_pc(address) or "").strip(),
                samples[address],
                idle.get(address),
                file,
                line,
                known[line - 1] if line is not None and 0 < line <= len(known) else None,
            )
        )
    return found


def _rules(action: Any) -> list[NcuRule]:
    """Advice with a speed-up that the tool estimates; older modules tell none."""
    tell: Any = getattr(action, "rule_results_as_dicts", None)
    rules: list[dict[str, Any]] = [] if tell is None else tell()
    found: list[NcuRule] = []
    for rule in rules:
        estimate: dict[str, Any] = rule.get("speedup_estimation") or _NOTHING
        message: dict[str, Any] = rule.get("rule_message") or _NOTHING
        speedup = estimate.get("speedup")
        if isinstance(speedup, int | float) and speedup > 0:
            text = _plain(str(message.get("message", "")))
            found.append(NcuRule(str(rule.get("name", "")), text, float(speedup)))
    return found


def _plain(text: str) -> str:
    """Without the targets of links: `@url:TEXT:TARGET@`, `@section:ID:TEXT@`,
    `@sass:ADDRESS:TEXT@`, `@source:FILE:LINE:TEXT@`."""
    text = re.sub(r"@url:([^:@]*):[^@]*@", r"\1", text)
    return re.sub(r"@(?:section|sass|source):[^@]*:([^:@]*)@", r"\1", text)


def _triple(kernel: NcuKernel, name: str) -> Triple | None:
    values = [kernel.metrics.get(f"{name}_{axis}") for axis in "xyz"]
    x, y, z = (None if value is None else int(value) for value in values)
    return None if x is None or y is None or z is None else (x, y, z)
