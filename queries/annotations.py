"""The program's own annotations (NVTX)."""

from __future__ import annotations

from dataclasses import dataclass

from ..ingest.model import HostKind, LaneKind
from .trace import Trace


@dataclass(frozen=True, slots=True)
class AnnotationTotal:
    """Closed ranges of one text; durations include what is nested in them."""

    text: str
    count: int
    sum_ns: int


@dataclass(frozen=True, slots=True)
class AnnotationStats:
    """How the program was annotated. All zero when it was not."""

    push_pop: int
    start_end: int
    marks: int
    open: int
    """Ranges whose end was not recorded."""
    distinct_texts: int
    threads: int
    top: tuple[AnnotationTotal, ...]
    """Most time first."""


def annotation_stats(trace: Trace, top: int = 10) -> AnnotationStats:
    """Totals over all annotations. Reads events: NotReadyError while they are being loaded."""
    kinds = {"annotation": int(HostKind.ANNOTATION), "range": int(HostKind.RANGE)}
    [(push_pop, start_end, marks, unended, texts, threads)] = trace.event_rows(
        "annotations.totals",
        {**kinds, "mark": int(HostKind.MARK), "ranges_lane": int(LaneKind.RANGES)},
    )
    rows = trace.event_rows("annotations.top", {**kinds, "limit": top})
    return AnnotationStats(
        push_pop=push_pop,
        start_end=start_end,
        marks=marks,
        open=unended,
        distinct_texts=texts,
        threads=threads,
        top=tuple(AnnotationTotal(*row) for row in rows),
    )


@dataclass(frozen=True, slots=True)
class AnnotationSpan:
    """A range of one thread."""

    text: str
    process: int | None
    start_ns: int
    end_ns: int


def annotation_spans(trace: Trace) -> list[AnnotationSpan]:
    """All ranges of threads, by start. Reads events."""
    rows = trace.event_rows("annotations.spans", {"annotation": int(HostKind.ANNOTATION)})
    return [AnnotationSpan(*row) for row in rows]
