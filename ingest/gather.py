"""Opens the files of a trace and agrees on what they are together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from .csv_head import unread_tables
from .detect import READS, Content
from .errors import NotATraceError, TraceError
from .inputs import Source
from .model import Severity
from .nsys import as_export
from .progress import BytesRead, Done, Progress, part_of
from .ranks import rank_in_name, unread_ranks
from .raw_bytes import is_standard_input
from .selection import Selection
from .writer import StoreWriter

_SHOWN: Final = 4
_STAGE: Final = "Looking at the files"
_UNPACKING_SHARE: Final = 0.3
"""Of the whole, where a database is compressed."""

_ROCPROF: Final = (Content.ROCPD, Content.ROCPROFV3)

Note = tuple[Severity, str, str]


class Format(Protocol):
    """What a format module offers. It is light to import: `load` brings the rest."""

    @property
    def READS(self) -> frozenset[Content]: ...  # noqa: N802
    @property
    def SEVERAL(self) -> bool:  # noqa: N802
        """Several files, of the ranks of one run, make one trace."""
        ...

    def load(
        self,
        sources: Sequence[Source],
        writer: StoreWriter,
        progress: Progress,
        salvage: bool = False,
    ) -> None:
        """Fill the store. TraceError when that cannot be; CancelledError from `progress`."""
        ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """The parts of a trace, open."""

    sources: tuple[Source, ...]
    format: Format
    progress: Progress
    """For the rest of the work."""
    notes: list[Note] = field(default_factory=list[Note])


class _Unpacking:
    """Progress where files may have to be unpacked before they are read."""

    def __init__(self, progress: Progress, files: Sequence[Path]) -> None:
        self._progress = progress
        self._share = 0.0
        self._sizes = [_size_of(path) for path in files] if len(files) > 1 else [1]
        self._begun = 0
        self._first, self._last = 0.0, 0.0

    def next(self) -> None:
        """The next file is looked at. May raise CancelledError."""
        whole = sum(self._sizes) or 1
        self._first = sum(self._sizes[: self._begun]) / whole
        self._begun += 1
        self._last = sum(self._sizes[: self._begun]) / whole
        if len(self._sizes) > 1:
            self._progress(_STAGE, self._first * self._share)

    def tell(self, done: Done) -> None:
        """While it is unpacked."""
        self._share = _UNPACKING_SHARE
        first, last = self._first * self._share, self._last * self._share
        self._progress("Unpacking", part_of(done, first, last))

    def rest(self, stage: str, done: Done) -> None:
        """Of what comes after that, if anything was unpacked."""
        self._progress(stage, part_of(done, self._share, 1.0))


def gather(
    selection: Selection,
    stack: ExitStack,
    format_of: Callable[[Source], Format],
    progress: Progress,
    *,
    cache: bool,
) -> Gathered:
    """Open the files; `stack` closes them. TraceError when they make no trace."""
    if selection.one:
        [path] = selection.files
        readable, later = stack.enter_context(as_export(path, progress, cache=cache))
        export = readable if readable != path else None
        unpacking = _Unpacking(later, (path,))
        unpacking.next()
        if is_standard_input(path):
            progress("Waiting for the standard input", BytesRead(0))
        source = Source(path, export=export, tell=unpacking.tell)
        stack.callback(source.close)
        source.rank = rank_in_name(path)
        return Gathered((source,), format_of(source), unpacking.rest, _sibling_note(source))
    notes: list[Note] = []
    unpacking = _Unpacking(progress, selection.files)
    if selection.folder is not None:
        sources, notes = _in_folder(selection, selection.folder, stack, unpacking)
    else:
        sources = _opened(selection.files, stack, unpacking, None)
        _label(sources, Path(os.path.commonpath([source.path.parent for source in sources])))
    where = selection.path
    return Gathered(tuple(sources), _agreed(where, sources, format_of), unpacking.rest, notes)


def _size_of(path: Path) -> int:
    """0 where the system does not tell: whoever opens it says why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _opened(
    files: Sequence[Path],
    stack: ExitStack,
    unpacking: _Unpacking,
    refused: list[NotATraceError] | None,
) -> list[Source]:
    """The files opened; those that are no traces go to `refused`, if it is given."""
    sources: list[Source] = []
    for path in files:
        unpacking.next()
        try:
            source = Source(path, tell=unpacking.tell)
        except NotATraceError as error:
            if refused is None:
                raise
            refused.append(error)
        else:
            stack.callback(source.close)
            sources.append(source)
    return sources


