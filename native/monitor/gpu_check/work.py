"""Checks 4, 5, 7, 8 and 10: whether GPU work is recorded, counted and placed as it should be."""

from __future__ import annotations

from typing import Any, Final

from .report import Report

_TIME_TOLERANCE: Final = 0.05
_STEPS: Final = 10

_GRAPH: Final = """
import json, sys, time
import torch
attach = sys.argv[1]
x = torch.ones(4096, device="cuda")
def work():
    y = x
    for _ in range(20):
        y = y * 1.5 + 1.0
    return y
def capture():
    for _ in range(3):
        work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph
import dctx
if attach == "before":
    recording = dctx.record(sys.argv[2], sources="python,op,gpu").start()
with dctx.scope("capture"):
    graph = capture()
torch.cuda.synchronize()
if attach == "after":
    recording = dctx.record(sys.argv[2], sources="python,op,gpu").start()
begin = time.perf_counter_ns()
with dctx.scope("replay"):
    for _ in range(100):
        graph.replay()
    torch.cuda.synchronize()
took = time.perf_counter_ns() - begin
recording.stop()
print(json.dumps({"replay_ns": took}))
"""
_TOGETHER: Final = """
import json, sys
import torch, dctx
order, path = sys.argv[1:]
def work():
    x = torch.ones(4096, device="cuda")
    for _ in range(50):
        x = x * 1.5
    torch.cuda.synchronize()
def profiler():
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    return torch.profiler.profile(activities=kinds)
work()
if order == "ours first":
    with dctx.record(path, sources="python,op,gpu"):
        with profiler() as theirs:
            work()
else:
    theirs = profiler()
    theirs.start()
    with dctx.record(path, sources="python,op,gpu"):
        work()
        theirs.stop()
        work()
seen = sum(str(event.device_type).endswith("CUDA") for event in theirs.events())
print(json.dumps({"profiler_gpu_events": seen}))
"""


def check_4(report: Report) -> None:
    """Counts of each kernel equal those of torch.profiler in another run; time within 5 %."""
    command = report.train("gpt", "--steps", str(_STEPS), "--warm", "0")
    summary = report.record("gpt", command)
    theirs = report.last_json(*command, "--profiler", "plain")["kernels"]
    ours = report.kernels("gpt")
    facts = report.facts("gpt")
    ours_all, theirs_all = _totals(ours), _totals(theirs)
    report.values["summary"] = summary
    report.values["ours"], report.values["torch.profiler"] = ours_all, theirs_all
    differ = {
        name: (ours.get(name, (0, 0))[0], count)
        for name, (count, _) in theirs.items()
        if ours.get(name, (0, 0))[0] != count
    }
    report.values["counts that differ"] = dict(list(differ.items())[:50])
    report.expect(ours_all[0] == theirs_all[0], f"{ours_all[0]} kernels, theirs {theirs_all[0]}")
    share = abs(ours_all[1] - theirs_all[1]) / max(theirs_all[1], 1)
    report.expect(share <= _TIME_TOLERANCE, f"kernel time differs by {share:.1%}")
    lost = {key: int(value) for key, value in facts.items() if key.startswith("loss.")}
    report.values["losses"] = lost
    report.expect(not lost.get("loss.orphans") and not lost.get("loss.drops"), f"losses: {lost}")


def check_5(report: Report) -> None:
    """Backward operators hang from their forward operators, also those of device threads."""
    command = report.train("resnet50", "--steps", "3", "--warm", "1")
    report.record("resnet50", command)
    facts = report.facts("resnet50")
    missed = int(facts.get("loss.association_misses", 0))
    rows = report.sql(
        "resnet50",
        "SELECT count(*) AS n FROM paths WHERE name LIKE '%Backward0'",
    )
    found = int(rows[0]["n"])
    report.values["backward contexts"], report.values["misses"] = found, missed
    report.expect(found > 0, "no backward operator was recorded")
    events = int(facts.get("recording.events", 0))
    report.expect(missed <= events * 0.01, f"{missed} backward operators without their forward one")


def check_7(report: Report) -> None:
    """Work in graphs stands where it was captured; where that was not seen, below the replay."""
    if report.trial:
        report.expect(False, "CUDA graphs cannot be tried on the CPU")
        return
    script = report.script("graph.py", _GRAPH)
    for attach in ("before", "after"):
        report.values[attach] = report.last_json(str(script), attach, str(report.path(attach)))
        kernels = report.kernels(attach)
        report.values[attach]["kernels"] = _totals(kernels)
        facts = report.facts(attach)
        report.values[attach]["losses"] = {k: v for k, v in facts.items() if "loss." in k}
        rows = report.sql(
            attach,
            "SELECT coalesce(sum(kernels), 0) AS n FROM paths "
            f"WHERE layer = 'annotation' AND name = '{_place(attach)}'",
        )
        report.values[attach]["in place"] = int(rows[0]["n"])
        report.expect(int(rows[0]["n"]) >= 100 * 20, f"{attach}: {rows[0]['n']} kernels in place")


def _place(attach: str) -> str:
    return "capture" if attach == "before" else "replay"


def check_8(report: Report) -> None:
    """Kernels of compiled code hang from lines of generated files, whose origins are known."""
    command = report.train("mlp", "--steps", "10", "--compiled")
    report.values["summary"] = report.record("compiled", command)
    rows = report.sql(
        "compiled",
        "SELECT count(*) AS files FROM paths WHERE file LIKE '%torchinductor%'",
    )
    generated = report.sql("compiled", "SELECT count(*) AS n FROM source_file")
    report.values["contexts in generated files"] = int(rows[0]["files"])
    report.values["generated files kept"] = int(generated[0]["n"])
    report.values["kernels"] = report.kernels("compiled")
    report.expect(int(rows[0]["files"]) > 0, "no context lies in a generated file")


def check_10(report: Report) -> None:
    """Both record: what each of them sees of the GPU's work."""
    script = report.script("together.py", _TOGETHER)
    for order in ("ours first", "theirs first"):
        name = order.replace(" ", "-")
        found = report.last_json(str(script), order, str(report.path(name)))
        found["ours"] = _totals(report.kernels(name))
        report.values[order] = found


def _totals(kernels: dict[str, Any]) -> tuple[int, int]:
    return sum(int(n) for n, _ in kernels.values()), sum(int(ns) for _, ns in kernels.values())
