"""Code that was generated while a program ran, kept with the trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..native import StringPool
from .writer import StoreWriter


@dataclass(frozen=True, slots=True)
class GeneratedLine:
    """What a line was made from."""

    line: int
    nodes: str
    operators: str


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file, by the name that frames have."""

    path: str
    text: str
    """Empty where it is not kept."""
    lines: tuple[GeneratedLine, ...]


def write_generated(writer: StoreWriter, files: Iterable[GeneratedFile], pool: StringPool) -> None:
    """Fill `source_file` and `source_origin`; of several files of one name the first counts."""
    by_path: dict[str, GeneratedFile] = {}
    for file in files:
        by_path.setdefault(file.path, file)
    kept = [file for file in by_path.values() if file.text]
    writer.insert_lists(
        "source_file",
        {
            "file": [pool.intern(file.path) for file in kept],
            "text": [pool.intern(file.text) for file in kept],
        },
    )
    rows = [(file, line) for file in by_path.values() for line in file.lines]
    writer.insert_lists(
        "source_origin",
        {
            "file": [pool.intern(file.path) for file, _ in rows],
            "line": [line.line for _, line in rows],
            "nodes": [pool.intern(line.nodes) for _, line in rows],
            "operators": [pool.intern(line.operators) for _, line in rows],
        },
    )
