"""What a verdict on host overhead means in words: known causes, and what hides the answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..ingest.api_names import GRAPH_LAUNCHES, KERNEL_LAUNCHES
from ..ingest.model import GpuKind
from ..queries.kernels import OpStat, op_stats
from ..queries.ops import eager_kernels
from ..queries.paths import heaviest_nodes
from ..queries.scope import TimeScope, scoped_op_stats
from ..queries.step_events import texts
from .findings import Evidence, Finding, Weight, ordered
from .graph_coverage import by_name, graph_kernels
from .host_overhead import PHASE_NAMES
from .quantities import plural, share
from .reliability import WHILE_LOADING
from .steps import Phase
from .verdict import Answer

if TYPE_CHECKING:
    from .host_overhead import HostOverhead
    from .idle_blame import IdleBlame

_SMALL = re.compile(r"elementwise|reduce|triton_(?:poi|per|red)", re.IGNORECASE)
_MODEL = re.compile(
    r"gemm|matmul|nvjet|cutlass|xmma|attention|attn|fmha|flash|conv|all_?reduce", re.IGNORECASE
)
JIT_SHARE = 0.05
JIT_LABEL = "JIT / capture"
LOW_COVERAGE = 0.2
SPREAD = 0.15
COPY_SHARE = 0.20
_ASKED = 1_000
_ROWS = 3
"""Of evidence that are only there to jump to."""


def host_findings(result: HostOverhead, blame: IdleBlame | None = None) -> tuple[Finding, ...]:
    """Findings of a verdict, weightiest first; none is the normal result of a healthy trace.

    blame: causes of the idle time, where they are known: findings about it then name the first.
    """
    found = (
        masked_phase(result),
        graphs_off(result),
        jit_in_window(result),
        copy_bound(result),
        blocked_launches(result),
        device_imbalance(result, blame),
    )
    return ordered([finding for finding in found if finding is not None])


def masked_phase(result: HostOverhead) -> Finding | None:
    """A phase waits for the host, though the whole window does not look like it."""
    names = result.overall.elevated_by
    if not names:
        return None
    idle = {name: result.phases[name].measured.metrics.gpu_idle_ratio for name in names}
    whole = result.measured.metrics.gpu_idle_ratio
    parts = ", ".join(f"{name} {share(idle[name])}" for name in names)
    return Finding(
        id="masked-phase",
        weight=Weight.SEVERE,
        sentence=f"Host-bound in {' and '.join(names)}, hidden by the rest of the window: GPU idle "
        f"{parts}, against {share(whole)} in the whole window.",
        remedy=f"Judge the {names[0]} steps on their own, and start with what the host does there.",
        evidence=tuple(
            Evidence(
                f"GPU idle in {name}",
                "%",
                None if ratio is None else 100 * ratio,
                name=_step_text(result, name),
            )
            for name, ratio in idle.items()
        ),
    )


def graphs_off(result: HostOverhead) -> Finding | None:
    """Generation waits for the host and launches cost much, or hardly any kernel is in a graph."""
    judged = result.overall.phases.get("generation")
    phase = result.phases.get("generation")
    if judged is None or phase is None or judged.answer is not Answer.YES:
        return None
    metrics = phase.measured.metrics
    launch = metrics.launch_overhead_ratio
    limit = result.config.of_phase("generation").launch_overhead_ratio
    use = result.graph_use
    inside = graph_kernels(result)
    coverage = inside / use.kernels if use.kernels and inside is not None else None
    many = launch is not None and launch > limit
    few = coverage is not None and coverage < LOW_COVERAGE
    if not many and not few:
        return None
    reasons: list[str] = []
    if many:
        reasons.append(f"launching takes {share(launch)} of the time")
    if few:
        reasons.append(f"{share(coverage)} of the kernels run in CUDA graphs")
    return Finding(
        id="graphs-off",
        weight=Weight.SEVERE,
        sentence=f"Generation steps wait for the host: {' and '.join(reasons)}.",
        remedy="CUDA graphs are missing or fail: turn them on for generation, and look in the log "
        "for batch sizes that were not captured. Fix this first.",
        evidence=(
            Evidence("launch time, net, in generation", "%", _percent(launch)),
            Evidence("kernels in CUDA graphs", "%", _percent(coverage)),
            *_launched_alone(result),
        ),
    )


def jit_in_window(result: HostOverhead) -> Finding | None:
    """Part of the window compiles or captures instead of running the model."""
    window = result.window
    if window is None or not window.length_ns:
        return None
    building = sum(
        max(0, min(part.end_ns, window.end_ns) - max(part.start_ns, window.start_ns))
        for part in result.steps.segments
        if part.label == JIT_LABEL
    )
    part = building / window.length_ns
    if part < JIT_SHARE:
        return None if len(result.steps) else _no_model(result)
    return Finding(
        id="jit-in-window",
        weight=Weight.WARNING,
        sentence=f"{share(part)} of the window is compilation or graph capture, not inference.",
        remedy="Judge the steady state: --window steady.",
        evidence=(Evidence("compilation and capture", "ms", building / 1e6),),
    )


def _no_model(result: HostOverhead) -> Finding | None:
    """Without steps: small kernels take most of the GPU's time, and none belongs to a model."""
    kernels = op_stats(result.data.trace, kinds=(GpuKind.KERNEL,))
    total = sum(kernel.sum_ns for kernel in kernels)
    small = [kernel for kernel in kernels if _SMALL.search(kernel.name)]
    part = sum(kernel.sum_ns for kernel in small) / total if total else 0.0
    if part <= 0.5 or any(kernel.comm or _MODEL.search(kernel.name) for kernel in kernels):
        return None
    return Finding(
        id="jit-in-window",
        weight=Weight.HINT,
        sentence=f"Elementwise and reduction kernels take {share(part)} of the kernel time, and "
        "there is no matrix product, attention or all-reduce: the verdict is not one of inference.",
        remedy="Record, or choose with --window, a part in which the model runs.",
        evidence=tuple(
            Evidence(kernel.name, "µs", kernel.sum_ns / 1e3, name=kernel.name, kind=kernel.kind)
            for kernel in small[:3]
        ),
    )


