"""Checks 6 and 11: what recording costs in time, memory and file size."""

from __future__ import annotations

import os
from statistics import median
from typing import Any, Final

from .models import NAMES
from .report import Report, module_command

_MODES: Final[dict[str, tuple[str, ...]]] = {
    "dctx": (),
    "dctx, kernels alone": ("--light",),
}
_MOST_RATIO: Final = 1.12
_MOST_GROWTH_KIB: Final = 512
_MOST_SIZE_CHANGE: Final = 0.05


def check_6(report: Report) -> None:
    """Median time of a step against that without recording; the bases frame each measurement."""
    ratios: list[float] = []
    for model in NAMES:
        command = module_command("train", model, "--steps", "20")
        found: dict[str, Any] = {"base": _median(report.last_json(*command))}
        for mode, options in _MODES.items():
            summary = report.record(f"{model}-{len(found)}", command, *options)
            found[mode] = _median(summary["printed"])
            found[f"{mode}: own cost"] = summary.get("own_cost_ns")
        for which in ("plain", "with_stack"):
            found[f"torch.profiler {which}"] = _median(
                report.last_json(*command, "--profiler", which)
            )
        again = _median(report.last_json(*command))
        base = (found["base"] + again) / 2
        found["base again"] = again
        times = [mode for mode in found if not mode.endswith("own cost") and mode != "base"]
        found["ratios"] = {mode: found[mode] / base for mode in times}
        ratios.append(found["ratios"]["dctx"])
        report.values[model] = found
    report.values["median ratio"] = median(ratios)
    report.expect(median(ratios) < _MOST_RATIO, f"median ratio {median(ratios):.3f}")


def check_11(report: Report) -> None:
    """Neither memory nor the file grows with the number of steps."""
    found: dict[int, dict[str, Any]] = {}
    for steps in (200, 2000):
        command = module_command("train", "mlp", "--steps", str(steps))
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
    growth = found[2000]["rss_growth_kib"] - found[200]["rss_growth_kib"]
    report.expect(growth <= _MOST_GROWTH_KIB, f"{growth} KiB more memory after 2,000 steps")
    change = found[2000]["file_bytes"] / found[200]["file_bytes"] - 1
    report.expect(abs(change) <= _MOST_SIZE_CHANGE, f"the file changes by {change:.1%}")


def _median(printed: dict[str, Any]) -> float:
    return float(median(printed["step_ns"]))
