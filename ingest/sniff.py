"""What a file holds, once everything it is packed into is peeled off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .detect import (
    HEAD_BYTES,
    LOOK_AHEAD_BYTES,
    READS,
    REPORTS,
    Content,
    Refusal,
    container_of,
    detect,
    undecided,
)
from .inflate import (
    Ending,
    ZstdMissingError,
    bzip2_pieces,
    gzip_pieces,
    xz_pieces,
    zstd_pieces,
)
from .raw_bytes import FileBytes, RawBytes, ZipMember

_PEEL: Final = {
    "gzip": gzip_pieces,
    "xz": xz_pieces,
    "bzip2": bzip2_pieces,
    "zstd": zstd_pieces,
}
_MOST_LAYERS: Final = 4
_GROWTH: Final = 8
_MOST_MEMBERS: Final = 64
_SHOWN_MEMBERS: Final = 8
_OFFICE: Final = "[Content_Types].xml"
"""A member of every workbook."""

_NO_ZSTD: Final = Refusal(
    "it is compressed with zstd, and no module that reads zstd is installed.",
    "Install one: pip install 'dctx[zstd]'. Or unpack the file: zstd -d {name}",
)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What was found, and how to get at it."""

    raw: RawBytes
    layers: tuple[str, ...]
    """Compressions around it, the outermost first."""
    head: bytes
    """The first inflated bytes, as many as it took to tell."""
    found: Content | Refusal
    """`Content.NSYS` stands for any SQLite database."""

    def pieces(self, ending: Ending) -> Iterator[bytes]:
        """The inflated bytes from the first one on."""
        return _peeled(self.raw, self.layers, ending)


def sniff(raw: RawBytes) -> Sniffed:
    """Look at the beginning. OSError when it cannot be read."""
    layers: tuple[str, ...] = ()
    while True:
        ending = Ending()
        beginning = _Beginning(_peeled(raw, layers, ending))
        try:
            head = beginning.grow(HEAD_BYTES)
            if not head and (ending.why or layers):
                return Sniffed(raw, layers, head, _nothing_inside(layers, ending))
            container = container_of(head)
            if container is None:
                found, head = _tell(beginning, head)
                return Sniffed(raw, layers, head, found)
        except ZstdMissingError:
            return Sniffed(raw, layers, b"", _NO_ZSTD)
        finally:
            beginning.close()
        if container == "zip":
            if isinstance(raw, FileBytes) and not layers:
                return _in_zip(raw)
            inside = Refusal("there is a zip archive inside.", "Unpack it, and open what it holds.")
            return Sniffed(raw, layers, head, inside)
        if len(layers) == _MOST_LAYERS:
            often = Refusal("it is compressed several times over.", "Unpack it first.")
            return Sniffed(raw, layers, head, often)
        layers = (*layers, container)


def _nothing_inside(layers: Sequence[str], ending: Ending) -> Refusal:
    if not ending.why:
        what = f"there is nothing inside the {layers[-1]} file: its recording was interrupted."
        return Refusal(what, "Record it again.")
    what = f"{ending.why}; nothing of the trace can be read."
    return Refusal(what, "Copy it again, or record it again.")


def _peeled(raw: RawBytes, layers: tuple[str, ...], ending: Ending) -> Iterator[bytes]:
    pieces = raw.pieces(ending)
    for layer in layers:
        pieces = _PEEL[layer](pieces, ending)
    return pieces


class _Beginning:
    """The first bytes of a stream, as many as asked for so far."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._head = bytearray()
        self.whole = False
        """Nothing follows."""

    def grow(self, size: int) -> bytes:
        while len(self._head) < size and not self.whole:
            piece = next(self._pieces, b"")
            self._head += piece
            self.whole = not piece
        return bytes(self._head)

    def close(self) -> None:
        close = getattr(self._pieces, "close", None)  # a generator holds its file open
        if close is not None:
            close()


def _tell(beginning: _Beginning, head: bytes) -> tuple[Content | Refusal, bytes]:
    found = detect(head, beginning.whole)
    while found is None and not beginning.whole and len(head) < LOOK_AHEAD_BYTES:
        head = beginning.grow(len(head) * _GROWTH)
        found = detect(head, beginning.whole)
    return found or undecided(head), head


def _in_zip(raw: FileBytes) -> Sniffed:
    """The one trace in a zip archive, or why there is not one."""
    from zipfile import BadZipFile, ZipFile

    def refused(what: str, remedy: str) -> Sniffed:
        return Sniffed(raw, (), b"", Refusal(what, remedy))

    try:
        with ZipFile(raw.path) as archive:
            infos = [info for info in archive.infolist() if _may_be_trace(info.filename)]
    except (BadZipFile, ValueError, NotImplementedError) as error:
        return refused(f"the zip archive is cut or damaged ({error}).", "Copy it again.")
    if any(info.flag_bits & 1 for info in infos):
        return refused("the zip archive is encrypted.", "Unpack it: unzip {name}")
    infos.sort(key=lambda info: -info.file_size)  # stable: the trace is among the large ones
    names = [info.filename for info in infos]
    looks = [sniff(ZipMember(raw.path, name)) for name in names[:_MOST_MEMBERS]]
    traces = [look for look in looks if isinstance(look.found, Content)]
    if len(traces) == 1:
        return traces[0]
    if not names:
        return refused("the zip archive is empty.", READS)
    if not traces and _OFFICE in names:
        return refused("this is a workbook, not a trace.", f"{REPORTS} {READS}")
    if len(names) == 1 and isinstance(looks[0].found, Refusal):
        found = looks[0].found
        return refused(f"the zip archive holds {names[0]}: {found.what}", found.remedy)
    shown = ", ".join(names[:_SHOWN_MEMBERS]) + (", …" if len(names) > _SHOWN_MEMBERS else "")
    holds = f"{len(traces)} traces" if traces else "no trace"
    return refused(
        f"the zip archive holds {holds} (members: {shown}).",
        "Unpack it and open one of them: unzip {name}" if traces else READS,
    )


def _may_be_trace(name: str) -> bool:
    return not name.endswith("/") and not Path(name).name.startswith((".", "__MACOSX"))
