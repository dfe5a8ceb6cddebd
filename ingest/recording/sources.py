"""Generated code in a recording: the chunks SRC and LMAP."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..generated import GeneratedFile, GeneratedLine
from .table import Table


@dataclass(slots=True)
class SourceRows:
    """Of one process."""

    paths: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    lines: dict[int, list[GeneratedLine]] = field(default_factory=dict[int, list[GeneratedLine]])
    """By file."""

    def take_files(self, table: Table) -> None:
        """Further ones."""
        self.paths += table.texts(0)
        self.texts += table.texts(1)

    def take_lines(self, table: Table) -> bool:
        """Further ones; False when a row's file is not there."""
        files: list[int] = table.integers(0).tolist()
        rows = zip(files, table.integers(1).tolist(), table.texts(2), table.texts(3), strict=True)
        for file, line, nodes, operators in rows:
            self.lines.setdefault(file, []).append(GeneratedLine(line, nodes, operators))
        return all(0 <= file < len(self.paths) for file in files)

    def files(self) -> list[GeneratedFile]:
        """All of them."""
        return [
            GeneratedFile(path, text, tuple(self.lines.get(number, ())))
            for number, (path, text) in enumerate(zip(self.paths, self.texts, strict=True))
        ]
