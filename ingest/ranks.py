"""Which rank of a distributed run each file is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .errors import TraceError, shown_path
from .inputs import Source
from .model import Severity

_IN_NAME: Final = re.compile(r"(?<![A-Za-z])rank[-_\[/.]?(\d{1,7})(?!\d)", re.IGNORECASE)

Note = tuple[Severity, str, str]
NOTED: Final = "ranks"
"""Source of the notes about which ranks are there."""


def rank_in_name(path: Path, below: Path | None = None) -> int | None:
    """The rank that a file's name tells, or the folders between `below` and it."""
    text = str(path.relative_to(below)) if below is not None else path.name
    found = _IN_NAME.findall(text)
    return int(found[-1]) if found else None


def assign_ranks(
    sources: Sequence[Source], recorded: Sequence[int | None], *, number: bool = True
) -> tuple[list[int | None], list[Note]]:
    """The rank of each source, and what to tell about it.

    A file that names its own rank (`recorded`) is believed, then its file name. Where no file tells
    any, they are numbered in their order, unless `number` is False: there the tool would have told,
    and these are no ranks. Where only some do, the others have none: a server's front end is not a
    rank. Ranks that occur twice stay: each file is a process of its own."""
    ranks: list[int | None] = [
        own if own is not None else source.rank
        for source, own in zip(sources, recorded, strict=True)
    ]
    notes: list[Note] = []
    if not number and all(rank is None for rank in ranks):
        return ranks, notes
    if len(sources) > 1 and None in ranks:
        unknown = [s.label for s, rank in zip(sources, ranks, strict=True) if rank is None]
        text = f"Neither the file nor its name tells the rank of {_listed(unknown)}: "
        if len(unknown) == len(sources):
            ranks = [*range(len(sources))]
            text += "numbered in the order of the files."
            notes.append((Severity.WARNING, NOTED, text))
        else:
            notes.append((Severity.INFO, NOTED, text + "shown without one."))
    counts = Counter(rank for rank in ranks if rank is not None)
    for rank, count in sorted(counts.items()):
        if count > 1:
            labels = [s.label for s, own in zip(sources, ranks, strict=True) if own == rank]
            text = f"{count} files are rank {rank} ({_listed(labels)}): they are kept apart."
            notes.append((Severity.WARNING, NOTED, text))
    return ranks, notes


def unread_ranks(
    refused: Sequence[TraceError], folder: Path
) -> tuple[list[Note], list[TraceError]]:
    """What to tell of the files of a folder that are named as ranks and are no traces, and the
    other ones."""
    below = Path(shown_path(folder))  # as errors name theirs
    names: dict[str, list[str]] = {}
    others: list[TraceError] = []
    for error in refused:
        path = Path(error.path)
        if rank_in_name(path, below) is None:
            others.append(error)
        else:
            names.setdefault(error.what, []).append(str(path.relative_to(below)))
    told = [f"Not read, though named as a rank: {_listed(n)}: {why}" for why, n in names.items()]
    return [(Severity.WARNING, NOTED, text) for text in told], others


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
