"""Checks 6 and 11: what recording costs in time, memory and file size."""

from __future__ import annotations

import os
from statistics import median
from typing import Any, Final

from .models import NAMES
from .report import Report, module_command

_MOST_RATIO: Final = 1.12
_MOST_GROWTH_KIB: Final = 512
_MOST_SIZE_CHANGE: Final = 0.05


def check_6(report: Report) -> None:
    """Time of a step against that without recording, in each mode; the bases frame each round."""
    ratios: list[float] = []
    small = ("--device", "cpu", "--small", "--rounds", "1", "--steps", "1") if report.trial else ()
    for model in NAMES:
        command = module_command("measure", model, str(report.folder), *small)
        found = report.last_json(*command)
        found["kernels"] = _kernel_count(report)
        ratios.append(found["modes"]["dctx"]["ratio"])
        report.values[model] = found
    report.values["median ratio"] = median(ratios)
    report.expect(median(ratios) < _MOST_RATIO, f"median ratio {median(ratios):.3f}")


def _kernel_count(report: Report) -> int:
    """Of the last round of the first mode."""
    return sum(count for count, _ in report.kernels("dctx").values())


def check_11(report: Report) -> None:
    """Neither memory nor the file grows with the number of steps."""
    found: dict[int, dict[str, Any]] = {}
    few, many = (20, 40) if report.trial else (200, 2000)
    for steps in (few, many):
        command = report.train("mlp", "--steps", str(steps))
        summary = report.record(f"steps-{steps}", command)
        size = os.path.getsize(report.path(f"steps-{steps}"))
        facts = report.facts(f"steps-{steps}")
        losses = {key: int(value) for key, value in facts.items() if key.startswith("loss.")}
        found[steps] = {
            "file_bytes": size,
            "rss_growth_kib": summary["printed"]["rss_growth_kib"],
            "losses": losses,
        }
    report.values.update({str(steps): values for steps, values in found.items()})
    growth = found[many]["rss_growth_kib"] - found[few]["rss_growth_kib"]
    report.expect(growth <= _MOST_GROWTH_KIB, f"{growth} KiB more memory after {many:,} steps")
    change = found[many]["file_bytes"] / found[few]["file_bytes"] - 1
    report.expect(abs(change) <= _MOST_SIZE_CHANGE, f"the file changes by {change:.1%}")
