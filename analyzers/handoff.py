"""Where to look first, and the figures that the next tool or person starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .change import Status
from .host_metrics import prep_sets
from .sources import source_function
from .thread_states import IdleClass
from .verdict import Answer

if TYPE_CHECKING:
    from .host_overhead import HostOverhead
    from .judging import Judged
    from .regression import Comparison

WINDOW = "window"
_TELL_MORE = ", and ranges (NVTX, record_function) would tell what it is"
_UNNAMED = {
    IdleClass.COPY: "copies",
    IdleClass.UNATTRIBUTED: "host time outside all ranges and calls",
}


@dataclass(frozen=True, slots=True)
class Regressed:
    """An operation that got slower, or is new."""

    name: str
    delta_ns: float
    """Per step."""
    source: str | None


@dataclass(frozen=True, slots=True)
class ExposedPrep:
    """A range that prepares inputs, and its time while the GPUs of its process idle."""

    name: str
    ns: int


@dataclass(frozen=True, slots=True)
class FirstTarget:
    """What to look at first, and why."""

    name: str
    source: str | None
    why: str
    ns: int | None
    """Time it stands for; None where it is a figure per step."""
    nested: bool = False
    """The time holds what it calls; else it is its own alone."""


def regressed(comparison: Comparison, sources: dict[str, str] | None = None) -> list[Regressed]:
    """Operations that got slower or are new, the largest change first."""
    table = comparison.operations
    if table is None:
        return []
    return [
        Regressed(table.names[row], delta, source_function(table.names[row], sources))
        for row in table.rows_of(Status.REGRESSION, Status.NEW)
        if (delta := float(table.delta_ns[row])) > 0
    ]


def bottleneck_phase(result: HostOverhead) -> str | None:
    """The phase that is host-bound with most idle time; None where none is."""
    bound = [
        (phase.measured.metrics.gpu_idle_ratio or 0.0, name)
        for name, phase in result.phases.items()
        if result.overall.phases[name].answer is Answer.YES
    ]
    return max(bound)[1] if bound else None


def prep_confirmed_in(result: HostOverhead) -> tuple[str, ...]:
    """Where preparation is confirmed as the cause: `window` for the whole of it, phases by name."""
    judged = {WINDOW: result.overall.aggregate, **result.overall.phases}
    return tuple(name for name, part in judged.items() if part.host_prep_confirmed)


def host_prep_confirmed(result: HostOverhead) -> bool:
    """In the whole window or in any phase."""
    return bool(prep_confirmed_in(result))


def most_exposed(result: HostOverhead) -> ExposedPrep | None:
    """The range that prepares inputs longest while its GPUs idle. Reads events."""
    window = result.window
    if window is None:
        return None
    found: list[tuple[int, str]] = []
    for number, text in result.steps.prep.items():
        ranges = prep_sets(result.data, replace(result.steps, prep={number: text}))
        if ranges is None:
            continue
        inside = ranges.clip(window.start_ns, window.end_ns)
        exposed = inside.lengths() - inside.overlap(result.data.running)
        found.append((int(exposed.sum()), text))
    longest = max(found, default=None)
    return None if longest is None or not longest[0] else ExposedPrep(longest[1], longest[0])


def first_target(judged: Judged, comparison: Comparison | None = None) -> FirstTarget | None:
    """The most exposed preparation where it is confirmed, else the operation that regressed most,
    else the largest cause of idle time."""
    result, blame, prep = judged.result, judged.blame, judged.exposed
    sources = dict(result.config.sources)
    if prep is not None and host_prep_confirmed(result):
        why = "it prepares inputs while the GPU idles"
        source = source_function(prep.name, sources)
        return FirstTarget(prep.name, source, why, prep.ns, nested=True)
    if comparison is not None:
        worse = regressed(comparison, sources)
        if worse:
            return FirstTarget(worse[0].name, worse[0].source, "it regressed most", None)
    causes = [] if blame is None else blame.top(1)
    if not causes:
        return None
    kind, text, ns = causes[0]
    return FirstTarget(
        text or _UNNAMED.get(kind, kind.name.lower()),
        source_function(text, sources) if kind is IdleClass.CODE else None,
        "the GPU idles most during it" + (_TELL_MORE if kind is IdleClass.UNATTRIBUTED else ""),
        ns,
    )
