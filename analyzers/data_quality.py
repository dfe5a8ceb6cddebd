"""What in a recording makes its figures less than they seem."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ingest.capabilities import LABELS
from ..queries import quality
from ..queries.capture import Capture, capture
from .collectives import unknown_types
from .steps import find_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..queries.trace import Trace

_FEW: Final = 0.5
"""A step with less than this share of the usual number of GPU operations is told."""
_MANY: Final = 0.05
"""A share above this makes a warning of a remark."""
_REPAIRED: Final = {
    "recovered": "records that were not valid and were repaired",
    "lost": "places where no record could be read",
    "truncated": "the file ends within a record",
    "bad_time": "records with an impossible time",
    "neg_dur": "records with a negative duration: shown with none",
    "no_ts": "records without a time: left out",
    "too_big": "records too large to read: left out",
}
_MOST_PERCENT: Final = 110.0
_SERIOUS: Final = frozenset({"lost", "truncated", "bad_time", "too_big"})


class Grade(StrEnum):
    """How much a finding weighs."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Check:
    """One question to the recording and its answer."""

    name: str
    grade: Grade
    count: int | None
    """None: cannot be counted."""
    affected_ns: int | None
    """None: no time belongs to it."""
    explanation: str


def data_quality(trace: Trace, roofline_percents: Sequence[float] = ()) -> list[Check]:
    """All checks, those without a finding too. Reads events. `roofline_percents`: how much of what
    the GPU can do the calls reached."""
    facts = capture(trace)
    checks = [
        *_lengths(trace),
        _overruns(trace),
        _early(trace),
        *_steps(trace),
        _graphs(trace),
        *_records(facts),
        *_lacking(facts),
    ]
    unknown = unknown_types(trace)
    listed = ", ".join(sorted(unknown))
    text = "their sizes are not known, so sizes and bandwidths are blank"
    text = f"{text}: {listed}" if listed else text
    checks.append(Check("unknown element types", _graded(len(unknown)), len(unknown), None, text))
    if roofline_percents:
        beyond = sum(percent > _MOST_PERCENT for percent in roofline_percents)
        text = (
            f"calls that are faster than the roofline by over {_MOST_PERCENT - 100:.0f} %: the "
            "model, the architecture or the times are wrong"
        )
        checks.append(Check("beyond the roofline", _graded(beyond), beyond, None, text))
    return checks


def _graded(count: int, share: float = 1.0) -> Grade:
    if not count:
        return Grade.OK
    return Grade.WARNING if share > _MANY else Grade.INFO


def _lengths(trace: Trace) -> list[Check]:
    found = quality.lengths(trace)
    share = found.unlinked / found.work if found.work else 0.0
    return [
        Check(
            "unlinked GPU work",
            _graded(found.unlinked, share),
            found.unlinked,
            found.unlinked_ns,
            f"of {found.work}: launched before the recording began, or the call was lost; in the "
            "operator sheets it has rows of its own",
        ),
        Check(
            "work without length",
            _graded(found.empty, 0.0),
            found.empty,
            0,
            "counted, adds no time",
        ),
        Check(
            "impossible durations",
            _graded(found.cut),
            found.cut,
            None,
            "longer than the recording can hold: cut",
        ),
    ]


def _overruns(trace: Trace) -> Check:
    found = quality.overruns(trace)
    count, ns = len(found), sum(over_ns for _, _, over_ns in found)
    text = (
        "work of 1 ms or more, over ten times the median of its name, that runs on when the next "
        "on its stream begins: its end is doubtful (--clip-overrun cuts it)"
    )
    return Check("overruns", _graded(count), count, ns, text)


def _early(trace: Trace) -> Check:
    count, lead_ns = quality.early_work(trace)
    text = "work that begins before its launch: the clocks of host and GPU differ"
    if count:
        text += f", by up to {lead_ns / 1000:.3f} µs"
    return Check("work before its launch", _graded(count), count, None, text)


def _steps(trace: Trace) -> list[Check]:
    """Steps whose GPUs did nothing, or much less than in others."""
    steps = find_steps(trace)
    device, start = quality.work_starts(trace)
    counts = np.zeros(len(steps.start_ns), np.int64)
    on_gpu = np.zeros(len(steps.start_ns), bool)
    for index, rank in enumerate(steps.ranks):
        rows = np.flatnonzero(steps.rank == index)
        on_gpu[rows] = bool(rank.devices)
        for number in rank.devices:
            starts = start[device == number]
            inside = np.searchsorted(starts, steps.next_ns[rows])
            counts[rows] += inside - np.searchsorted(starts, steps.start_ns[rows])
    length = steps.next_ns - steps.start_ns
    empty, few = on_gpu & (counts == 0), np.zeros(len(counts), bool)
    for index in range(len(steps.ranks)):
        rows = on_gpu & (steps.rank == index)
        usual = float(np.median(counts[rows])) if rows.any() else 0.0
        few |= rows & (counts > 0) & (counts < _FEW * usual)
    return [
        Check(
            name,
            _graded(int(found.sum())),
            int(found.sum()),
            int(length[found].sum()),
            f"of {len(counts)} steps: {why}",
        )
        for name, found, why in (
            ("steps without GPU work", empty, "events were lost, or the step did no work"),
            (
                "steps with little GPU work",
                few,
                "less than half the median of the rank: cut off by the recording, or of another "
                "kind",
            ),
        )
    ]


def _graphs(trace: Trace) -> Check:
    found = quality.graph_launches(trace)
    text = (
        f"of {found.launches} launches of graphs: fewer operations than other launches of the same "
        "graph; idle time around them is not to be trusted"
    )
    return Check("graph launches with lost work", _graded(found.short), found.short,
                 found.short_ns, text)  # fmt: skip


def _records(facts: Capture) -> list[Check]:
    checks: list[Check] = []
    for key, text in _REPAIRED.items():
        count = int(facts.facts.get(f"report.{key}", "0"))
        if count:
            grade = Grade.WARNING if key in _SERIOUS else Grade.INFO
            checks.append(Check(f"records: {key}", grade, count, None, text))
    return checks or [Check("records", Grade.OK, 0, None, "all could be read as they are")]


def _lacking(facts: Capture) -> list[Check]:
    checks = [
        Check(f"no {LABELS[capability]}", Grade.INFO, None, None, reason)
        for capability, reason in facts.lacking
    ]
    if "model not recorded" in " ".join(facts.facts.values()):
        text = "the GPU's model is not recorded: no roofline"
        checks.append(Check("no device name", Grade.INFO, None, None, text))
    return checks
