"""Code is loaded, built or tuned inside the window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...ingest.model import HostKind
from ...queries.timeline import texts_of, waiting_spans
from ..distinct import distinct
from ..findings import Evidence, Finding
from ..quantities import share
from .facts import Facts
from .host_rows import building, compiling
from .places import nearest
from .wording import gained

_OVERHEAD: Final = re.compile(r"module|lazy|jit|library load", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time idle meanwhile, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    total_ns: int
    """Idle time meanwhile, counted once."""
    rows: list[int]
    idle_ns: list[int]
    overhead: tuple[tuple[str, int], ...]
    """What the profiler calls it, and the idle time meanwhile."""


def analyze(facts: Facts, limits: Limits) -> Result:
    nothing = Result(0, [], [], ())
    if not facts.devices:
        return nothing
    found = building(facts) & ~(nearest(facts.parent, compiling(facts)) >= 0)
    rows = np.flatnonzero(found).astype(np.int32)
    events = facts.events_of(found)
    host = facts.report.host
    spans = waiting_spans(facts.trace)
    names = texts_of(facts.trace, distinct(spans.label).tolist())
    wanted = [i for i, text in names.items() if _OVERHEAD.search(text)]
    other = (spans.kind == HostKind.OVERHEAD) & np.isin(spans.label, wanted)
    lane = np.concatenate([host.lane[events], spans.lane[other]]).astype(np.int32)
    start = np.concatenate([host.start_ns[events], spans.start_ns[other]])
    end = np.concatenate([(host.start_ns + host.dur_ns)[events], spans.end_ns[other]])
    end = np.maximum(start, end)
    total = int(facts.idle_in_spans(lane, start, end, np.zeros(len(lane), np.int32), 1)[0])
    if not total or total < limits.share * facts.window_ns:
        return nothing
    group = np.searchsorted(rows, facts.host_row[events])
    number = {label: len(rows) + i for i, label in enumerate(wanted)}
    of_span = np.array([number[i] for i in spans.label[other].tolist()], np.int64)
    groups = np.concatenate([group, of_span]).astype(np.int32)
    idle = facts.idle_in_spans(lane, start, end, groups, len(rows) + len(wanted))
    order = np.argsort(-idle[: len(rows)], kind="stable")
    order = order[idle[order] > 0]
    overhead = [(names[label], int(idle[at])) for label, at in number.items() if idle[at]]
    return Result(total, rows[order].tolist(), idle[order].tolist(), tuple(overhead))


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.total_ns:
        return []
    evidence = facts.evidence(result.rows, [ns / 1e6 for ns in result.idle_ns], "ms", "idle in {}")
    evidence += [Evidence(f"idle in {name}", "ms", ns / 1e6) for name, ns in result.overhead]
    return [
        gained(
            "warm-up",
            f"The GPU idles {share(result.total_ns / facts.window_ns)} of the time while code is "
            "loaded, built, tuned or captured: this part of the window is no steady state.",
            "Run a few steps before recording, with every shape that occurs; load eagerly "
            "(CUDA_MODULE_LOADING=EAGER) and keep the caches of compilers between runs.",
            "No such calls after the first step; judge with --window steady until then.",
            evidence,
            facts.gain(result.total_ns, "idle time within these calls"),
        )
    ]  # fmt: skip
