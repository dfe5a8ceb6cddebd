"""What is slow in one recording, for the program that made it."""

from __future__ import annotations

from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .config import default_config
from .judging import judge_trace
from .prescribe.facts import Facts
from .prescribe.table import one_list, prescriptions

if TYPE_CHECKING:
    from .findings import Finding


def findings_of_recording(path: str | PathLike[str]) -> list[Finding]:
    """The findings of a recording up to its last snapshot, most severe first; none when there is
    no file, as nothing was recorded. TraceError when it cannot be read."""
    from ..ingest.registry import open_trace
    from ..queries.trace import Trace

    place = Path(path)
    if not place.exists():
        return []
    settings = default_config()
    with closing(open_trace(place, cache=False)) as store:
        trace = Trace(store)
        facts = Facts(trace)
        judged = judge_trace(trace, settings)
        return list(one_list(judged.findings, prescriptions(facts, settings.findings)))
