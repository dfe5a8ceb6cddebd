"""What recording cost the program, as an estimate."""

from __future__ import annotations

from .content import Recording


def own_cost_ns(recording: Recording) -> int | None:
    """Events times what one costs in this process (measured when the recording began; of an
    operator of torch also what torch's own call of the hook costs), and the CPU time of snapshots.
    None when the cost of an event was not measured, or XLA's profiler ran for a while: what that
    costs is not known."""
    if recording.window:
        return None
    event_ns = recording.meta.get("event_ns")
    if not isinstance(event_ns, (int, float)):
        return None
    commit = recording.commit
    return int(commit["events"] * event_ns) + commit["recorder_cpu_ns"]


def own_share(recording: Recording) -> float | None:
    """Of the time from the first to the last snapshot; None when not known."""
    cost = own_cost_ns(recording)
    return None if cost is None or recording.span_ns <= 0 else cost / recording.span_ns
