"""Columns that the sheets of collectives share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .sheet_context import as_us
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.collective_signatures import Signatures
    from ..analyzers.collectives import Collectives

    Events = NDArray[np.int64]

_MIB = 2**20


def known(values: NDArray[Any]) -> list[Any]:
    """Numbers; -1 is blank."""
    return [None if value < 0 else value for value in values.tolist()]


def measured(values: NDArray[np.float64], unit: float = 1.0) -> list[float | None]:
    """Numbers in that unit; NaN is blank."""
    return [None if isnan(value) else value / unit for value in values.tolist()]


def as_mib(values: NDArray[np.float64]) -> list[float | None]:
    return measured(values, _MIB)


def texts(found: Collectives, strings: NDArray[np.int32]) -> list[str | None]:
    return [found.text(i) for i in strings.tolist()]


def group_columns(found: Collectives, events: Events) -> dict[str, Column]:
    """Name, ranks and size of the process groups."""
    numbers: list[int] = found.group[events].tolist()
    groups = [None if g < 0 else found.groups[g] for g in numbers]
    ranks = [None if g is None else str(list(g.ranks)) if g.ranks else g.ranks_text for g in groups]
    return {
        column.name: column
        for column in (
            Column("Process Group Name", [None if g is None else g.name for g in groups]),
            Column("Process Group Ranks", ranks),
            Column("Group size", [None if g is None else g.size for g in groups]),
        )
    }


def call_columns(found: Collectives, events: Events) -> dict[str, Column]:
    """What collectives were called with."""
    return {
        column.name: column
        for column in (
            Column("Collective name", [found.name_at(i) for i in events.tolist()]),
            Column("dtype", texts(found, found.dtype[events])),
            Column("In msg nelems", known(found.in_elements[events])),
            Column("Out msg nelems", known(found.out_elements[events])),
            Column("In msg size (MB)", as_mib(found.in_bytes()[events]), "MB"),
            Column("Out msg size (MB)", as_mib(found.out_bytes()[events]), "MB"),
            Column("In split size", texts(found, found.in_split[events])),
            Column("Out split size", texts(found, found.out_split[events])),
            Column("stream", [found.streams.get(i) for i in found.work.lane[events].tolist()]),
        )
    }


def ranks(found: Collectives, events: Events) -> list[int | None]:
    numbers: list[int] = found.member[events].tolist()
    return [found.members[number].rank for number in numbers]


def signature_columns(
    found: Collectives,
    by: Signatures,
    compat: frozenset[str],
    more: Sequence[Column] = (),
) -> list[Column]:
    """Calls of each rank, most time first. `compat`: ids of `compat_ids`; `more`: columns of the
    same rows."""
    at = by.first
    columns = {**group_columns(found, at), **call_columns(found, at)}
    dur = by.dur_ns
    kernels = texts(found, found.work.name[at])
    named = (found.name[at] >= 0).tolist()
    members: list[int] = found.member[at].tolist()
    made = [
        Column("rank", list(members) if "D34" in compat else ranks(found, at)),
        *(
            columns[name]
            for name in (
                "Process Group Name",
                "Process Group Ranks",
                "Collective name",
                "Group size",
                "dtype",
                "In msg nelems",
                "Out msg nelems",
                "In split size",
                "Out split size",
                "stream",
            )
        ),
        Column("In msg size (MB)_first", columns["In msg size (MB)"].values, "MB"),
        Column("Out msg size (MB)_first", columns["Out msg size (MB)"].values, "MB"),
        Column("dur_sum", as_us(dur.total), "µs"),
        Column("dur_mean", as_us(dur.mean), "µs"),
        Column("dur_std", as_us(dur.std), "µs"),
        Column("dur_min", as_us(dur.low), "µs"),
        Column("dur_max", as_us(dur.high), "µs"),
        Column("operation_count", by.groups.count.tolist()),
        Column(
            "Kernel name",
            [None if n else k for k, n in zip(kernels, named, strict=True)],
            ours=True,
        ),
        Column("exposed_sum", as_us(by.exposed_ns), "µs", True),
        *more,
    ]
    return _recorded(made) if "D33" in compat else made


_SIGNATURE: Final = 11
"""The columns that tell one call from another come first."""


def _recorded(made: list[Column]) -> list[Column]:
    """Only the rows of which all is recorded."""
    keys = zip(*(column.values for column in made[:_SIGNATURE]), strict=True)
    kept = [row for row, values in enumerate(keys) if None not in values]
    return [replace(column, values=[column.values[row] for row in kept]) for column in made]
