"""Rows of a report as calls that can be made again."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from ..analyzers.perf_models.call import as_tuples
from ..analyzers.replay_plan import NotReplayableError, Plan, plan
from .sheet_context import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .sheets import Sheet

REPLAY_SHEETS: Final = ("ops_unique_args", "unified_perf_summary", "ops")
_UIDS: Final = ("ex_UID", "UID")
_COUNTS: Final = ("operation_count",)
_SUMS: Final = (
    "Kernel Time (µs)_sum",
    "total_subtree_kernel_time_sum",
    "total_subtree_kernel_time",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a sheet. None: not known."""

    sheet: str
    number: int
    """From 1, as the sheet is written."""
    op: str
    uid: int | None
    count: int
    total_us: float | None
    """GPU time of all calls, with that of the operators below."""
    literals: tuple[str | None, ...]
    """Of the arguments, in the order of `ARGUMENTS`."""

    def plan(self) -> Plan:
        """NotReplayableError."""
        return plan(self.op, *map(_tuple, self.literals))

    @property
    def mean_us(self) -> float | None:
        return None if self.total_us is None else self.total_us / max(self.count, 1)


def rows_of(sheet: Sheet) -> list[Row]:
    """All rows of a sheet of operators. ValueError for one without the columns of arguments."""
    columns: dict[str, Sequence[Any]] = {c.name: c.values for c in sheet.columns}
    lacking = [name for name in ("name", *(n for n, _ in ARGUMENTS)) if name not in columns]
    if lacking:
        raise ValueError(f"it has no column {lacking[0]}")
    blank: Sequence[Any] = [None] * len(sheet)
    uid, count, total = (
        next((columns[n] for n in names if n in columns), blank)
        for names in (_UIDS, _COUNTS, _SUMS)
    )
    literals = zip(*(columns[name] for name, _ in ARGUMENTS), strict=True)
    return [
        Row(
            sheet.name, i + 1, str(name), _whole(uid[i]), _whole(count[i]) or 1,
            _number(total[i]), tuple(None if v is None else str(v) for v in texts),
        )
        for i, (name, texts) in enumerate(zip(columns["name"], literals, strict=True))
    ]  # fmt: skip


def replay_info(rows: Sequence[Row], trace: str) -> Iterator[dict[str, Any]]:
    """What is needed to make each call again, as JSON; `replayable` false with the reason else."""
    for row in rows:
        about: dict[str, Any] = {"op": row.op, "row": row.number}
        told = {"count": row.count, "total_us": row.total_us, "ex_UID": row.uid, "trace": trace}
        try:
            found = row.plan()
        except NotReplayableError as why:
            yield {**about, **told, "replayable": False, "reason": str(why)}
            continue
        arguments = [{"pos": i, **_plain(asdict(a))} for i, a in enumerate(found.arguments)]
        yield {**about, "args": arguments, **told, "replayable": True, "assumed": found.assumed}


def _plain(of: Mapping[str, Any]) -> dict[str, Any]:
    """Only what belongs to the kind of the argument."""
    if of["kind"] in ("tensor", "tensorlist"):
        names = ("kind", "shape", "strides", "dtype", "init", "bound")
        return {name: of[name] for name in names if name != "bound" or of[name] is not None}
    return (
        {"kind": of["kind"]} if of["kind"] == "none" else {"kind": of["kind"], "value": of["value"]}
    )


def _tuple(text: str | None) -> tuple[Any, ...]:
    """A literal of a cell; empty where there is none or it is no list."""
    if not text:
        return ()
    try:
        found: object = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return cast("tuple[Any, ...]", as_tuples(found)) if isinstance(found, list | tuple) else ()


def _whole(value: Any) -> int | None:
    return None if value is None or isinstance(value, str) else int(value)


def _number(value: Any) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)
