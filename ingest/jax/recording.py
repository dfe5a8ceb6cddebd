"""One decoded recording: its columns, and what its planes say about themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...native import StringPool, read_xspace
from ..arrays import I32, I64, NULL64, Mask

NUMBERS: Final = (
    "correlation_id",
    "program_id",
    "step_num",
    "addr",
    "allocation_bytes",
    "bytes_allocated",
    # Links between threads and ids of single runs: of no use as text.
    "run_id",
    "device_ordinal",
    "device_id",
    "_r",
    "_p",
    "_pt",
    "_c",
    "_ct",
)
TEXTS: Final = (
    "hlo_op",
    "hlo_module",
    "name",
    "kernel_details",
    "memcpy_details",
    "memset_details",
    "allocator_name",
    "_src",
)
MODULE_PLANE: Final = "/host:metadata"
HOST_PLANE: Final = "/host:CPU"
DEVICE_PREFIX: Final = "/device:"


@dataclass(frozen=True, slots=True)
class Blob:
    """A compiled module inside a recording."""

    name: str
    """As recorded: `jit_train_step(30)`."""
    key: int
    program: int
    """NULL64 where it is not told."""
    data: memoryview


@dataclass(slots=True)
class Faults:
    """What could not be read as it is."""

    damage: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    """(plane, byte offset, reason) of each place where reading stopped."""
    told: list[str] = field(default_factory=list[str])
    """Errors and warnings of the profiler itself."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Events by reason."""
    negative_dur: int = 0


@dataclass(slots=True)
class Recording:
    """The columns of one file: planes have lines, lines have events."""

    pool: StringPool
    planes: list[str]
    stats: list[dict[str, int | float | str]]
    """What each plane says about itself."""
    line_plane: I32
    line_name: list[str]
    """The name a viewer shows."""
    line: I32
    """Line of each event."""
    name: I32
    """Name of each event as recorded, a text of the pool."""
    start: I64
    end: I64
    instant: Mask
    numbers: Mapping[str, I64 | None]
    texts: Mapping[str, I32 | None]
    rest: I32
    """The statistics that have no column, as JSON of the pool, -1 where there are none."""
    faults: Faults
    blobs: list[Blob] = field(default_factory=list[Blob])
    hostnames: list[str] = field(default_factory=list[str])
    is_export: bool = False
    """The JSON that viewers read: no modules, no ids of programs."""

    def __len__(self) -> int:
        return len(self.line)

    def number(self, name: str) -> I64:
        """A statistic of the events, NULL64 where there is none."""
        found = self.numbers.get(name)
        return np.full(len(self), NULL64) if found is None else found

    def text(self, name: str) -> I32:
        """A statistic of the events as text of the pool, -1 where there is none."""
        found = self.texts.get(name)
        return np.full(len(self), -1, np.int32) if found is None else found

    def events_of(self, lines: list[int]) -> I64:
        """Rows of the events of these lines."""
        wanted = np.zeros(len(self.line_plane), np.bool_)
        wanted[lines] = True
        return np.flatnonzero(wanted[self.line])

    def used_lines(self, plane: int) -> list[int]:
        """Lines of a plane that have events."""
        count = np.bincount(self.line, minlength=len(self.line_plane))
        return np.flatnonzero((self.line_plane == plane) & (count > 0)).tolist()

    def shift(self, ns: int) -> None:
        """Move all events by `ns`."""
        if ns:
            self.start, self.end = self.start + ns, self.end + ns

    def stat(self, plane: str, name: str) -> int | float | str | None:
        """What a plane says about itself; None when it does not."""
        for known, stats in zip(self.planes, self.stats, strict=True):
            if known == plane and name in stats:
                return stats[name]
        return None


def decode(data: bytes, pool: StringPool) -> Recording:
    """Decode a whole XSpace message. Never fails: see Recording.faults."""
    space = read_xspace(data, numbers=NUMBERS, texts=TEXTS, pool=pool)
    events, lines, metadata = space.events(), space.lines(), space.metadata()
    lost = pool.intern("(no name)")
    names = np.append(np.where(metadata["name"] < 0, lost, metadata["name"]), lost)
    stats: list[dict[str, int | float | str]] = [{} for _ in space.planes]
    for plane, name, value in space.plane_stats:
        stats[plane][name] = value
    shown = np.where(lines["display"] >= 0, lines["display"], lines["name"])
    rest = space.rest()
    told = space.number("program_id", of="metadata")
    faults = Faults(
        damage=space.damage,
        told=[f"Error of the profiler: {text}" for text in space.errors]
        + [f"Warning of the profiler: {text}" for text in space.warnings],
        left_out={"count_without_time": space.aggregated, "impossible_time": space.bad_time},
        negative_dur=space.negative_dur,
    )
    return Recording(
        pool=pool,
        planes=[name for _, name in space.planes],
        stats=stats,
        line_plane=lines["plane"],
        line_name=["(no name)" if row < 0 else pool[row] for row in shown.tolist()],
        line=events["line"],
        name=names[events["metadata"]].astype(np.int32),
        start=events["start_ns"],
        end=events["start_ns"] + events["dur_ns"],
        instant=events["instant"].view(np.bool_),
        numbers={name: space.number(name) for name in NUMBERS},
        texts={name: space.text(name) for name in TEXTS},
        rest=np.full(len(events["line"]), -1, np.int32) if rest is None else rest,
        faults=faults,
        blobs=[
            Blob(
                pool[int(names[row])],
                int(metadata["id"][row]),
                NULL64 if told is None else int(told[row]),
                memoryview(data)[offset : offset + length],
            )
            for row, name, offset, length in space.blobs
            if name.lower().replace("_", " ") == "hlo proto"
        ],
        hostnames=space.hostnames,
    )
