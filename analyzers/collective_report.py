"""The collectives of a trace, matched over its ranks, timed and summed up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.ranks import NOTED
from ..queries.capture import capture
from .collective_signatures import Signatures, exposed_ns, signatures
from .collective_timing import Settings, Timed, timed
from .collectives import collectives, recorded_names

if TYPE_CHECKING:
    from ..queries.capture import Capture
    from ..queries.scope import TimeScope
    from ..queries.trace import Trace
    from .collectives import Collectives
    from .report_rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class CollectiveReport:
    """All that sheets and views show of collectives."""

    timed: Timed
    signatures: Signatures
    compat: frozenset[str]
    """What of TraceLens the sheets reproduce: ids of `compat_ids`."""
    scope: TimeScope | None
    """The part of the trace; None: all of it."""
    notes: tuple[str, ...]
    """What the reader should know before trusting a figure."""


def collective_report(
    trace: Trace,
    rules: Rules,
    settings: Settings | None = None,
    scope: TimeScope | None = None,
) -> CollectiveReport:
    """Reads events. How many ranks share a host is taken from the trace where it is not given:
    as many as the host has GPUs, if it has several. `scope`: only what was launched in it, see
    `collective_part`. RequestError where that is nothing."""
    settings = settings or Settings()
    of_capture = capture(trace)
    facts = of_capture.facts
    world = _number(facts.get("distributed.world_size"))
    gpus = _number(facts.get("host.gpus"))
    if settings.gpus_per_node is None and gpus is not None and gpus > 1:
        settings = replace(settings, gpus_per_node=gpus)
    if facts.get("files_without_base_time"):
        settings = replace(settings, one_clock=False)
    found = collectives(trace, rules)
    if settings.gpus_per_node is None and facts.get("format") == "nsys":
        # One export is the recording of one host, and its times are of one clock.
        ranks = (member.rank or 0 for member in found.members)
        settings = replace(settings, gpus_per_node=max(ranks, default=0) + 1)
    of = timed(found, settings, world)
    if "D33" in rules.compat:
        of = replace(of, found=recorded_names(found))
        found = of.found
    if scope is not None:
        from .collective_part import part_of  # brings the tree along

        of = part_of(trace, of, scope)
        found = of.found
    return CollectiveReport(
        of,
        signatures(found, exposed_ns(trace, found, rules)),
        rules.compat,
        scope,
        (
            *_files(of_capture, found),
            *found.notes,
            *of.matched.notes,
            *_ranks(found, world),
            *_clocks(of),
            *_marks(of),
        ),
    )


def _files(of: Capture, found: Collectives) -> list[str]:
    """What reading the files of the ranks told."""
    return [note.text for note in of.notes if note.source == NOTED] if len(found) else []


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _ranks(found: Collectives, world: int | None) -> list[str]:
    """Ranks that are not in the trace."""
    there = {member.rank for member in found.members}
    expected: set[int] = set(range(world)) if world and world <= 1_000_000 else set()
    for group in found.groups:
        expected.update(group.ranks or ())
    gone = sorted(expected - there)
    if not gone or not len(found):
        return []
    listed = ", ".join(map(str, gone[:16])) + (", …" if len(gone) > 16 else "")
    text = f"{len(gone)} of {len(expected)} ranks are not in the trace ({listed})"
    if len(there) == 1:  # which has no waits
        return [f"{text}."]
    return [f"{text}: waits and latencies are those of the ranks that are."]


def _clocks(of: Timed) -> list[str]:
    notes: list[str] = []
    moved = [clock for clock in of.clocks if clock.applied]
    for clock in moved:
        who = _who(of, clock.members, clock.node)
        notes.append(
            f"The clock of {who} is off by {clock.offset_ns / 1000:+.1f} µs (half of "
            f"{clock.instances} collectives tell it within {clock.spread_ns / 1000:.1f} µs): taken "
            "off."
        )
    if of.several_clocks:
        why = (
            "The ranks are on several hosts"
            if of.settings.one_clock
            else "Files do not tell when they were recorded"
        )
        notes.append(
            f"{why}: who is late is judged by durations, which need no common clock (wait_est), "
            "not by the recorded starts."
        )
    return notes


def _who(of: Timed, members: tuple[int, ...], node: int | None) -> str:
    ranks = ", ".join(str(of.found.members[m].rank) for m in members)
    return f"rank {ranks}" if node is None else f"host {node} (ranks {ranks})"


def _marks(of: Timed) -> list[str]:
    notes: list[str] = []
    for mask, what in (
        (of.sizes_differ, "have sizes or types that differ between ranks: no bandwidth is told"),
        (of.names_differ, "are called differently on their ranks"),
        (
            # A single rank lacks all others: that is told already.
            np.array([bool(t.missing) and len(of.found.members) > 1 for t in of.traits], bool),
            "lack ranks of their group",
        ),
    ):
        if mask.any():
            notes.append(f"{int(mask.sum())} of {len(mask)} collectives {what}.")
    unknown = of.found.unknown_types
    if unknown:
        listed = ", ".join(sorted(unknown))
        notes.append(f"The size of these types is not known, nor that of their messages: {listed}.")
    return notes
