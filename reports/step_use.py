"""What steps used, as a recording measured it: rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.step_use import StepUse


def use_rows(use: StepUse) -> list[tuple[str, str]]:
    """What and how much of it; n/a for what was not recorded."""

    def figure(value: float | None, divisor: float = 1.0) -> str:
        return "n/a" if value is None else fmt.number(value / divisor)

    copied = use.copied_bytes
    return [
        ("CPU time of all threads, µs", figure(use.cpu_ns, 1000)),
        ("GPUs busy, µs", figure(use.gpu_busy_ns, 1000)),
        ("Python between operators, µs", figure(use.host_gap_ns, 1000)),
        ("page faults", figure(use.faults)),
        ("context switches", figure(use.switches)),
        ("most memory at a step's end", fmt.size(use.rss_bytes)),
        ("most memory in use of a GPU", fmt.size(use.device_peak_bytes)),
        ("copied by GPUs", fmt.size(None if copied is None else round(copied))),
    ]


def use_json(use: StepUse | None) -> dict[str, Any] | None:
    """Null where nothing was recorded."""
    if use is None:
        return None
    return {
        "cpu_us": None if use.cpu_ns is None else use.cpu_ns / 1000,
        "gpu_busy_us": None if use.gpu_busy_ns is None else use.gpu_busy_ns / 1000,
        "copied_bytes": use.copied_bytes,
        "host_gap_us": None if use.host_gap_ns is None else use.host_gap_ns / 1000,
        "page_faults": use.faults,
        "context_switches": use.switches,
        "rss_bytes": use.rss_bytes,
        "device_peak_bytes": use.device_peak_bytes,
    }
