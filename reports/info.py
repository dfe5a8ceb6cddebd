"""Facts about a trace for `dctx info`: JSON for programs, text for people."""

from __future__ import annotations

from typing import Any

from ..ingest.capabilities import LABELS, PREFIX, Capability
from ..ingest.model import GpuKind
from ..queries.annotations import annotation_stats
from ..queries.capture import Capture, capture, device_times
from ..queries.kernels import GPU_WORK, op_stats
from ..queries.trace import Trace
from . import format as fmt
from .json_text import json_text

SCHEMA_VERSION = 1
"""Of the JSON: raised when a key changes its meaning or goes away."""

Json = dict[str, Any]


def trace_info(trace: Trace, *, top: int = 10) -> Json:
    """Facts of a fully loaded trace, ready for `json.dumps`; keys come in a fixed order.

    Times are ns and sizes bytes, as the keys say. What the trace does not tell is null.
    """
    facts = capture(trace)
    annotations = annotation_stats(trace, top)
    stats = op_stats(trace, kinds=tuple(GpuKind))
    window = facts.gpu_window_ns
    return {
        "schema_version": SCHEMA_VERSION,
        "path": facts.path,
        "size_bytes": facts.size_bytes,
        "format": facts.format,
        "producer": facts.producer or None,
        "producer_version": facts.producer_version or None,
        "producer_schema_version": facts.schema_version or None,
        "reader": facts.reader or None,
        "span_ns": facts.span_ns,
        "start_utc_ns": facts.start_utc_ns,
        "gpu_window_ns": None if window is None else list(window),
        "processes": facts.processes,
        "tables": _tables(facts),
        "devices": [
            {
                "device": device.device,
                "label": device.label,
                "name": device.name or None,
                "identity_assumed": device.assumed,
                "kernel_count": device.kernel_count,
                "kernel_sum_ns": device.kernel_sum_ns,
                "busy_ns": device.busy_ns,
                "kernel_window_ns": None
                if device.kernel_window_ns is None
                else list(device.kernel_window_ns),
                "window_ns": device.window_ns,
                "compute_ns": device.compute_ns,
                "comm_exposed_ns": device.comm_exposed_ns,
                "copy_exposed_ns": device.copy_exposed_ns,
                "idle_ns": device.idle_ns,
            }
            for device in device_times(trace)
        ],
        "gpu_operations": {
            kind.name.lower(): {
                "count": sum(op.count for op in stats if op.kind is kind),
                "sum_ns": sum(op.sum_ns for op in stats if op.kind is kind),
                "bytes": _sum([op.bytes for op in stats if op.kind is kind]),
            }
            for kind in (*GPU_WORK, GpuKind.SYNC)
            if any(op.kind is kind for op in stats)
        },
        "top_kernels": [
            {"name": op.name, "count": op.count, "sum_ns": op.sum_ns, "communication": op.comm}
            for op in stats
            if op.kind is GpuKind.KERNEL
        ][:top],
        "orphans": dict(facts.orphans),
        "annotations": {
            "push_pop": annotations.push_pop,
            "start_end": annotations.start_end,
            "marks": annotations.marks,
            "open": annotations.open,
            "distinct_texts": annotations.distinct_texts,
            "threads": annotations.threads,
            "top": [
                {"text": total.text, "count": total.count, "sum_ns": total.sum_ns}
                for total in annotations.top
            ],
        },
        "capabilities": {
            capability.value: {"recorded": not reason, "reason": reason or None}
            for capability in Capability
            if (reason := facts.facts.get(PREFIX + capability.value)) is not None
        },
        "notes": [
            {"severity": note.severity.name.lower(), "source": note.source, "text": note.text}
            for note in facts.notes
        ],
    }


def info_json(info: Json) -> str:
    """The facts as indented JSON with a final newline."""
    return json_text(info, indent=2) + "\n"


def info_text(info: Json) -> str:
    """The same facts for people."""
    window = info["gpu_window_ns"]
    facts = (
        ("trace", info["path"]),
        ("size", fmt.size(info["size_bytes"])),
        ("format", info["format"]),
        ("producer", " ".join(filter(None, (info["producer"], info["producer_version"])))),
        ("schema", info["producer_schema_version"]),
        ("reader", info["reader"]),
        ("start", fmt.utc_time(info["start_utc_ns"])),
        ("span", fmt.duration(info["span_ns"])),
        ("GPU window", fmt.NA if window is None else fmt.duration(window[1] - window[0])),
        ("processes", fmt.count(info["processes"])),
    )
    lines = [f"{label:<12}{value or fmt.NA}" for label, value in facts]
    devices, more = fmt.limited(info["devices"], "GPUs", "dctx info --json")
    lines += [
        f"{device['label']:<12}{device['name'] or fmt.NA}"
        f", {fmt.count(device['kernel_count'])} kernels"
        f", sum {fmt.duration(device['kernel_sum_ns'])}"
        f", busy {fmt.duration(device['busy_ns'])}"
        for device in devices
    ]
    lines += [f"{'':<12}{line}" for line in more]
    for kind, total in info["gpu_operations"].items():
        moved = "" if total["bytes"] is None else f", {fmt.size(total['bytes'])}"
        figures = f"{fmt.count(total['count'])}, sum {fmt.duration(total['sum_ns'])}{moved}"
        lines.append(f"{kind:<12}{figures}")
    ranges = info["annotations"]
    lines.append(
        f"{'annotations':<12}{fmt.count(ranges['push_pop'])} push-pop, "
        f"{fmt.count(ranges['start_end'])} start-end, {fmt.count(ranges['marks'])} marks, "
        f"{fmt.count(ranges['open'])} without an end"
    )
    if info["orphans"]:
        orphans = ", ".join(f"{fmt.count(n)} {kind}" for kind, n in info["orphans"].items())
        lines.append(f"{'orphans':<12}{orphans}")
    lines += [
        f"{'lacks':<12}{LABELS[Capability(name)]}: {there['reason']}"
        for name, there in info["capabilities"].items()
        if not there["recorded"]
    ]
    lines += ["", f"{'rows':>14}  {'used':>14}  table"]
    for name, table in info["tables"].items():
        unused = ", ".join(f"{fmt.count(n)} {why}" for why, n in table["unused"].items())
        why_not = f"  (not used: {unused.replace('_', ' ')})" if unused else ""
        lines.append(
            f"{fmt.count(table['rows']):>14}  {fmt.count(table['used']):>14}  {name}{why_not}"
        )
    if info["notes"]:
        lines += ["", *(f"{note['severity']}: {note['text']}" for note in info["notes"])]
    return "\n".join(map(fmt.clean, lines)) + "\n"


def _tables(facts: Capture) -> dict[str, Json]:
    tables: dict[str, Json] = {
        name: {"rows": rows, "used": facts.used.get(name), "unused": {}}
        for name, rows in sorted(facts.rows.items())
    }
    for key, number in sorted(facts.unused.items()):
        name, _, reason = key.partition(".")
        tables.setdefault(name, {"rows": None, "used": None, "unused": {}})["unused"][reason] = (
            number
        )
    return tables


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
