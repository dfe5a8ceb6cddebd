"""Samples of instructions in rocprofv3 JSON.

Fields as AMD's documentation of PC sampling lists them: the offset counts from the code object's
start, `inst_index` is the place in the lists of instructions and of their source lines. A wave that
issued its instruction waited for nothing, whatever reason the record holds."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ...native import DocumentReader, StringPool, intern_rows
from ..account import RowAccount, count
from ..arrays import I32, I64, NULL32, NULL64
from ..stall_names import SELECTED, canonical
from .document import STOCHASTIC, Records, within
from .links import Lookup
from .recording import PcSamples

_REASON: Final = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
_PLACE: Final = re.compile(r"(.+?):(\d{1,9})(?:$| -> )")
"""`/src/a.hip:12`; of inlined code the innermost comes first."""


def read_pc_samples(
    document: DocumentReader,
    process: I64,
    rows: Records,
    dispatch_ids: I64,
    pool: StringPool,
    account: RowAccount,
) -> PcSamples | None:
    """Of one process (its row); dispatch_ids: those of the dispatches that were read. Samples of
    other dispatches are left out: nothing tells what ran. None where there are no others."""
    if not rows.count:
        return None
    dispatch = Lookup(dispatch_ids).rows(rows.i64("dispatch_id"))
    known = dispatch >= 0
    account.leave_out(rows.table, "no_dispatch", count(~known))
    rows.keep(known)
    if not rows.count:
        return None
    code_object, instruction = rows.i64("code_object"), rows.i64("instruction")
    reason = np.full(rows.count, -1, np.int32)
    if rows.table == STOCHASTIC:
        reason = _reasons(rows, pool)
    index, first = intern_rows(
        [dispatch[known], code_object, rows.i64("offset"), instruction, reason]
    )
    code_object, instruction = code_object[first], instruction[first]
    text, file, line = _texts(document, process, instruction, pool)
    inside = code_object > 0
    return PcSamples(
        dispatch[known][first],
        _code_objects(np.where(inside, code_object, 0), pool),
        np.where(inside, rows.i64("offset")[first], NULL64),
        text,
        file,
        line,
        reason[first],
        np.bincount(index, minlength=len(first)).astype(np.int64),
    )


def _reasons(rows: Records, pool: StringPool) -> I32:
    given = rows.names("reason", pool)
    used, index = np.unique(given, return_inverse=True)
    named = [
        -1 if text < 0 else pool.intern(canonical(pool[text].removeprefix(_REASON).lower()))
        for text in used.tolist()
    ]
    waited = np.array(named, np.int32)[index]
    return np.where(rows.i64("issued") == 1, pool.intern(SELECTED), waited).astype(np.int32)


def _code_objects(ids: I64, pool: StringPool) -> I32:
    """Names of code objects, -1 for 0."""
    used, index = np.unique(ids, return_inverse=True)
    named = [pool.intern(f"code object {number}") if number else -1 for number in used.tolist()]
    return np.array(named, np.int32)[index]


def _texts(
    document: DocumentReader, process: I64, instruction: I64, pool: StringPool
) -> tuple[I32, I32, I32]:
    """Text, source file and line of instructions by their place in the lists."""
    texts = within(document, "sampled_text", process).names("text", pool)
    places = within(document, "sampled_place", process).texts("text")
    used, index = np.unique(instruction, return_inverse=True)
    columns = np.full((3, len(used)), -1, np.int32)
    columns[2] = NULL32
    asked: list[int] = used.tolist()
    for row, at in enumerate(asked):
        if 0 <= at < len(texts):
            columns[0, row] = texts[at]
        place = _PLACE.match(places[at] or "") if 0 <= at < len(places) else None
        if place is not None:
            columns[1, row], columns[2, row] = pool.intern(place[1]), int(place[2])
    text, file, line = (column[index] for column in columns)
    return text, file, line
