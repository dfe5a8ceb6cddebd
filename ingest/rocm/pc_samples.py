"""Samples of instructions in rocprofv3 JSON, and what those in CSV share with them.

Fields as AMD's documentation of PC sampling lists them: the offset counts from the code object's
start, `inst_index` is the place in the lists of instructions and of their source lines. A wave that
issued its instruction waited for nothing, whatever reason the record holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...native import DocumentReader, StringPool, intern_rows
from ..account import RowAccount, count
from ..arrays import I32, I64, NULL32, NULL64, Mask
from ..stall_names import SELECTED, canonical
from .document import STOCHASTIC, Records, within
from .links import Lookup
from .recording import PcSamples

_REASON: Final = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
_PLACE: Final = re.compile(r"(.+?):(\d{1,9})(?:$| -> )")
"""`/src/a.hip:12`; of inlined code the innermost comes first."""
_UNDECODED: Final = "Unrecognized code object"
"""How the comment begins where the profiler could not read the instruction."""


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
        reason = reason_names(rows.names("reason", pool), rows.i64("issued") == 1, pool)
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


def reason_names(given: I32, issued: Mask, pool: StringPool) -> I32:
    """What each sample waited for, by the text that the profiler gives it (-1: none)."""
    used, index = np.unique(given, return_inverse=True)
    named = [
        -1 if text < 0 else pool.intern(canonical(pool[text].removeprefix(_REASON).lower()))
        for text in used.tolist()
    ]
    waited = np.array(named, np.int32)[index]
    return np.where(issued, pool.intern(SELECTED), waited).astype(np.int32)


def source_places(comments: Sequence[str | None], index: I32, pool: StringPool) -> tuple[I32, I32]:
    """File and line of each row by the comment that it has; -1 and NULL32 where that tells none."""
    columns = np.full((2, len(comments)), -1, np.int32)
    columns[1] = NULL32
    for row, comment in enumerate(comments):
        place = _PLACE.match(comment or "")
        if place is not None and not place[1].startswith(_UNDECODED):
            columns[0, row], columns[1, row] = pool.intern(place[1]), int(place[2])
    file, line = (column[index] for column in columns)
    return file, line


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
    inside = (used >= 0) & (used < len(texts))
    text = np.where(inside, np.append(texts, np.int32(-1))[np.where(inside, used, -1)], -1)
    asked: list[int] = used.tolist()
    told = [places[at] if 0 <= at < len(places) else None for at in asked]
    file, line = source_places(told, index.astype(np.int32), pool)
    return text.astype(np.int32)[index], file, line
