"""One decoded recording: its columns, and what its planes say about themselves."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...native import StringPool, XSpace, read_xspace
from ..arrays import I32, I64, NULL64, U8, Mask

_NUMBERS: Final = (
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
_TEXTS: Final = (
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


@dataclass(slots=True)
class Recording:
    """The columns of one file. Rows of events, lines and metadata as in XSpace."""

    space: XSpace
    data: bytes
    pool: StringPool
    line: I32
    """Row of each event's line."""
    name: I32
    """Name of each event as recorded, a text of the pool."""
    start: I64
    end: I64
    instant: Mask
    line_plane: I32
    line_name: list[str]
    """The name a viewer shows: the display name, else the name."""
    line_id: list[int]
    stats: list[dict[str, int | float | str]] = field(
        default_factory=list[dict[str, int | float | str]]
    )
    """What each plane says about itself."""

    def __len__(self) -> int:
        return len(self.line)

    def number(self, name: str) -> I64:
        """A statistic of the events, NULL64 where there is none."""
        found = self.space.number(name)
        return np.full(len(self), NULL64) if found is None else found

    def text(self, name: str) -> I32:
        """A statistic of the events as text of the pool, -1 where there is none."""
        found = self.space.text(name)
        return np.full(len(self), -1, np.int32) if found is None else found

    def rest(self) -> I32:
        """The statistics that have no column, as JSON, -1 where there are none."""
        found = self.space.rest()
        return np.full(len(self), -1, np.int32) if found is None else found

    def shift(self, ns: int) -> None:
        """Move all events by `ns`."""
        if ns:
            self.start, self.end = self.start + ns, self.end + ns

    def planes(self) -> list[str]:
        return [name for _, name in self.space.planes]

    def events_of(self, lines: list[int]) -> I64:
        """Rows of the events of these lines."""
        wanted = np.zeros(len(self.line_plane), np.bool_)
        wanted[lines] = True
        return np.flatnonzero(wanted[self.line])

    def used_lines(self, plane: int) -> list[int]:
        """Lines of a plane that have events."""
        count = np.bincount(self.line, minlength=len(self.line_plane))
        return np.flatnonzero((self.line_plane == plane) & (count > 0)).tolist()

    def stat(self, plane: str, name: str) -> int | float | str | None:
        """What a plane says about itself; None when it does not."""
        for known, stats in zip(self.planes(), self.stats, strict=True):
            if known == plane and name in stats:
                return stats[name]
        return None


def decode(data: bytes, pool: StringPool) -> Recording:
    """Decode a whole XSpace message. Never fails: see XSpace.damage."""
    space = read_xspace(data, numbers=_NUMBERS, texts=_TEXTS, pool=pool)
    events, lines, metadata = space.events(), space.lines(), space.metadata()
    lost = pool.intern("(no name)")
    names = np.append(np.where(metadata["name"] < 0, lost, metadata["name"]), lost)
    stats: list[dict[str, int | float | str]] = [{} for _ in space.planes]
    for plane, name, value in space.plane_stats:
        stats[plane][name] = value
    shown = np.where(lines["display"] >= 0, lines["display"], lines["name"])
    return Recording(
        space=space,
        data=data,
        pool=pool,
        line=events["line"],
        name=names[events["metadata"]].astype(np.int32),
        start=events["start_ns"],
        end=events["start_ns"] + events["dur_ns"],
        instant=_as_mask(events["instant"]),
        line_plane=lines["plane"],
        line_name=["(no name)" if row < 0 else pool[row] for row in shown.tolist()],
        line_id=lines["id"].tolist(),
        stats=stats,
    )


def _as_mask(values: U8) -> Mask:
    return values.view(np.bool_)
