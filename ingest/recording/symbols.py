"""Names of native functions that a recording does not tell, from libraries of this machine."""

from __future__ import annotations

from ...native import module_symbols
from .content import Recording
from .kinds import MODULE_SHIFT, Kind


def nameless(recording: Recording) -> dict[int, list[int]]:
    """By module the offsets of native nodes and samples whose function is not known."""
    places: set[tuple[int, int]] = set()
    for thread in recording.threads.values():
        labels = set(thread.label[thread.kind == Kind.NATIVE].tolist())
        places |= {(label >> MODULE_SHIFT, label & ((1 << MODULE_SHIFT) - 1)) for label in labels}
    for rows in recording.processor.samples.values():
        places |= {(module, offset) for _, module, offset, _ in rows.tolist() if module >= 0}
    found: dict[int, list[int]] = {}
    for module, offset in sorted(places - recording.processor.symbols.keys()):
        found.setdefault(module, []).append(offset)
    return found


def find_symbols(recording: Recording) -> dict[tuple[int, int], str]:
    """Names that are not known yet, from the files of the libraries where these have the build id
    of those that were loaded. A library without one is passed over: it may have changed."""
    found: dict[tuple[int, int], str] = {}
    for module, offsets in nameless(recording).items():
        path, build_id = (recording.strings[int(text)] for text in recording.modules[module])
        symbols = module_symbols(path, build_id, offsets) if build_id else None
        for offset, (_, name) in zip(offsets, symbols or [], strict=False):
            if name:
                found[module, offset] = name
    return found