def copy_bound(result: HostOverhead) -> Finding | None:
    """Copies run for a good part of the window, and no kernel meanwhile."""
    devices = result.measured.taking_part
    window = sum(device.window_ns for device in devices)
    copies = sum(device.copy_only_ns for device in devices)
    if not window or copies < COPY_SHARE * window:
        return None
    return Finding(
        id="copy-bound",
        weight=Weight.WARNING,
        sentence=f"Copies alone keep the GPUs busy for {share(copies / window)} of the window: "
        "that time is not the host's.",
        remedy="Overlap copies with kernels (pinned memory, a stream of its own), or move less.",
        evidence=tuple(
            Evidence(f"copies only, {device.label}", "ms", device.copy_only_ns / 1e6)
            for device in devices
        )
        + tuple(
            Evidence(copy.name, "ms", copy.sum_ns / 1e6, name=copy.name, kind=copy.kind)
            for copy in _copies(result)[:_ROWS]
        ),
    )


def _copies(result: HostOverhead) -> list[OpStat]:
    """What was copied in the window, most time first."""
    data, window = result.data, result.window
    if window is None:
        return []
    inside = TimeScope("window", ((data.process, window.start_ns, window.end_ns),))
    return scoped_op_stats(data.trace, inside, kinds=(GpuKind.MEMCPY, GpuKind.MEMSET))


