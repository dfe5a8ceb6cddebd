"""Checks 12 and 13: JAX, forked workers and a killed program."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from typing import Final

from .report import Report

_JAX: Final = """
import json
import jax, jax.numpy as jnp
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w)) ** 2))(w)
w, x = jnp.ones((512, 512)), jnp.ones((256, 512))
for _ in range(30):
    w = step(w, x)
w.block_until_ready()
print(json.dumps({"backend": jax.default_backend()}))
"""
_JOINED: Final = """
WITH RECURSIVE up AS (
  SELECT n.id, n.parent, f.layer, m.kernels, m.gpu_ns
  FROM (
    SELECT node, sum(kernels) AS kernels, sum(gpu_ns) AS gpu_ns FROM path_metric GROUP BY node
  ) m JOIN path_node n ON n.id = m.node JOIN frame f ON f.id = n.frame
  WHERE m.kernels > 0
  UNION ALL
  SELECT u.id, n.parent, f.layer, u.kernels, u.gpu_ns
  FROM up u JOIN path_node n ON n.id = u.parent JOIN frame f ON f.id = n.frame
), whole AS (
  SELECT id, any_value(kernels) AS kernels, any_value(gpu_ns) AS ns,
         bool_or(y.name = 'hlo') AS joined
  FROM up JOIN layer_name y ON y.code = up.layer GROUP BY id
)
SELECT sum(kernels)::BIGINT AS kernels, sum(ns)::BIGINT AS ns,
       coalesce(sum(kernels) FILTER (joined), 0)::BIGINT AS joined,
       coalesce(sum(ns) FILTER (joined), 0)::BIGINT AS joined_ns
FROM whole
"""
"""Kernels, and those of them below an operation of XLA."""
_WORKERS: Final = """
import json, torch
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, at):
        return torch.ones(64) * at
def main():
    total = torch.zeros((), device="cuda")
    for batch in DataLoader(Data(), batch_size=8, num_workers=2):
        total += batch.to("cuda").sum()
    print(json.dumps({"sum": total.item()}))
main()
"""
_LONG: Final = """
import time, torch, dctx
x = torch.ones(4096, device="cuda")
while True:
    with dctx.scope("part"):
        for _ in range(20):
            x = x * 1.0001
        torch.cuda.synchronize()
"""
_SNAPSHOT_S: Final = 1.0


def check_12(report: Report) -> None:
    """A jitted step: what the window of XLA's profiler tells, and what the names of kernels do."""
    if importlib.util.find_spec("jax") is None:
        report.expect(False, "jax is not installed")
        return
    script = report.script("jax_step.py", _JAX)
    summary = report.record("jax", [str(script)])
    report.values["summary"] = summary
    report.values["kernels"] = report.kernels("jax")
    report.expect(bool(report.values["kernels"]), "no GPU work of the JAX program")
    by_name = report.record("jax_kernels", [str(script)], "--jax-route", "kernels")
    report.values["by_name"] = by_name
    if not by_name["files"]:
        report.expect(False, "nothing was recorded for the names of kernels")
        return
    [share] = report.sql("jax_kernels", _JOINED)
    report.values["joined"] = share
    report.expect(bool(share["kernels"]), "no kernel of the JAX program was recorded")
    report.expect(bool(share["joined"]), "no kernel was joined with an operation by its name")


def check_13(report: Report) -> None:
    """Workers that are forked after CUDA began do no harm; a killed program's file opens."""
    script = report.script("workers.py", _WORKERS)
    summary = report.record("workers", [str(script)])
    report.values["workers"] = summary
    report.expect(summary["printed"].get("sum") == 64 * sum(range(64)), "the sum is wrong")
    long = report.script("long.py", _LONG)
    path = report.path("killed")
    child = subprocess.Popen(
        [
            sys.executable, "-m", "dctx.cli", "record", "-o", str(path), "--quiet",
            "--snapshot", str(_SNAPSHOT_S), "--", sys.executable, str(long),
        ],
        start_new_session=True,
    )  # fmt: skip
    while not path.exists() and child.poll() is None:
        time.sleep(0.1)
    time.sleep(2 * _SNAPSHOT_S)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    facts = report.facts("killed")
    report.values["killed"] = {"span_ns": facts.get("span_ns"), "kernels": report.kernels("killed")}
    report.expect(int(facts.get("recording.complete", 1)) == 0, "it is said to be complete")
    report.expect(bool(report.values["killed"]["kernels"]), "no kernel of the killed program")
