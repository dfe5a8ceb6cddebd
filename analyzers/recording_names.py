"""Which native functions of a recording can be named on this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..ingest.errors import DamagedTraceError, TraceError
from ..ingest.recording.chunks import FormatError
from ..ingest.recording.content import Recording, parse
from ..ingest.recording.symbols import find_symbols, nameless


@dataclass(frozen=True, slots=True)
class NamedFunctions:
    """What was found for one recording."""

    found: Mapping[tuple[int, int], str]
    """Names by module and offset."""
    left: Mapping[str, int]
    """Places without a name, by library."""
    known: int
    """Places that had a name already."""


def name_functions(path: Path, data: bytes) -> NamedFunctions:
    """TraceError when it is no recording, or one that its program still writes."""
    try:
        recording = parse(data)
    except FormatError as error:
        raise DamagedTraceError(path, error.what, error.remedy) from error
    if _still_written(recording):
        raise TraceError(
            str(path), "its program still writes it.", "Wait until the program has ended."
        )
    found = find_symbols(recording)
    left: dict[str, int] = {}
    for module, offsets in nameless(recording).items():
        nameless_here = sum((module, offset) not in found for offset in offsets)
        if nameless_here:
            library = recording.strings[int(recording.modules[module, 0])]
            left[library] = left.get(library, 0) + nameless_here
    return NamedFunctions(found, left, len(recording.processor.symbols))


def _still_written(recording: Recording) -> bool:
    """A recording that was not ended, whose process runs on this machine."""
    if recording.complete or recording.meta.get("host") != platform.node():
        return False
    try:
        os.kill(recording.header.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
