"""Tables of other libraries that record intervals on host threads: MPI, cuBLAS, OpenACC and so
on. No call path goes through them: they are shown beside it."""

from typing import Final

import numpy as np

from ...native import ColumnKind
from ..arrays import I32
from .identity import Identity
from .nvtx import Annotations
from .reader import TableReader
from .strings import Strings
from .times import Clock, Span, joined_open

_PREFIXES: Final = (
    "MPI_",
    "CUBLAS_",
    "CUDNN_",
    "CUPTI_ACTIVITY_KIND_OPENACC_",
    "OPENMP_",
    "CUDA_UM_",
    "FECS_EVENTS",
    "GPU_CONTEXT_SWITCH_EVENTS",
    "NIC_",
    "NET_",
)
_NAMES: Final = ("nameId", "textId")
_COLUMNS: Final[dict[str, ColumnKind]] = {"start": "i64", "end": "i64", "globalTid": "i64"}


def _name_column(reader: TableReader, table: str) -> str | None:
    """The column that names the events, None when the table does not hold intervals."""
    if not table.startswith(_PREFIXES):
        return None
    if not all(reader.has_column(table, column) for column in ("start", "globalTid")):
        return None
    return next((name for name in _NAMES if reader.has_column(table, name)), None)


def read_other_sources(
    reader: TableReader, strings: Strings, identity: Identity, clock: Clock
) -> list[Annotations]:
    """Intervals of each such table; the domain is the table's name."""
    found: list[Annotations] = []
    for table in reader.tables:
        column = _name_column(reader, table)
        if column is None:
            continue
        rows = reader.read(table, {**_COLUMNS, column: "i32"})
        span = clock.spans(rows)
        name: I32 = strings.resolve(rows.i32(column))
        if (name < 0).any():
            name = np.where(name < 0, strings.pool.intern("<name not recorded>"), name)
        domain = np.full(rows.count, strings.pool.intern(table), np.int32)
        lane = identity.thread_column(rows.i64("globalTid"))
        found.append(Annotations(span, lane, name, domain, None))
    return found


def joined(parts: list[Annotations]) -> Annotations | None:
    """All of them as one; None when there are none."""
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else None
    nothing = [np.full(len(part), -1, np.int32) for part in parts]
    payloads = [part.payload for part in parts]
    return Annotations(
        Span(
            np.concatenate([part.span.start for part in parts]),
            np.concatenate([part.span.end for part in parts]),
            joined_open([part.span for part in parts]),
        ),
        np.concatenate([part.lane for part in parts]),
        np.concatenate([part.name for part in parts]),
        np.concatenate([part.domain for part in parts]),
        np.concatenate([b if a is None else a for a, b in zip(payloads, nothing, strict=True)]),
    )
