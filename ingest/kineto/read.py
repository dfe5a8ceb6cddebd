"""Reads the files of a trace, several at a time, and builds the store of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from ...native import EventScanner, StringPool
from ..inputs import Source, Tell
from ..parallel import scan_all
from ..progress import Progress
from ..ranks import assign_ranks
from ..writer import StoreWriter
from .build import build
from .producer import recorded_rank
from .recording import Recording, recording


def load(sources: Sequence[Source], writer: StoreWriter, progress: Progress) -> None:
    """Fill the store. TraceError when a file cannot be read, CancelledError from `progress`."""
    pool = StringPool()

    def scan(source: Source, tell: Tell) -> Recording:
        scanner = EventScanner(pool)
        with closing(source.chunks(tell)) as chunks:
            for chunk in chunks:
                scanner.feed(chunk)
        return recording(scanner.finish(), source.label)

    recordings = scan_all(sources, scan, progress, "Reading events", 0.0, 0.6)
    ranks, notes = assign_ranks(sources, [recorded_rank(found) for found in recordings])
    for found, rank in zip(recordings, ranks, strict=True):
        found.rank = rank
    writer.notes(notes)
    build(recordings, pool, writer, progress)
