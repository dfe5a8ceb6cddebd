"""Where the sources that a trace names are on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Folders (or files) of the machine that was traced, and what they are called here."""

    pairs: tuple[tuple[str, str], ...] = ()

    def local(self, file: str) -> str:
        """The file's name here: the longest of the mapped folders that it lies in is replaced."""
        best = max(
            (pair for pair in self.pairs if _inside(file, pair[0])),
            key=lambda pair: len(pair[0]),
            default=None,
        )
        if best is None:
            return file
        rest = file[len(best[0].rstrip("/")) :].lstrip("/")
        return f"{best[1].rstrip('/') or '/'}/{rest}".replace("//", "/") if rest else best[1]


def source_map(texts: tuple[str, ...]) -> SourceMap:
    """From `THERE=HERE` texts; ValueError that says which is none."""
    pairs: list[tuple[str, str]] = []
    for text in texts:
        there, sign, here = text.partition("=")
        if not (sign and there and here):
            raise ValueError(f"{text!r} is not THERE=HERE, such as /workspace=/home/me/src.")
        pairs.append((there, here))
    return SourceMap(tuple(pairs))


def not_here(file: str, local: str) -> str:
    """A sentence about a source file that is not found, with the remedy."""
    folder, slash, _ = file.rpartition("/")
    option = f"{folder or slash}=FOLDER" if slash else f"{file}=FILE"
    as_here = "" if local == file else f" ({file} in the trace)"
    return (
        f"{local} is not on this machine{as_here}. Start with --source-map {quote(option)} where "
        "its sources are here."
    )


def _inside(file: str, folder: str) -> bool:
    bare = folder.rstrip("/")
    return file == bare or file.startswith(bare + "/")
