"""Iterations of the workload: where each step of each rank lies, which phase it belongs to, and
which steps are the steady state.

Steps come from the ranges that the framework marked, else from a repeating CUDA graph, else from
the all-reduce pattern, else there are none: nothing is invented from ranges of libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..queries.capture import device_labels
from ..queries.lanes import lanes, processes
from ..queries.trace import Trace
from .all_reduce import AllReduce, all_reduce_pattern
from .distinct import distinct
from .markers import Method, prep_texts
from .step_columns import Found
from .step_labels import Label, Run, Segment, stage
from .step_ranks import Rank, ranked
from .step_sources import NONE_DETECTED, Texts, find_source, read_texts
from .step_validation import validate
from .text_pattern import TextPattern, text_pattern

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

__all__ = [
    "Label",
    "Method",
    "Phase",
    "Rank",
    "Run",
    "Segment",
    "StepOptions",
    "Steps",
    "find_steps",
]


class Phase(IntEnum):
    """What a step does."""

    CONTEXT = 0
    """At least one request in it is in its context (prefill) part."""
    GENERATION = 1
    STEP = 2
    """Training, or not known."""


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What the user may say about the steps."""

    step_regex: str | None = None
    """Finds the texts of step ranges; groups `step`, `ctx`, `gen` are read where they are."""
    prep_regex: str | None = None
    """Finds the texts of ranges that prepare the inputs of a step."""
    generation: int | None = None
    """Generation requests of the steady state, instead of the most frequent large number."""
    all_reduce_gap_ns: int | None = None
    """Pause between the all-reduces of two iterations, instead of 1 ms or the widest valley."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps by (rank, start): one row is one step of one rank. All columns have one length."""

    method: Method
    reason: str
    """How the steps were found, or why none."""
    ranks: tuple[Rank, ...]
    rank: I32
    """Index into `ranks`."""
    iteration: I32
    """The same number for the same step of every rank: matched by step number, else by order."""
    number: I64
    """As the text says, -1 where it does not."""
    context: I32
    """Requests in their context part, -1 not known."""
    generation: I32
    """Requests that generate, -1 not known."""
    phase: U8
    label: U8
    start_ns: I64
    end_ns: I64
    next_ns: I64
    """Start of the rank's next step, for its last one its end."""
    name: I32
    """String id of the text, -1 where steps are told by GPU work."""
    run: I32
    """Index into `runs`."""
    runs: tuple[Run, ...]
    benchmark: int | None
    """Index of the run that was chosen for judging."""
    benchmark_reason: str
    steady_generation: int | None
    """Generation requests of the steady state; None where texts do not tell them."""
    generation_counts: Mapping[int, int]
    """Iterations without context requests, by generation requests (benchmark run)."""
    segments: tuple[Segment, ...]
    """What the trace shows outside the steps."""
    prep: Mapping[int, str]
    """Texts of the ranges that prepare inputs, by string id; empty where none occur."""
    all_reduce: AllReduce | None
    validated: bool | None
    """The all-reduce pattern finds the same number of steps (± 5 %); None: nothing to compare."""
    validation: str

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def no_steps(self) -> str:
        """The reason in few words, where there are no steps."""
        return NONE_DETECTED if self.reason.startswith(NONE_DETECTED) else self.reason

    @property
    def count(self) -> int:
        """Distinct iterations, however many ranks ran each."""
        return len(distinct(self.iteration))

    @property
    def chosen(self) -> I64:
        """Rows of the benchmark run; all rows where none was chosen."""
        if self.benchmark is None:
            return np.arange(len(self))
        return np.flatnonzero(self.run == self.benchmark)

    @property
    def chosen_count(self) -> int:
        """Distinct iterations of the benchmark run; all where none was chosen."""
        return len(distinct(self.iteration[self.chosen]))

    @property
    def steady(self) -> I64:
        """Rows of the steady state."""
        return np.flatnonzero(self.label == Label.STEADY)

    @property
    def pairs(self) -> I64:
        """Rows i where i and i + 1 are steady steps of one rank that follow each other."""
        if len(self) < 2:
            return np.zeros(0, np.int64)
        steady = self.label == Label.STEADY
        follows = (self.number[1:] == self.number[:-1] + 1) | (self.number[1:] < 0)
        same = (self.rank[1:] == self.rank[:-1]) & (self.run[1:] == self.run[:-1])
        return np.flatnonzero(steady[1:] & steady[:-1] & same & follows)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases that occur in the benchmark run."""
        return tuple(Phase(code) for code in distinct(self.phase[self.chosen]).tolist())

    def of_phase(self, phase: Phase) -> I64:
        """Rows of a phase in the benchmark run."""
        rows = self.chosen
        here: I64 = rows[self.phase[rows] == phase]
        return here

    def steady_window(self) -> tuple[int, int] | None:
        """First start to last end of the steady steps."""
        rows = self.steady
        if not len(rows):
            return None
        return int(self.start_ns[rows].min()), int(self.end_ns[rows].max())


def find_steps(trace: Trace, options: StepOptions | None = None) -> Steps:
    """The steps of a trace. NotReadyError while events are being loaded, RequestError for a
    pattern that is none."""
    options = options or StepOptions()
    step_pattern = text_pattern(options.step_regex, "step")
    prep_pattern = text_pattern(options.prep_regex, "preparation")
    own = step_pattern is not None or prep_pattern is not None
    texts = read_texts(trace, likely_only=not own)
    all_reduce = all_reduce_pattern(trace, options.all_reduce_gap_ns)
    source = find_source(trace, texts, step_pattern, all_reduce)
    all_lanes = lanes(trace)
    ranks, found = ranked(source, all_lanes, processes(trace))
    iteration = _matched(found)
    staging = stage(trace, source.method, found, iteration, options.generation, all_reduce)
    validated, validation = validate(
        found, iteration, ranks, staging, all_reduce, device_labels(trace)
    )
    return Steps(
        method=source.method,
        reason=source.reason,
        ranks=ranks,
        rank=found.lane,
        iteration=iteration,
        number=found.number,
        context=found.context,
        generation=found.generation,
        phase=_phases(found),
        label=staging.label,
        start_ns=found.start_ns,
        end_ns=found.end_ns,
        next_ns=_next_starts(found),
        name=found.name,
        run=staging.run,
        runs=staging.runs,
        benchmark=staging.benchmark,
        benchmark_reason=staging.reason,
        steady_generation=staging.steady_generation,
        generation_counts=staging.generation_counts,
        segments=staging.segments,
        prep=_prep(trace, source.method, texts, prep_pattern),
        all_reduce=all_reduce,
        validated=validated,
        validation=validation,
    )


def _prep(
    trace: Trace, method: Method, texts: Texts, pattern: TextPattern | None
) -> Mapping[int, str]:
    """Texts of the ranges that prepare inputs: the user's, else those that frameworks write."""
    if pattern is None:
        return prep_texts(method, texts.own)
    said = pattern.said(trace)
    return {item.name: item.text for item in texts.own if item.name in said}


