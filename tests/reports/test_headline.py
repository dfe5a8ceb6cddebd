"""The sentence of the verdict fits the rule that fired; findings lead somewhere."""

import json

from dctx.analyzers.config import default_config
from dctx.analyzers.handoff import prep_confirmed_in
from dctx.analyzers.judging import Judged, judge_trace
from dctx.analyzers.kernel_level import eager_groups, kernel_level, pattern_parts
from dctx.queries.trace import Trace
from dctx.reports.headline import headline
from dctx.reports.host_json import HostReport, host_document
from dctx.reports.kernel_level import graphs_text
from dctx.reports.next_step import next_step
from dctx.reports.verdict import verdict_text
from tests.analyzers.workload import Workload


def context_steps(work: Workload, *, prep: float = 200, busy: float = 790, nccl: float = 0) -> None:
    """Twenty context steps of 1 ms: inputs are prepared, then kernels run."""
    for i in range(20):
        at = 10_000 + 1_000 * i
        work.range(f"[Executor] _forward_step {i + 50}: 8 ctx reqs, 0 gen reqs", at, at + 995)
        work.range("_prepare_inputs", at + 1, at + 1 + prep)
        work.kernel(at + 205, at + 205 + busy - nccl, launch=(at + 203, at + 204))
        if nccl:
            work.kernel(
                at + 205 + busy - nccl, at + 205 + busy, launch=(at + 204.2, at + 204.8),
                name="ncclDevKernel_AllReduce_Sum_bf16",
            )  # fmt: skip


def judged(trace: Trace) -> Judged:
    return judge_trace(trace, default_config())


def test_a_verdict_that_rests_on_preparation_says_so(work: Workload) -> None:
    context_steps(work, nccl=300)
    with work.opened() as trace:
        found = judged(trace)
        text = verdict_text(HostReport(("x",), found))
        document = json.loads(host_document(HostReport(("x",), found)))
    overall = found.result.overall.aggregate
    assert not overall.crossed["gpu_idle_ratio"]
    assert document["verdict"] == "YES"
    assert document["dctx"]["headline"] == headline(found.result)
    assert headline(found.result).startswith("inputs are prepared while the GPUs idle, in 2")
    assert "Inputs are prepared while the GPUs idle" in text
    assert overall.nccl_caveat
    assert "idle time may be communication" not in text
    assert "NCCL time may be waiting for other ranks" in " ".join(text.split())


def test_a_verdict_that_rests_on_idle_time_says_that(work: Workload) -> None:
    context_steps(work, prep=10, busy=300)
    with work.opened() as trace:
        found = judged(trace)
    assert headline(found.result).startswith("the GPUs wait for the host: idle (no kernel running)")
    assert prep_confirmed_in(found.result) == ()


def test_idle_time_that_copies_explain_leads_to_the_copies(work: Workload) -> None:
    for i in range(100):
        work.kernel(1_000 * i, 1_000 * i + 300, launch=(1_000 * i, 1_000 * i + 2))
        work.copy(1_000 * i + 300, 1_000 * i + 1_000)
    with work.opened() as trace:
        report = HostReport(("x",), judged(trace))
    assert report.judged.result.overall.aggregate.explained_by_copies
    assert next_step(report).startswith("look at the copies first")
    assert "only copies run during 69.8 % of the window" in verdict_text(report)


def test_where_preparation_is_confirmed_is_named(work: Workload) -> None:
    context_steps(work)
    # Half the window without a step: there preparation is no cause.
    for i in range(30):
        at = 30_500 + 1_000 * i
        text = f"[Executor] _forward_step {i + 90}: 0 ctx reqs, 8 gen reqs"
        work.range(text, at, at + 900)
        work.kernel(at + 100, at + 200, launch=(at + 50, at + 52))
    with work.opened() as trace:
        found = judged(trace)
        text = verdict_text(HostReport(("x",), found))
        document = json.loads(host_document(HostReport(("x",), found)))
    assert not found.result.overall.aggregate.host_prep_confirmed
    assert prep_confirmed_in(found.result) == ("context",)
    assert "host prep confirmed: in context" in " ".join(text.split())
    handoff = document["optimization_handoff"]
    assert (document["host_prep_confirmed"], handoff["host_prep_confirmed"]) == (False, True)
    assert handoff["host_prep_confirmed_in"] == ["context"]
    assert document["dctx"]["host_prep_confirmed_in"] == ["context"]


def test_one_kernel_of_one_operation_is_one_row(work: Workload) -> None:
    """Two layers launch the same kernel; a graph replay lets the table be shown."""
    for i in range(4):
        at = 1_000 * i + 100
        work.range(f"layer.{i % 2}.attn", at, at + 500)
        work.kernel(at + 20, at + 40, launch=(at + 5, at + 6), name="flash_fwd")
        work.replay(at + 200, at + 300, launch=(at + 150, at + 152))
    with work.opened() as trace:
        level = kernel_level(judged(trace).result)
        assert level is not None
        groups = [g for g in eager_groups(level) if g.name == "flash_fwd"]
        lines = list(graphs_text(level, 80))
    assert sum(group.launches for group in groups) == 4
    assert len(groups) == len({group.operation for group in groups})
    assert sum("flash_fwd" in line for line in lines) == len(groups)


def test_parts_of_a_pattern_sum_to_it(work: Workload) -> None:
    for i in range(8):
        at = 10_000 + 4_000 * i
        work.range(f"[Executor] _forward_step {i + 50}: 8 ctx reqs, 0 gen reqs", at, at + 3_000)
        for layer in range(6):
            for k, name in enumerate(
                ("rms_norm", "qkv_gemm", "flash_fwd", "ncclDevKernel_AllReduce")
            ):
                begin = at + 100 + 400 * layer + 90 * k
                work.kernel(begin, begin + 60, launch=(begin - 50, begin - 49), name=name)
    with work.opened() as trace:
        level = kernel_level(judged(trace).result)
        assert level is not None
        assert level.pattern is not None
        parts = pattern_parts(level, level.pattern)
    assert {part.part for part in parts} == {"norm", "matrix product", "attention", "communication"}
    assert sum(part.gap_ns for part in parts) == level.pattern.gap_ns
    assert sum(part.positions for part in parts) == len(level.pattern.positions)


def test_findings_lead_to_the_tree(work: Workload) -> None:
    """One GPU idles most of the time, the other works: the finding names what the host did."""
    for i in range(20):
        at = 10_000 + 1_000 * i
        work.range("think", at, at + 800, pid=1)
        work.kernel(at + 850, at + 950, device=0, pid=1, launch=(at + 840, at + 841))
        work.kernel(at + 20, at + 990, device=1, pid=2, launch=(at + 5, at + 6))
    with work.opened() as trace:
        findings = {finding.id: finding for finding in judged(trace).findings}
    rows = findings["device-imbalance"].evidence
    assert any(row.name == "think" and row.node is not None for row in rows)
