"""When a recording was on, in words: what is said when nothing was recorded."""

from __future__ import annotations

from .options import Options


def told_limits(options: Options) -> list[str]:
    """What kept recording off for a part of the run, and what turns it on; empty when it was on
    from the beginning to the end."""
    told: list[str] = []
    if options.paused:
        ways = ["resume() of dctx.record in the program"]
        if options.toggle_signal:
            ways.insert(0, "the signal of --toggle-signal")
        if options.control:
            ways.insert(0, "`dctx control FOLDER start`")
        asked = "" if len(ways) > 1 else " (--control and --toggle-signal are other ways)"
        told.append(f"--paused: it begins when {' or '.join(ways)} turns it on{asked}")
    if options.by_steps:
        marker = options.step_marker
        ends = f"the scope {marker}" if marker else "Optimizer.step or dctx.step()"
        start, steps, every = options.window
        some = f"step {start:,} on" if steps == 0 else f"step {start:,}, {steps:,} steps"
        one = f", one in {every:,}" if every > 1 else ""
        told.append(f"steps were chosen (from {some}{one}): they end with {ends}")
    if options.delay_s > 0:
        told.append(f"--delay: it begins {options.delay_s:g} s after torch was imported")
    if options.duration_s is not None:
        told.append(f"--duration: it was on for {options.duration_s:g} s")
    return told
