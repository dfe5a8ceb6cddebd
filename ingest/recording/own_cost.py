"""What recording cost the program, as an estimate."""

from __future__ import annotations

from typing import Final

from .content import Recording
from .kinds import Kind

_UNTOLD: Final = {
    "L2": "torch does not tell what it spends on NVTX ranges",
    "L3": "torch does not tell what its dispatcher spends on telling of operators",
}


def cost_not_known(recording: Recording) -> str:
    """Why nothing tells what recording cost; empty where it can be estimated."""
    if recording.window:
        return "XLA's profiler does not tell its part"
    return _UNTOLD.get(str(recording.meta.get("level")), "")


def own_cost_ns(recording: Recording) -> int | None:
    """Operators of torch: what the hooks took, estimated from one call in 256, and what torch
    itself spends on calling them (measured when recording began). Launches of GPU work and other
    events: what one costs in this process, measured likewise, without what the vendor's library
    costs. And the CPU time of snapshots. None when the cost of an event was not measured, and
    where cost_not_known()."""
    if cost_not_known(recording):
        return None
    names = ("event_ns", "hook_floor_ns", "launch_ns")
    event_ns, floor_ns, launch_ns = (recording.meta.get(name) for name in names)
    if not isinstance(event_ns, (int, float)):
        return None
    if not isinstance(launch_ns, (int, float)):
        launch_ns = event_ns
    commit, calls = recording.commit, gpu_calls(recording)
    hooked = commit["hook_calls"] // 2  # a begin and an end
    others = max(commit["events"] - calls - hooked, 0)
    own = others * event_ns + calls * launch_ns
    in_hooks = commit["hook_ns"] or hooked * event_ns  # too few were timed
    floor = hooked * floor_ns if isinstance(floor_ns, (int, float)) else 0
    return int(own + in_hooks + floor) + commit["recorder_cpu_ns"]


def gpu_calls(recording: Recording) -> int:
    """Calls of GPU interfaces that were recorded."""
    return sum(
        int(thread.metrics["count"][thread.kind == Kind.API].sum())
        for thread in recording.threads.values()
    )


def own_share(recording: Recording) -> float | None:
    """Of the time from the first to the last snapshot; None when not known."""
    cost = own_cost_ns(recording)
    return None if cost is None or recording.span_ns <= 0 else cost / recording.span_ns
