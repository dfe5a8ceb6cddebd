"""PyTorch traces of any size: one trace repeated as text.

The times of each copy are shifted by the span of the trace and a millisecond, and a stride is added
to the ids that link events (correlation, External id, flow and wait ids share one), so that the
copies follow each other as one long recording. Metadata events and the recording's window are
written once.
"""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO

from dctx import demo_data
from dctx.demo_data.torch_ddp import FOLDER

from .generate import bench_dir

DEMO = Path(demo_data.__path__[0]) / FOLDER / "rank0.json.gz"
VERSION = 2
"""Part of the file name: a change of the generator makes new files."""
GAP_NS = 1_000_000

_LINKS = (
    b"External id",
    b"external id",
    b"correlation",
    b"id",
    b"wait_on_cuda_event_record_corr_id",
    b"wait_on_cuda_event_id",
)
_PYTHON = (b"Python id", b"Python parent id")
_INDEX = (b"Ev Idx", b"Profiler Event Index")
_SEQUENCE = (b"Sequence number",)
_STRIDED = (_LINKS, _PYTHON, _INDEX, _SEQUENCE)
_KIND = {key: kind for kind, keys in enumerate(_STRIDED, 1) for key in keys}
"""Numbers that a stride is added to, one for all ids of a kind."""
_NUMBER = re.compile(rb'"(' + b"|".join((b"ts", *_KIND)) + rb')"\s*:\s*(-?\d+(?:\.\d+)?)')
_ONCE = re.compile(rb'"ph"\s*:\s*"M"|"cat"\s*:\s*"Trace"')
_DURATION = re.compile(rb'"dur"\s*:\s*(\d+(?:\.\d+)?)')


def _to_ns(text: bytes) -> int:
    whole, _, fraction = text.partition(b".")
    return int(whole) * 1000 + int((fraction + b"000")[:3])


def _event_texts(text: str, start: int) -> Iterator[bytes]:
    """The texts of the array elements from `start` on, which is behind the bracket."""
    decode = json.JSONDecoder().raw_decode
    blanks = re.compile(r"[\s,]*")
    at = start
    while True:
        match = blanks.match(text, at)
        at = match.end() if match else at
        if text[at] == "]":
            return
        _, end = decode(text, at)
        yield text[at:end].encode()
        at = end


@dataclass
class _Templates:
    """Events as constant text around numbers. `kinds`: 0 time, else an index of `strides`."""

    texts: list[bytes] = field(default_factory=list[bytes])
    kinds: list[int] = field(default_factory=list[int])
    values: list[int] = field(default_factory=list[int])
    whole_us: list[bool] = field(default_factory=list[bool])
    events: int = 0

    def add(self, event: bytes) -> None:
        at = 0
        for match in _NUMBER.finditer(event):
            key, number = match.groups()
            if key != b"ts" and b"." in number:
                continue
            kind = _KIND.get(key, 0)
            self.texts.append(event[at : match.start(2)])
            self.kinds.append(kind)
            self.values.append(_to_ns(number) if kind == 0 else int(number))
            self.whole_us.append(b"." not in number)
            at = match.end(2)
        # A number in front of each text: the one that ends an event has none.
        self.texts.append(event[at:] + b",\n  ")
        self.kinds.append(-1)
        self.values.append(0)
        self.whole_us.append(True)
        self.events += 1

    def copy(self, shifts: list[int]) -> bytes:
        """All events with `shifts[kind]` added to their numbers."""
        out: list[bytes] = []
        for text, kind, value, whole in zip(
            self.texts, self.kinds, self.values, self.whole_us, strict=True
        ):
            out.append(text)
            if kind == 0:
                ns = value + shifts[0]
                number = f"{ns // 1000}" if whole else f"{ns // 1000}.{ns % 1000:03d}"
                out.append(number.encode())
            elif kind > 0:
                out.append(str(value + shifts[kind]).encode())
        return b"".join(out)


def repeat(source: Path, target: Path, size: int) -> int:
    """Write `source` (JSON, gzip or plain) again and again, up to `size` bytes; returns the events.

    The source must be sound JSON, an object with `traceEvents`."""
    raw = source.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    match = re.search(r'"traceEvents"\s*:\s*\[', text)
    if match is None:
        raise ValueError(f"{source} has no traceEvents")
    once: list[bytes] = []
    repeated = _Templates()
    first, last = 1 << 62, 0
    for event in _event_texts(text, match.end()):
        if _ONCE.search(event):
            once.append(event)
            continue
        repeated.add(event)
        for key, number in _NUMBER.findall(event):
            if key == b"ts":
                begin = _to_ns(number)
                duration = _DURATION.search(event)
                first = min(first, begin)
                last = max(last, begin + (_to_ns(duration.group(1)) if duration else 0))
    span = (last - first + GAP_NS + 999) // 1000 * 1000
    strides = [span] + [
        1
        + max(
            (v for v, k in zip(repeated.values, repeated.kinds, strict=True) if k == kind),
            default=0,
        )
        for kind in range(1, len(_STRIDED) + 1)
    ]
    with target.open("wb") as out:
        return _write(out, text[: match.end()].encode(), once, repeated, strides, size)


def _write(
    out: BinaryIO,
    head: bytes,
    once: list[bytes],
    repeated: _Templates,
    strides: list[int],
    size: int,
) -> int:
    written = out.write(head + b"\n  ")
    events = len(once)
    k = 0
    while written < size:
        written += out.write(repeated.copy([k * stride for stride in strides]))
        events += repeated.events
        k += 1
    out.write(b",\n  ".join(once) if once else b"{}")
    out.write(b"\n  ]\n}\n")
    return events


def packed(path: Path) -> Path:
    """The same file gzipped, kept between runs."""
    target = path.with_name(f"{path.name}.gz")
    if not target.exists():
        partial = target.with_suffix(".partial")
        with path.open("rb") as source, gzip.open(partial, "wb", compresslevel=6) as out:
            shutil.copyfileobj(source, out, 1 << 20)
        partial.rename(target)
    return target


def trace(size: int, source: Path | None = None) -> Path:
    """A trace of about `size` bytes, kept between runs: `source` (a rank of the demo) repeated."""
    source = DEMO if source is None else source
    bench_dir().mkdir(parents=True, exist_ok=True)
    name = source.name.removesuffix(".gz").removesuffix(".json")
    path = bench_dir() / f"kineto-{VERSION}-{name}-{size // 1_000_000}MB.json"
    if path.exists():
        return path
    partial = path.with_suffix(".partial")
    # In a process of its own: what this one has in use counts as memory of the programs that it
    # measures afterwards.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(repeat, source, partial, size).result()
    partial.rename(path)
    return path
