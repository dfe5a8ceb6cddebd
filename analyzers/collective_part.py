"""The collectives of a part of a trace, as they were matched in the whole."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ..queries.collectives import launched_ns
from ..queries.scope import inside
from .collective_match import Matched
from .errors import RequestError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.scope import TimeScope
    from ..queries.trace import Trace
    from .collective_timing import Timed
    from .collectives import Collectives

    Mask = NDArray[np.bool_]


def part_of(trace: Trace, of: Timed, scope: TimeScope) -> Timed:
    """The collectives that were launched in the windows, whole: one is where its first kernel was
    launched (began, where that is not known), with all its ranks, and clocks are those of the whole
    trace. So parts that share no time sum to the whole. RequestError where there are none. Reads
    events."""
    found, matched = of.found, of.matched
    launched = inside(trace, scope, found.work.lane, launched_ns(trace, found.work))
    kept = launched[of.first]
    alone = matched.instance < 0
    kept_event = np.where(alone, launched, np.append(kept, False)[matched.instance])
    if not kept_event.any():
        raise RequestError(f"no collective was launched in {scope.label}.")
    rows = np.flatnonzero(kept)
    of_event = _numbered(kept_event)
    of_instance = _numbered(kept)
    event = matched.event[rows]
    by_instance = ("present", "start_ns", "end_ns", "wait_ns", "wait_est_ns", "latency_ns",
                   "sizes_differ", "names_differ", "implicit")  # fmt: skip
    return replace(
        of,
        found=_events(found, kept_event),
        matched=Matched(
            np.where(event >= 0, of_event[event], -1),
            matched.basis[rows],
            of_instance[matched.instance[kept_event]].astype(np.int32),
            matched.index_in_group[kept_event],
            matched.notes,
        ),
        first=of_event[of.first[rows]],
        traits=[of.traits[row] for row in rows.tolist()],
        **{name: getattr(of, name)[rows] for name in by_instance},
    )


def _numbered(kept: Mask) -> NDArray[np.int64]:
    """The new place of each; -1, also at the end, for those that are gone."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)


def _events(of: Collectives, kept: Mask) -> Collectives:
    work = replace(of.work, **{f.name: getattr(of.work, f.name)[kept] for f in fields(of.work)})
    columns = {
        f.name: getattr(of, f.name)[kept]
        for f in fields(of)
        if isinstance(getattr(of, f.name), np.ndarray)
    }
    return replace(of, work=work, **columns)
