"""The part of a trace that a report is limited to: a span, a step, or ranges of annotations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..ingest.capabilities import Capability
from ..queries.annotations import annotation_spans
from ..queries.capture import capture
from ..queries.scope import TimeScope
from .errors import RequestError
from .range_timeline import merged
from .step_selection import Selection, windows_of
from .steps import find_steps
from .time_span import parse_span

if TYPE_CHECKING:
    from ..queries.trace import Trace


def _needs_events(trace: Trace) -> None:
    """RequestError for a recording or profile of sums: nothing of it is known to lie in a part."""
    why = dict(capture(trace).lacking).get(Capability.EVENTS)
    if why:
        raise RequestError(
            f"no part of it can be told apart: {why} What its steps took, where it counted any: "
            "dctx steps."
        )


def span_scope(trace: Trace, text: str) -> TimeScope:
    """`a:b` in seconds from the start of the trace, cut where that ends. RequestError for a span
    that is none or lies outside."""
    _needs_events(trace)
    span = parse_span(text)
    if span is None:
        raise RequestError(
            f"the range {text!r} is none. Name a span in seconds from the start of the trace, such "
            "as `12.3:14.9`."
        )
    start, end = span
    whole = capture(trace).span_ns
    if whole is not None and start >= whole:
        raise RequestError(
            f"the range {text!r} lies outside the trace, which ends after {whole / 1e9:.6f} s."
        )
    end = end if whole is None else min(end, whole)
    return TimeScope(f"{start / 1e9:.6f} s to {end / 1e9:.6f} s", ((None, start, end),))


def step_scope(trace: Trace, number: int) -> TimeScope:
    """A step by its number in the trace, where the texts of steps tell one; else by its place,
    from 0. Each rank has its own. RequestError where there is none. Reads events."""
    _needs_events(trace)
    steps = find_steps(trace)
    if not len(steps):
        raise RequestError(f"there are no steps: {steps.reason}.")
    numbered = bool((steps.number >= 0).all())
    numbers = steps.number if numbered else steps.iteration
    found = steps.iteration[numbers == number]
    if not len(found):
        raise RequestError(
            f"there is no step {number}: those of this trace go from {int(numbers.min())} to "
            f"{int(numbers.max())}."
        )
    chosen = Selection(int(found.min()), int(found.max()))
    return TimeScope(f"step {number}", windows_of(steps, chosen))


def annotation_scope(trace: Trace, pattern: str) -> TimeScope:
    """All annotations (NVTX, record_function) of which the pattern finds a part of the text.
    RequestError for a pattern that is none, or finds none. Reads events."""
    _needs_events(trace)
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise RequestError(f"{pattern!r} is no regular expression: {error}.") from error
    spans = annotation_spans(trace)
    texts = {text: wanted.search(text) is not None for text in {span.text for span in spans}}
    found = [span for span in spans if texts[span.text]]
    if not found:
        raise RequestError(
            f"no annotation holds {pattern!r}. Their texts: sheet annotation_summary."
        )
    windows: list[tuple[int | None, int, int]] = []
    for process in sorted({span.process for span in found}, key=lambda p: (p is None, p or 0)):
        own = [(span.start_ns, span.end_ns) for span in found if span.process == process]
        windows += [(process, start, end) for start, end in merged(own)]
    count = f"{len(found)} annotations" if len(found) > 1 else "1 annotation"
    return TimeScope(f"{count} with {pattern!r}", tuple(windows))
