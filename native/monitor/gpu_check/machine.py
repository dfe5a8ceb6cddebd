"""Checks 1 to 3: what this machine has, and how CUPTI behaves on it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from ..calibrate import USUAL, calibrate
from .report import Report

_SUBSCRIBE = """
import json, sys
when = sys.argv[1]
from dctx.native._core import Gpu
def attempt():
    found = Gpu.open("cupti", [])
    out = {"status": found.status, "reason": found.reason, "version": Gpu.versions()}
    Gpu.close()
    return out
def touch():
    import torch
    (torch.ones(8, device="cuda") * 2).sum().item()
if when == "before torch":
    result = attempt()
elif when == "after import":
    import torch
    result = attempt()
elif when == "after CUDA":
    touch()
    result = attempt()
else:
    touch()
    import torch
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds):
        touch()
    result = attempt()
print(json.dumps(result))
"""
_LAUNCHES = """
import json, torch
x = torch.ones(1024, device="cuda")
for _ in range(10):
    x = x * 1.5
torch.cuda.synchronize()
print(json.dumps({"done": True}))
"""


def check_1(report: Report) -> None:
    """Driver, copies of CUPTI, rights, offsets of torch."""
    torch: Any = importlib.import_module("torch")
    params = _text("/proc/driver/nvidia/params")
    restricted = [line for line in params.splitlines() if "RmProfilingAdminOnly" in line]
    rights = [line for line in _text("/proc/self/status").splitlines() if "CapEff" in line]
    report.values["driver"] = _text("/proc/driver/nvidia/version").splitlines()[:1]
    report.values["RmProfilingAdminOnly"] = restricted
    report.values["capabilities"] = rights
    report.values["python"] = sys.version.split()[0]
    report.values["torch"] = torch.__version__
    device = "cpu" if report.trial else "cuda"
    report.values["device"] = device if report.trial else torch.cuda.get_device_name(0)
    (torch.ones(8, device=device) * 2).sum().item()
    maps = _text("/proc/self/maps").splitlines()
    report.values["cupti"] = sorted({line.split()[-1] for line in maps if "libcupti" in line})
    found = calibrate()
    offsets = (found.scope, found.sequence, found.forward_thread)
    report.values["calibration"] = {"level": found.level, "offsets": offsets}
    report.expect(found.level == "L0", f"calibration gives {found.level}: {found.reason}")
    report.expect(offsets == USUAL, f"offsets {offsets}, elsewhere {USUAL}")


def check_2(report: Report) -> None:
    """Subscription before and after torch, CUDA and a profiler's run."""
    script = report.script("subscribe.py", _SUBSCRIBE)
    for when in ("before torch", "after import", "after CUDA", "after torch.profiler"):
        found = report.last_json(str(script), when)
        report.values[when] = found
        report.expect(found["status"] == 0, f"{when}: {found['reason']}")


def check_3(report: Report) -> None:
    """Every record finds its call."""
    script = report.script("launches.py", _LAUNCHES)
    summary = report.record("launches", [str(script)])
    report.values["summary"] = summary
    report.values["kernels"] = report.kernels("launches")
    facts = report.facts("launches")
    losses = {key: value for key, value in facts.items() if key.startswith("loss.")}
    report.values["losses"] = losses
    report.expect(int(losses.get("loss.orphans", 0)) == 0, f"orphans: {losses}")
    count = sum(count for count, _ in report.values["kernels"].values())
    report.expect(count >= 10, f"{count} kernels of at least 10")


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
