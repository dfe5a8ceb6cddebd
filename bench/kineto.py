"""PyTorch traces of any size: a small one as text, and one trace repeated as text.

Repeating shifts the times of each copy by the span of the trace and a millisecond, and adds a
stride to the ids that link events (correlation, External id, flow and wait ids share one), so that
the copies follow each other as one long recording. Metadata events and the recording's window are
written once.
"""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from .generate import bench_dir

VERSION = 1
"""Part of the file name: a change of the generator makes new files."""
GAP_NS = 1_000_000
BASE_NS = 1_775_078_550_000_000_000

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
_NUMBER = re.compile(
    rb'"(' + b"|".join((b"ts", *_LINKS, *_PYTHON, *_INDEX)) + rb')"\s*:\s*(-?\d+(?:\.\d+)?)'
)
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
            kind = 0 if key == b"ts" else 2 if key in _PYTHON else 3 if key in _INDEX else 1
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
        for kind in (1, 2, 3)
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


def small(steps: int = 40, layers: int = 12) -> bytes:
    """A trace of training steps in the layout of the C++ writer: Python frames, operators with
    shapes, launches, kernels and flows."""
    events: list[str] = []
    ids = {"ext": 0, "corr": 1000, "py": 0, "idx": 0}

    def next_id(name: str) -> int:
        ids[name] += 1
        return ids[name]

    def emit(
        ph: str, cat: str, name: str, pid: int, tid: int, ts: int, dur: int, args: str
    ) -> None:
        events.append(
            f'  {{\n    "ph": "{ph}", "cat": "{cat}", "name": "{name}",'
            f' "pid": {pid}, "tid": {tid},\n'
            f'    "ts": {ts // 1000}.{ts % 1000:03d}, "dur": {dur // 1000}.{dur % 1000:03d},\n'
            f'    "args": {{\n      {args}\n    }}\n  }}'
        )

    def flow(ph: str, corr: int, pid: int, tid: int, ts: int) -> None:
        bound = ', "bp": "e"' if ph == "f" else ""
        events.append(
            f'  {{\n    "ph": "{ph}", "id": {corr}, "pid": {pid}, "tid": {tid},'
            f' "ts": {ts // 1000}.{ts % 1000:03d},\n'
            f'    "cat": "ac2g", "name": "ac2g"{bound}\n  }}'
        )

    now = 7_000_000_123
    for step in range(steps):
        begin = now
        root = next_id("py")
        for layer in range(layers):
            frame, start = next_id("py"), now
            for op in ("aten::linear", "aten::addmm", "aten::layer_norm", "aten::gelu"):
                ext, corr = next_id("ext"), next_id("corr")
                call = next_id("py")
                emit(
                    "X",
                    "cpu_op",
                    op,
                    4242,
                    4242,
                    now + 900,
                    21_345,
                    f'"External id": {ext}, "Sequence number": {ext + 17}, "Fwd thread id": 0,'
                    f' "Record function id": {ext}, "Ev Idx": {next_id("idx")},'
                    f' "Input Dims": [[{layer + 1}, 1024, 768], [768, 768], [768]],'
                    ' "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]',
                )
                emit(
                    "X",
                    "cuda_runtime",
                    "cudaLaunchKernel",
                    4242,
                    4242,
                    now + 5_210,
                    6_780,
                    f'"External id": {ext}, "cbid": 211, "correlation": {corr}',
                )
                flow("s", corr, 4242, 4242, now + 5_210)
                emit(
                    "X",
                    "kernel",
                    f"void at::native::vectorized_{op[6:]}_kernel<4, float>(int, float)",
                    0,
                    7,
                    now + 19_000,
                    14_143,
                    f'"External id": {ext}, "queued": 0, "device": 0, "context": 1, "stream": 7,'
                    f' "correlation": {corr}, "registers per thread": 34, "shared memory": 24,'
                    ' "blocks per SM": 4.740741, "warps per SM": 75.851852,'
                    f' "grid": [{layer + 1}, 128, 1], "block": [128, 1, 1],'
                    ' "est. achieved occupancy %": 75',
                )
                flow("f", corr, 0, 7, now + 19_000)
                emit(
                    "X",
                    "python_function",
                    f"torch/nn/functional.py({op[6:]}): forward",
                    4242,
                    4242,
                    now,
                    23_000,
                    f'"Python id": {call}, "Python parent id": {frame}, "Ev Idx": {next_id("idx")}',
                )
                now += 24_000
            emit(
                "X",
                "python_function",
                f"nn.Module: Block_{layer}",
                4242,
                4242,
                start,
                now - start,
                f'"Python id": {frame}, "Python parent id": {root}, "Python module id": {layer},'
                f' "Ev Idx": {next_id("idx")}',
            )
        emit(
            "X",
            "user_annotation",
            f"ProfilerStep#{step}",
            4242,
            4242,
            begin,
            now - begin,
            f'"External id": {next_id("ext")}, "Ev Idx": {next_id("idx")}',
        )
        now += 50_000
    for name, args in (("process_name", '"name": "python"'), ("thread_name", '"name": "main"')):
        events.append(
            f'  {{\n    "name": "{name}", "ph": "M", "ts": 7000000.0, "pid": 4242, "tid": 4242,\n'
            f'    "args": {{\n      {args}\n    }}\n  }}'
        )
    return (
        '{\n  "schemaVersion": 1,\n  "deviceProperties": [],\n  "displayTimeUnit": "ms",\n'
        f'  "baseTimeNanoseconds": {BASE_NS},\n  "traceEvents": [\n'
        + ",\n".join(events)
        + "\n  ]\n}\n"
    ).encode()


def trace(size: int, source: Path | None = None) -> Path:
    """A trace of about `size` bytes, kept between runs: `source` repeated, or our own."""
    bench_dir().mkdir(parents=True, exist_ok=True)
    name = source.name.removesuffix(".gz").removesuffix(".json") if source else "small"
    path = bench_dir() / f"kineto-{VERSION}-{name}-{size // 1_000_000}MB.json"
    if path.exists():
        return path
    if source is None:
        source = bench_dir() / f"kineto-{VERSION}-small.json"
        source.write_bytes(small())
    partial = path.with_suffix(".partial")
    repeat(source, partial, size)
    partial.rename(path)
    return path