def _in_folder(
    selection: Selection, folder: Path, stack: ExitStack, unpacking: _Unpacking
) -> tuple[list[Source], list[Note]]:
    """The traces nearest to the folder, and what to tell about the other files beside them."""
    refused: list[NotATraceError] = []
    by_depth: dict[int, list[Path]] = {}
    for path in selection.files:
        by_depth.setdefault(len(path.parts), []).append(path)
    for files in by_depth.values():
        beside: list[NotATraceError] = []
        sources = _opened(files, stack, unpacking, beside)
        refused += beside
        if sources:
            _label(sources, folder)
            sources, notes = _without_twins(_without_merged(sources, beside))
            unread, others = unread_ranks(beside, folder)
            tables, others = unread_tables(others)
            notes += unread + tables
            if others:
                text = f"Passed over: {_listed([Path(e.path).name for e in others])}."
                notes.append((Severity.INFO, "import", text))
            return sources, notes
    first = refused[0]
    what = f"there is no trace in this folder; {Path(first.path).name}: {first.what}"
    if len(refused) > 1:
        what = (
            f"there is no trace among the {len(refused)} files of this folder; "
            f"{Path(first.path).name}: {first.what}"
        )
    raise NotATraceError(folder, what, READS)


def _label(sources: Sequence[Source], below: Path) -> None:
    """Names that tell the files apart, and the ranks these tell."""
    names = Counter(source.path.name for source in sources)
    for source in sources:
        source.rank = rank_in_name(source.path, below)
        if names[source.path.name] > 1:
            source.label = os.path.relpath(source.path, below)


def _without_merged(sources: list[Source], refused: list[NotATraceError]) -> list[Source]:
    """Without what SGLang merged from the traces of the ranks, when these are there too."""
    kept: list[Source] = []
    for source in sources:
        of = source.path.name.removeprefix("merged-").partition(".trace.json")[0]
        if source.path.name.startswith("merged-") and any(
            other.path.name.startswith(f"{of}-") for other in sources
        ):
            refused.append(NotATraceError(source.path, "merged from the others.", ""))
        else:
            kept.append(source)
    return kept


def _without_twins(sources: list[Source]) -> tuple[list[Source], list[Note]]:
    """Without the JSON exports of a JAX recording that is there as XSpace, and the tables of one of
    rocprofv3 that is there as a whole."""
    places = {source.path.parent for source in sources if source.content is Content.XPLANE}
    twins = [s for s in sources if s.path.parent in places and s.content is not Content.XPLANE]
    text = f"{_listed([t.label for t in twins])}: the same recording as the .xplane.pb, not read."
    if not places:
        whole = {s.path.parent: s.label for s in sources if s.content in _ROCPROF}
        tables = [s for s in sources if s.content is Content.ROCPROF_CSV]
        twins = [s for s in tables if s.path.parent in whole]
        text = (
            f"{_listed([t.label for t in twins])}: taken to be of the same run as "
            f"{_listed([*whole.values()])}, not read. For samples of instructions that only they "
            "have, name them alone."
        )
    if not twins:
        return sources, []
    return [s for s in sources if s not in twins], [(Severity.INFO, "import", text)]


def _sibling_note(source: Source) -> list[Note]:
    """A JAX export beside a recording that holds more."""
    if source.content is not Content.JAX_TRACE:
        return []
    better = source.path.with_name(source.path.name.partition(".trace.json")[0] + ".xplane.pb")
    if better == source.path or not better.exists():
        return []
    text = f"{better.name} beside it is the same recording and holds more: open that."
    return [(Severity.INFO, "import", text)]


def _agreed(
    where: Path, sources: Sequence[Source], format_of: Callable[[Source], Format]
) -> Format:
    """The module that reads them all. TraceError when there is none."""
    groups: dict[frozenset[Content], list[Source]] = {}
    for source in sources:
        groups.setdefault(format_of(source).READS, []).append(source)
    if len(groups) > 1:
        kinds = "; ".join(
            f"{members[0].content}: {_listed([s.label for s in members])}"
            for members in groups.values()
        )
        what = f"these are traces of several kinds ({kinds})."
        raise TraceError(where, what, "Name the files of one of them.")
    kind = format_of(sources[0])
    if len(sources) > 1:
        runs = {source.path.parent for source in sources if source.content is Content.XPLANE}
        if len(runs) > 1:
            what = f"there are several recordings ({_listed(sorted(map(str, runs)))})."
            raise TraceError(where, what, "Name the folder of one of them.")
        if not kind.SEVERAL:
            what = (
                f"there are {len(sources)} {sources[0].content} traces "
                f"({_listed([source.label for source in sources])}), which do not make one."
            )
            raise TraceError(where, what, "Name one of them.")
    return kind


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
