"""Writes XSpace messages (`xplane.pb`) and the HLO modules inside them, field by field."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field_number: int, value: int) -> bytes:
    return varint(field_number << 3) + varint(value)


def packed(field_number: int, values: Sequence[int]) -> bytes:
    return blob(field_number, b"".join(map(varint, values)))


def blob(field_number: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field_number << 3 | 2) + varint(len(raw)) + raw


@dataclass(frozen=True)
class Ref:
    """A text kept as the name of another statistic."""

    text: str


@dataclass(frozen=True)
class Unsigned:
    value: int


Stat = int | float | str | bytes | Ref | Unsigned


@dataclass
class Plane:
    """A plane under construction: lines first, their names behind them, as writers do it."""

    name: str
    key: int = 0
    lines: list[bytes] = field(default_factory=list[bytes])
    metadata: dict[tuple[str, str], tuple[int, bytes]] = field(
        default_factory=dict[tuple[str, str], tuple[int, bytes]]
    )
    stat_ids: dict[str, int] = field(default_factory=dict[str, int])
    stats: bytes = b""

    def stat_id(self, name: str) -> int:
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def stat(self, field_number: int, name: str, value: Stat) -> bytes:
        out = number(1, self.stat_id(name))
        match value:
            case Ref(text):
                out += number(7, self.stat_id(text))
            case Unsigned(whole):
                out += number(3, whole)
            case float():
                out += varint(2 << 3 | 1) + struct.pack("<d", value)
            case int():
                out += number(4, value)
            case str():
                out += blob(5, value)
            case bytes():
                out += blob(6, value)
        return blob(field_number, out)

    def event_metadata(self, name: str, display: str = "", /, **stats: Stat) -> int:
        known = self.metadata.get((name, display))
        if known is None:
            key = len(self.metadata) + 1
            value = number(1, key) + blob(2, name) + (blob(4, display) if display else b"")
            value += b"".join(self.stat(5, k, v) for k, v in stats.items())
            known = self.metadata[name, display] = (key, value)
        return known[0]

    def event(self, name: str, start_ps: int, dur_ps: int | None = None, /, **stats: Stat) -> bytes:
        out = number(1, self.event_metadata(name)) + number(2, start_ps)
        if dur_ps is not None:
            out += number(3, dur_ps)
        return blob(4, out + b"".join(self.stat(4, k, v) for k, v in stats.items()))

    def line(
        self, name: str, timestamp_ns: int, *events: bytes, key: int = 1, display: str = ""
    ) -> None:
        out = number(1, key) + blob(2, name) + number(3, timestamp_ns) + b"".join(events)
        self.lines.append(out + (blob(11, display) if display else b""))

    def plane_stats(self, **stats: Stat) -> None:
        self.stats += b"".join(self.stat(6, k, v) for k, v in stats.items())

    def bytes(self) -> bytes:
        out = number(1, self.key) + blob(2, self.name)
        out += b"".join(blob(3, line) for line in self.lines)
        for key, value in self.metadata.values():
            out += blob(4, number(1, key) + blob(2, value))
        for name, key in self.stat_ids.items():
            out += blob(5, number(1, key) + blob(2, number(1, key) + blob(2, name)))
        return out + self.stats


def space(*planes: Plane, hostname: str = "host0") -> bytes:
    return b"".join(blob(1, plane.bytes()) for plane in planes) + blob(4, hostname)


# ---------------------------------------------------------------- HLO modules --


@dataclass
class Stacks:
    """The stack index of a module; ids start at 1."""

    files: list[str] = field(default_factory=list[str])
    functions: list[str] = field(default_factory=list[str])
    locations: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    frames: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def frame(self, file: str, function: str, line: int, parent: int = 0) -> int:
        ids: list[int] = []
        for text, texts in ((file, self.files), (function, self.functions)):
            if text not in texts:
                texts.append(text)
            ids.append(texts.index(text) + 1)
        self.locations.append((ids[0], ids[1], line))
        self.frames.append((len(self.locations), parent))
        return len(self.frames)

    def path(self, *frames: tuple[str, str, int]) -> int:
        """The id of the innermost of these frames, the outermost first."""
        parent = 0
        for frame in frames:
            parent = self.frame(*frame, parent=parent)
        return parent

    def bytes(self) -> bytes:
        out = b"".join(blob(1, text) for text in self.files)
        out += b"".join(blob(2, text) for text in self.functions)
        for where in self.locations:
            out += blob(3, b"".join(number(i + 1, value) for i, value in enumerate(where)))
        for frame in self.frames:
            out += blob(4, b"".join(number(i + 1, value) for i, value in enumerate(frame)))
        return out


def instruction(
    name: str,
    opcode: str,
    op_name: str = "",
    *,
    source: tuple[str, int] | None = None,
    stack: int = 0,
    calls: Sequence[int] = (),
    pack: bool = True,
) -> bytes:
    metadata = blob(2, op_name) if op_name else b""
    if source is not None:
        metadata += blob(3, source[0]) + number(4, source[1])
    if stack:
        metadata += number(15, stack)
    out = blob(1, name) + blob(2, opcode) + blob(7, metadata)
    if pack:
        return out + (packed(38, calls) if calls else b"")
    return out + b"".join(number(38, call) for call in calls)


def computation(key: int, name: str, *instructions: bytes) -> bytes:
    return blob(1, name) + b"".join(blob(2, item) for item in instructions) + number(5, key)


def hlo_proto(name: str, *computations: bytes, key: int = 0, stacks: Stacks | None = None) -> bytes:
    module = blob(1, name) + b"".join(blob(3, item) for item in computations)
    if key:
        module += number(5, key)
    return blob(1, module + (blob(17, stacks.bytes()) if stacks is not None else b""))
