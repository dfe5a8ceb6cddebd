"""What a reader of an LLM demo trace must find, from the plan the trace was made from."""

from collections import Counter
from collections.abc import Iterable, Sequence

from .llm_kernels import ALL_REDUCE, ALL_REDUCES, GRAPH
from .llm_rank import GraphMode, Rank
from .llm_recipe import (
    CONTEXT_STEPS,
    DRAIN_STEPS,
    EXPECTED_STATUS,
    LONG_GAPS,
    PAIRS,
    REQUESTS,
    SHORT_GAPS,
    STEADY_STEPS,
    Variant,
    plan_steps,
)


def union_ns(spans: Iterable[tuple[int, int]]) -> int:
    """Length of the union of intervals."""
    total, covered = 0, -1
    for start, end in sorted(spans):
        total += max(0, end - max(start, covered))
        covered = max(covered, end)
    return total


def _rows(ranks: Sequence[Rank]) -> dict[str, int]:
    def count(*lists: str) -> int:
        return sum(len(getattr(rank.seen, name)) for rank in ranks for name in lists)

    return {
        "CUPTI_ACTIVITY_KIND_KERNEL": count("kernels"),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": count("replays"),
        "CUPTI_ACTIVITY_KIND_MEMCPY": count("copies"),
        "CUPTI_ACTIVITY_KIND_MEMSET": count("memsets"),
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": count("waits"),
        "CUPTI_ACTIVITY_KIND_RUNTIME": count("calls"),
        "CUPTI_ACTIVITY_KIND_OVERHEAD": count("loading"),
        "CUDA_GRAPH_NODE_EVENTS": count("nodes"),
        "CUDA_GPU_MEMORY_USAGE_EVENTS": count("allocations"),
        "NVTX_EVENTS": count("ranges"),
        "OSRT_API": count("system"),
    }


def _device(rank: Rank) -> dict[str, int]:
    kernels = [(k.start, k.end) for k in rank.seen.kernels]
    replays = [(start, end) for start, end, _ in rank.seen.replays]
    return {
        "kernels": len(kernels),
        "kernel_sum_ns": sum(end - start for start, end in kernels),
        "kernel_union_ns": union_ns(kernels),
        "graph_replays": len(replays),
        "graph_sum_ns": sum(end - start for start, end in replays),
        "busy_ns": union_ns(kernels + replays),
        "first_ns": min(start for start, _ in kernels + replays),
        "last_ns": max(end for _, end in kernels + replays),
        "all_reduces": sum(k.kernel is ALL_REDUCE for k in rank.seen.kernels),
        "memcpy_sum_ns": sum(c.end - c.start for c in rank.seen.copies),
        "memcpy_bytes": sum(c.bytes for c in rank.seen.copies),
        "memset_sum_ns": sum(end - start for start, end, _, _ in rank.seen.memsets),
    }


def _ranges(ranks: Sequence[Rank]) -> dict[str, dict[str, int]]:
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for rank in ranks:
        for r in rank.seen.ranges:
            name = r.text if r.registered else "[Executor] _forward_step"
            counts[name] += 1
            totals[name] += r.end - r.start
    return {name: {"count": counts[name], "sum_ns": totals[name]} for name in sorted(counts)}


def _per_rank(variant: Variant, rank: int) -> dict[str, object]:
    """Means over the steady steps, in microseconds."""
    steady = [step for step in plan_steps(variant, rank) if step.phase == "steady"]
    gaps = sorted(step.gap_ns for step in steady[:-1])

    def mean(values: Iterable[int]) -> float:
        return sum(values) / STEADY_STEPS

    step_us = mean(s.duration_ns for s in steady) / 1000
    gap_us = sum(gaps) / PAIRS / 1000
    return {
        "step_duration_us": step_us,
        "gap_mean_us": round(gap_us, 4),
        "gap_p50_us": gaps[PAIRS // 2] / 1000,
        "wall_per_step_us": round(step_us + gap_us, 4),
        "wall_by_span_us": round(step_us + sum(gaps) / STEADY_STEPS / 1000, 4),
        "launched_kernels_per_step": mean(s.launches for s in steady),
        "launched_gpu_us_per_step": mean(s.launched_gpu_ns for s in steady) / 1000,
        "launch_api_us_per_step": mean(s.launch_api_ns for s in steady) / 1000,
        "graph_launches_per_step": 1,
        "all_reduces_per_step": ALL_REDUCES,
        "graph_kernels_per_step": len(GRAPH),
        "ops_us_per_step": {
            name: mean(s.ops_ns[name] for s in steady) / 1000 for name in sorted(steady[0].ops_ns)
        },
    }


def trace_truth(
    variant: Variant, ranks: Sequence[Rank], mode: GraphMode, skew_ns: int
) -> dict[str, object]:
    """Everything a test of one trace compares with, as JSON values."""
    return {
        "label": variant.label,
        "synthetic": True,
        "graph_mode": mode,
        "rank_offset_ns": skew_ns,
        "rows": _rows(ranks),
        "devices": {str(rank.index): _device(rank) for rank in ranks},
        "ranges": _ranges(ranks),
        "steps": {
            "context": CONTEXT_STEPS,
            "steady": STEADY_STEPS,
            "drain": DRAIN_STEPS,
            "first_steady": CONTEXT_STEPS + 1,
            "steady_generation_requests": REQUESTS,
            "pairs": PAIRS,
            "long_gaps": LONG_GAPS,
            "short_gaps": SHORT_GAPS,
        },
        "per_rank": {str(rank.index): _per_rank(variant, rank.index) for rank in ranks},
    }


def _wall_ns(variant: Variant) -> float:
    """Wall per step of a variant, in nanoseconds."""
    return variant.step_ns + variant.gap_sum_ns / PAIRS


def comparison_truth(base: Variant, target: Variant) -> dict[str, object]:
    """What a comparison of the pair must find, in microseconds per step and rank."""
    gap = (target.gap_sum_ns - base.gap_sum_ns) / PAIRS
    step = target.step_ns - base.step_ns
    before = {op.name: op.mean_ns for op in base.gap_ops if not op.inside}
    in_gap = sum(op.mean_ns - before.get(op.name, 0) for op in target.gap_ops if not op.inside)
    in_step = (
        target.prepare_resources_ns
        + target.prepare_inputs_ns
        + target.launch_api_ns
        - base.prepare_resources_ns
        - base.prepare_inputs_ns
        - base.launch_api_ns
    )
    return {
        "wall_delta_us": round((gap + step) / 1000, 4),
        "wall_delta_percent": round(100 * (gap + step) / _wall_ns(base), 3),
        "step_delta_us": step / 1000,
        "gap_delta_us": round(gap / 1000, 4),
        "gap_share": round(gap / (gap + step), 4),
        "launch_factor": round(_launches(target) / _launches(base), 3),
        "unattributed_gap_us": round((gap - in_gap) / 1000, 4),
        "unattributed_step_us": (step - in_step) / 1000,
        "unattributed_us": round((gap + step - in_gap - in_step) / 1000, 4),
        "status": EXPECTED_STATUS,
        "findings": ["request-management", "launch-count", "new-bookkeeping"],
        "conclusion": "inter-step host overhead",
    }


def _launches(variant: Variant) -> float:
    return variant.launches + variant.extra_launch_steps / STEADY_STEPS