def _matched(found: Found) -> I32:
    """Number of the iteration of each row, in order of time. Rows of several ranks are one
    iteration when they carry the same step number for the same time, else when they are at the
    same place in the order."""
    rows = len(found.start_ns)
    if not rows:
        return np.zeros(0, np.int32)
    order = np.lexsort((np.arange(rows), found.number, found.lane))
    lane, number = found.lane[order], found.number[order]
    fresh = np.concatenate([[True], (lane[1:] != lane[:-1]) | (number[1:] != number[:-1])])
    first = np.flatnonzero(fresh)
    time = np.arange(rows) - np.repeat(first, np.diff(np.append(first, rows)))
    occurrence = np.empty(rows, np.int64)
    occurrence[order] = time
    _, key = np.unique(np.stack([occurrence, found.number], axis=1), axis=0, return_inverse=True)
    key = key.reshape(-1)
    start = np.full(int(key.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(start, key, found.start_ns)
    place = np.empty(len(start), np.int32)
    place[np.argsort(start, kind="stable")] = np.arange(len(start), dtype=np.int32)
    return place[key]


def _phases(found: Found) -> U8:
    phase = np.full(len(found.start_ns), Phase.STEP, np.uint8)
    phase[(found.context == 0) & (found.generation > 0)] = Phase.GENERATION
    phase[found.context > 0] = Phase.CONTEXT
    return phase


def _next_starts(found: Found) -> I64:
    following = found.end_ns.copy()
    if len(following) > 1:
        same = found.lane[1:] == found.lane[:-1]
        following[:-1][same] = found.start_ns[1:][same]
    return following
