"""The texts of a timeline: its window, its scale, and what is under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.quantities import plural
from ..analyzers.steps import Label, Phase
from .format import count, duration, span
from .format import path as way
from .step_texts import LABELS, PHASES

if TYPE_CHECKING:
    from ..analyzers.steps import Steps
    from ..analyzers.tracks.links import About
    from ..analyzers.tracks.picture import Picked
    from ..analyzers.tracks.timeline import Timeline
    from ..analyzers.tracks.window import Window

TICK_COLUMNS = 16
"""Two ticks are at least so far from each other."""


def window_text(window: Window, columns: int) -> str:
    """Which part of the trace is shown, and how much a column stands for."""
    whole = window.last_ns - window.first_ns
    shown = "the whole trace, " if window.is_whole else ""
    of = "" if window.is_whole else f" of {duration(whole).strip()}"
    width, column = duration(window.width_ns), duration(window.width_ns / max(columns, 1))
    when = span(window.start_ns, window.end_ns)
    return f"{shown}{when} · {width.strip()}{of} · a column is {column.strip()}"


def range_text(start_ns: int, end_ns: int) -> str:
    """What a range of time is called where views are limited to it."""
    return f"{duration(end_ns - start_ns).strip()} from {start_ns / 1e6:,.3f} ms on"


def ticks(window: Window, columns: int) -> list[tuple[int, str]]:
    """Columns of round times, and these as texts in one unit."""
    least = max(1, window.width_ns * TICK_COLUMNS // max(columns, 1))
    step = 1
    while step < least:
        step *= 10
    step = next((part for part in (step // 5, step // 2) if part >= least), step)
    first = -(-window.start_ns // step) * step
    return [
        (window.column(at, columns), instant(at, step)) for at in range(first, window.end_ns, step)
    ]


def instant(at_ns: int, step_ns: int) -> str:
    """A time with as many decimals as a step of the scale has."""
    if step_ns >= 1_000_000_000:
        return f"{at_ns // 1_000_000_000:,} s"
    decimals = max(0, 6 - (len(str(step_ns)) - 1))
    return f"{at_ns / 1e6:,.{decimals}f} ms"


def picked_text(timeline: Timeline, picked: Picked | None) -> str:
    """What is under the cursor: name, duration, when, where."""
    if picked is None:
        return "nothing here: ] and [ go to the next event and the one before"
    track = timeline.tracks[picked.track]
    length = duration(picked.end_ns - picked.start_ns).strip()
    when = f"from {picked.start_ns / 1e6:,.6f} ms on"
    if picked.event is not None:
        return f"{picked.name} · {length} · {when} · {track.label}"
    return f"a pause of {length} · {when} · {track.label}"


def about_texts(timeline: Timeline, picked: Picked, about: About, width: int) -> tuple[str, str]:
    """Two lines: where a launch leads, and the call path in so many cells. Of a step: which part
    of the run it is of, and how long it was until the next."""
    if picked.table == "steps" and timeline.steps is not None and picked.event is not None:
        return _step_texts(timeline.steps, picked.event)
    path = way(about.path, width) if about.path else "its call path is not recorded"
    if about.open:
        path = f"its end was not recorded: the trace's end is used · {path}"
    link = about.link
    if link is None:
        return about.unlinked, path
    place = timeline.tracks[link.found.track].label
    if picked.table == "gpu":
        # A kernel can start before its call has returned; the delay counts from the call's start.
        delay = duration(picked.start_ns - link.start_ns).strip()
        return f"launched {delay} before by {link.name} on {place} (a)", path
    delay = duration(link.start_ns - picked.start_ns).strip()
    more = "" if link.launched == 1 else f", the first of {count(link.launched)},"
    return f"launched {link.name}{more} which began {delay} after the call on {place} (a)", path


def _step_texts(steps: Steps, row: int) -> tuple[str, str]:
    told = [PHASES[Phase(steps.phase[row])], LABELS[Label(steps.label[row])]]
    for column, what in ((steps.context, "in context"), (steps.generation, "in generation")):
        if column[row] >= 0:
            told.append(f"{plural(int(column[row]), 'request')} {what}")
    pause = int(steps.next_ns[row] - steps.end_ns[row])
    after = f"{duration(pause).strip()} until the next step begins" if pause > 0 else ""
    return " · ".join(told), after