def blocked_launches(result: HostOverhead) -> Finding | None:
    """Launch calls that spent most of their time waiting: the queue was full, or code loaded."""
    condition = next((c for c in result.reliability.conditions if c.code == "R5"), None)
    launch = result.measured.launch
    if condition is None or launch is None or not launch.threads:
        return None
    busiest = max(launch.threads, key=lambda thread: thread.blocked_ns)
    evidence = (
        Evidence(
            f"blocked in launches, {busiest.name}",
            "ms",
            busiest.blocked_ns / 1e6,
            node=_launch_node(result),
        ),
        Evidence("all launch time of that thread", "ms", busiest.gross_ns / 1e6),
    )
    if WHILE_LOADING in condition.text:
        return Finding(
            id="module-loading",
            weight=Weight.WARNING,
            sentence=f"{share(launch.blocked_share)} of the launch time is spent loading code.",
            remedy="Warm up before you measure, or load eagerly (CUDA_MODULE_LOADING=EAGER).",
            evidence=evidence,
        )
    return Finding(
        id="launch-back-pressure",
        weight=Weight.HINT,
        sentence=f"{share(launch.blocked_share)} of the launch time is spent waiting in a full "
        "queue: the host is ahead of the GPU there.",
        remedy="Nothing on the host: long launches are a sign that the GPU is the limit.",
        evidence=evidence,
    )


def device_imbalance(result: HostOverhead, blame: IdleBlame | None = None) -> Finding | None:
    """One GPU idles much more than another."""
    devices = result.measured.taking_part
    if result.measured.idle_spread <= SPREAD:
        return None
    most = max(devices, key=lambda device: device.idle_ratio)
    least = min(devices, key=lambda device: device.idle_ratio)
    return Finding(
        id="device-imbalance",
        weight=Weight.WARNING,
        sentence=f"{most.label} idles {share(most.idle_ratio)} of the window, {least.label} "
        f"{share(least.idle_ratio)}.",
        remedy="Look at how work is split over the GPUs, and at what the process of the idle one "
        "waits for.",
        evidence=tuple(
            Evidence(f"idle, {device.label}", "%", 100 * device.idle_ratio) for device in devices
        )
        + _causes(blame, most.device, most.label),
    )


def _causes(blame: IdleBlame | None, device: int, label: str) -> tuple[Evidence, ...]:
    """What the host did most while a device idled, by name."""
    found = () if blame is None else blame.causes
    named = [cause for cause in found if cause.device == device and cause.text]
    return tuple(
        Evidence(f"{label} idle in {cause.text}", "ms", cause.ns / 1e6, name=cause.text)
        for cause in named[:1]
    )


def _step_text(result: HostOverhead, phase: str) -> str | None:
    """The text of a step of the phase: all of them have one name in the tree."""
    steps = result.steps
    rows = [
        row for row in result.step_rows.tolist() if PHASE_NAMES[Phase(steps.phase[row])] == phase
    ]
    name = int(steps.name[rows[0]]) if rows else -1
    return texts(result.data.trace, {name}).get(name) if name >= 0 else None


def _launched_alone(result: HostOverhead) -> tuple[Evidence, ...]:
    """The kernels outside of graphs that take most GPU time."""
    window = result.window
    if window is None:
        return ()
    devices = [device.device for device in result.data.devices]
    kernels = eager_kernels(
        result.data.trace, window.start_ns, window.end_ns, _ASKED, devices=devices
    )
    return tuple(
        Evidence(
            f"{kernel.name}, {plural(kernel.count, 'launch', 'launches')}", "µs",
            kernel.gpu_ns / 1e3, name=kernel.name, node=kernel.node, kind=GpuKind.KERNEL,
        )
        for kernel in by_name(kernels)[:_ROWS]
    )  # fmt: skip


def _launch_node(result: HostOverhead) -> int | None:
    """The heaviest context of a launch call."""
    nodes = heaviest_nodes(result.data.trace, KERNEL_LAUNCHES | GRAPH_LAUNCHES)
    return next((nodes[name] for name in sorted(nodes)), None)


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * ratio
