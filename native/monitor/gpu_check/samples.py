"""Check 9: samples of instructions, in each mode."""

from __future__ import annotations

import importlib.util
from typing import Final

from .report import Report

_TRITON: Final = """
import json
import torch, triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    for _ in range(200):
        x = x * 1.0001 + 0.5
    tl.store(y_ptr + at, x, mask=at < n)

x = torch.ones(1 << 22, device="cuda")
y = torch.empty_like(x)
for _ in range(200):
    scale[(x.numel() // 1024,)](x, y, x.numel(), BLOCK=1024)
torch.cuda.synchronize()
print(json.dumps({"done": True}))
"""


def check_9(report: Report) -> None:
    """Names of reasons, samples, source lines and what each mode costs."""
    if importlib.util.find_spec("triton") is None:
        report.expect(False, "triton is not installed")
    else:
        _lines_of_triton(report)
    command = report.train("gpt", "--steps", "5")
    base = report.last_json(*command)["step_ns"]
    sampled = report.record("gpt", command, "--pc", "continuous")["printed"]["step_ns"]
    report.values["cost on gpt"] = sorted(sampled)[2] / sorted(base)[2]


def _lines_of_triton(report: Report) -> None:
    script = report.script("triton_kernel.py", _TRITON)
    for mode in ("continuous", "serialized", "per-launch"):
        summary = report.record(mode, [str(script)], "--pc", mode, "--pc-period", "12")
        rows = report.sql(
            mode,
            "SELECT reason, sum(samples)::BIGINT AS samples, sum(not_issued)::BIGINT AS idle, "
            "count(DISTINCT line) AS lines, bool_or(spread) AS spread FROM stalls GROUP BY reason",
        )
        lines = report.sql(
            mode,
            "SELECT file, line, sum(samples)::BIGINT AS samples FROM stalls "
            "WHERE kernel = 'scale' GROUP BY file, line ORDER BY samples DESC LIMIT 20",
        )
        report.values[mode] = {"said": summary["said"], "reasons": rows, "lines": lines}
        samples = sum(int(row["samples"]) for row in rows)
        report.expect(samples > 0, f"{mode}: no sample")
        named = [row for row in lines if str(row["file"]).endswith("triton_kernel.py")]
        report.expect(bool(named), f"{mode}: no line of the Triton kernel")
