"""Work done again with the same result: constants made anew, and recomputation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...ingest.model import HostKind
from ...native import intern_rows
from ..findings import Evidence, Finding
from ..gpu_timeline import recompute_times
from ..op_phase import Phase, contexts
from ..quantities import plural, share
from .facts import Facts
from .wording import gained

_CONSTANT: Final = re.compile(
    r"^aten::(?:arange|range|linspace|logspace|eye|tril_indices|triu_indices|\w+_window)$"
)
"""Operators whose result follows from their arguments alone."""


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    repeated: int
    """Calls that made the same constant again."""
    repeated_ns: int
    """Their part of the GPU work and of the pauses before it."""
    rows: list[int]
    row_ns: list[int]
    recomputed_ns: int
    """Busy time that only recomputation explains."""


def analyze(facts: Facts, limits: Limits) -> Result:
    repeated, by_row = _constants(facts)
    total = int(by_row.sum())
    recomputed = _recomputed(facts)
    if total + recomputed < limits.share * facts.window_ns or not facts.devices:
        return Result(0, 0, [], [], 0)
    order = np.argsort(-by_row, kind="stable")
    order = order[by_row[order] > 0]
    return Result(repeated, total, order.tolist(), by_row[order].tolist(), recomputed)


def _constants(facts: Facts) -> tuple[int, np.ndarray]:
    """Repeated calls, and by context the part of the GPU work and the pauses that is theirs."""
    making = facts.is_code & facts.named(_CONSTANT)
    outermost = making & (facts.outermost(making) == np.arange(len(making)))
    none = np.zeros(len(facts.parent), np.int64)
    if not facts.devices or not outermost.any():
        return 0, none
    host = facts.report.host
    events = facts.events_of(outermost)
    events = events[(host.args[events] >= 0) & (host.kind[events] == HostKind.OP)]
    if not len(events):
        return 0, none
    row = facts.host_row[events]
    _, first = intern_rows([host.name[events], host.args[events]])
    size = len(facts.parent)
    calls = np.bincount(row, minlength=size)
    again = calls - np.bincount(row[first], minlength=size)
    cost = facts.cost + facts.sum_below(facts.gap_own())
    part = np.divide(again, calls, out=np.zeros(size), where=calls > 0)
    return len(events) - len(first), np.floor(cost * part).astype(np.int64)


def _recomputed(facts: Facts) -> int:
    total = 0
    for device in facts.devices:
        source = device.report.source
        of = contexts(source.host, device.report.launcher, facts.report.context_names)
        marked = of.phase[device.report.counted] == Phase.RECOMPUTE
        if marked.any():
            total += recompute_times(source.work, source.comm, marked).busy_ns
    return total


def findings(result: Result, facts: Facts) -> list[Finding]:
    total = result.repeated_ns + result.recomputed_ns
    if not total:
        return []
    parts: list[str] = []
    remedy: list[str] = []
    evidence = facts.evidence(result.rows, [ns / 1e6 for ns in result.row_ns], "ms")
    if result.repeated_ns:
        parts.append(
            f"{plural(result.repeated, 'call')} make a constant that was made before "
            f"({share(result.repeated_ns / facts.window_ns)} of the time)"
        )
        remedy.append("Make the constants once, as buffers of the module.")
    if result.recomputed_ns:
        parts.append(
            f"recomputation of checkpoints takes {share(result.recomputed_ns / facts.window_ns)} "
            "of the time"
        )
        evidence.append(Evidence("recomputation", "ms", result.recomputed_ns / 1e6))
        remedy.append(
            "Checkpoint fewer or cheaper layers as far as memory allows (selective checkpoints)."
        )
    text = "; ".join(parts)
    return [
        gained(
            "duplicated-work", f"{text[0].upper()}{text[1:]}.", " ".join(remedy),
            "The repeated calls are gone (Ops); memory still fits.",
            evidence, facts.gain(total, "all of the work that is done again"),
        )
    ]  # fmt: skip
