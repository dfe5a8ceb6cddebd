"""Ranges that the program marked on the host: their texts, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
from numpy.typing import NDArray

from ..ingest.model import HostKind
from .trace import Trace

RANGE_KINDS = (HostKind.ANNOTATION, HostKind.RANGE)

Ids = NDArray[np.int32]
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RangeText:
    """A text that ranges carry in one domain ("" is the default domain)."""

    name: int
    text: str
    domain_id: int
    """-1: the default domain."""
    domain: str


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges by (lane, start). Columns of one length; times in ns from the trace's start."""

    lane: Ids
    name: Ids
    start_ns: Times
    end_ns: Times
    open: NDArray[np.bool_]
    """No end was recorded: the trace's end is used."""


def range_texts(trace: Trace, pattern: str | None = None) -> list[RangeText]:
    """Distinct texts of ranges, by id; those in which the RE2 `pattern` is found, when given.

    Reads events: NotReadyError while they are being loaded.
    """
    rows = trace.event_rows("ranges.texts", {"kinds": list(RANGE_KINDS), "pattern": pattern})
    return [RangeText(*row) for row in rows]


class PatternError(Exception):
    """The engine cannot search for a pattern; the text says why."""


def told_by(
    trace: Trace, pattern: str, groups: Sequence[int]
) -> list[tuple[int, tuple[str, str, str]]]:
    """Texts of ranges in which the RE2 `pattern` is found, by id, each with what three groups of it
    hold ("" where one takes no part). Group 0 is all that was found.

    Linear in the texts. PatternError for a pattern that is none; reads events: NotReadyError while
    they are being loaded.
    """
    first, second, third = groups
    parameters = {
        "kinds": list(RANGE_KINDS),
        "pattern": pattern,
        "first": first,
        "second": second,
        "third": third,
    }
    try:
        rows = trace.event_rows("ranges.told", parameters)
    except duckdb.InvalidInputException as error:
        raise PatternError(str(error).partition(": ")[2] or str(error)) from error
    return [(name, (one, two, three)) for name, one, two, three in rows]


def ranges_named(
    trace: Trace, names: Sequence[int], *, without_domains: Sequence[int] = ()
) -> Ranges:
    """All ranges that carry one of the texts, save those of the domains to leave out.

    Reads events: NotReadyError while they are being loaded.
    """
    columns = trace.event_arrays(
        "ranges.named",
        {
            "kinds": list(RANGE_KINDS),
            "names": [int(name) for name in names],
            "without": [int(domain) for domain in without_domains],
        },
    )
    return Ranges(**columns)
