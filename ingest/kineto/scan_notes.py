"""What is told of damage and oddities that the scanner met, and where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ..model import Severity
from .recording import Recording

_DAMAGED_SHARE: Final = 0.05
_REASONS: Final = {
    "recovered": "{n} events were not valid JSON (unescaped quotes, raw line ends …): repaired.",
    "lost": "{n} places in the file could not be read as events and were skipped.",
    "truncated": "A file ends in the middle of an event: it was cut. What came before is shown.",
    "no_ts": "{n} events without a time were left out.",
    "bad_time": "{n} times or durations cannot be: those events are left out, or shown with none.",
    "neg_dur": "{n} events have a negative duration: shown with none.",
    "too_big": "{n} events are too large (64 MiB) or nested too deep: left out.",
    "bad_phase": "{n} events are of kinds that a timeline cannot show: left out.",
    "text_cap": "{n} events kept no arguments: there are too many different ones.",
    "bad_metadata": "{n} entries of the file's header could not be read.",
}
"""What the scanner reports and the user should know, in order of weight."""
_SERIOUS: Final = frozenset({"lost", "truncated", "bad_time", "too_big", "text_cap"})


def scan_notes(recordings: Sequence[Recording]) -> list[tuple[Severity, str]]:
    """Notes (severity, text), the weightiest first."""
    counts: Counter[str] = Counter()
    events = 0
    for recording in recordings:
        events += recording.scan.events
        counts.update({reason: n for reason, (n, _) in recording.scan.report.items()})
        counts["bad_time"] += recording.far
    notes = [
        (
            Severity.WARNING if reason in _SERIOUS else Severity.INFO,
            text.format(n=counts[reason]) + _first_place(recordings, reason),
        )
        for reason, text in _REASONS.items()
        if counts[reason]
    ]
    if counts["lost"] > _DAMAGED_SHARE * max(events, 1):
        text = "The file is damaged: a large part of it could not be read. Copy or record it again."
        notes.append((Severity.ERROR, text))
    return notes


def _first_place(recordings: Sequence[Recording], reason: str) -> str:
    """Where in the (inflated) file to look for it, and in which files of several."""
    found = [
        (recording.label, places)
        for recording in recordings
        if (places := recording.scan.report.get(reason, (0, ()))[1])
    ]
    if not found:
        return ""
    label, places = found[0]
    if len(recordings) == 1:
        return f" First at byte {places[0]:,}."
    of = f" of {len(found)} files with it" if len(found) > 1 else ""
    return f" First at byte {places[0]:,} of {label}{', the first' + of if of else ''}."
