"""Chains of elementwise kernels: each reads what the one before it wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...ingest.model import Layer
from ...native import intern_rows
from ..findings import Evidence, Finding
from ..kernel_traits import is_elementwise
from ..quantities import plural, share
from .contexts import ROWS
from .facts import DeviceFacts, Facts
from .host_rows import steps
from .places import common
from .wording import gained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    length: float
    """Kernels that follow each other, at least."""
    gap_us: float
    """A longer pause ends a chain."""
    share: float
    """Of the devices' time that chains may gain, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[int]
    """Innermost context around the chains, the one with most to gain first."""
    gain_ns: list[int]
    """All kernels of its chains but the longest of each."""
    chains: int
    kernels: int
    kernel_ns: int


def analyze(facts: Facts, limits: Limits) -> Result:
    single = np.append(facts.is_kernel & facts.where(is_elementwise), False)
    # A chain stays within one outermost part of a step: forward, backward, optimizer.
    outermost = facts.outermost(facts.is_code & ~steps(facts))
    rows: list[I32] = []
    gains: list[I64] = []
    chains = kernels = spent = 0
    for device in facts.devices:
        found = _chains(facts, device, single, outermost, limits)
        rows.append(found[0])
        gains.append(found[1])
        chains += len(found[0])
        kernels += found[2]
        spent += found[3]
    if not chains:
        return Result([], [], 0, 0, 0)
    total = np.zeros(len(facts.parent), np.int64)
    np.add.at(total, np.concatenate(rows), np.concatenate(gains))
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    if total.sum() < limits.share * facts.window_ns:
        return Result([], [], 0, 0, 0)
    return Result(order.tolist(), total[order].tolist(), chains, kernels, spent)


def _chains(
    facts: Facts, device: DeviceFacts, single: Mask, outermost: I32, limits: Limits
) -> tuple[I32, I64, int, int]:
    """Contexts and gains of the chains of a device, and their kernels and time."""
    work = device.report.work
    order = np.lexsort((work.start_ns, work.lane))
    lane, row = work.lane[order], device.row[order]
    start, end = work.start_ns[order], work.end_ns[order]
    is_link = single[row] & ~device.in_graph[order]
    part = np.append(outermost, np.int32(-1))[row]
    joined = np.zeros(len(order), np.bool_)
    joined[1:] = (
        is_link[1:] & is_link[:-1] & (lane[1:] == lane[:-1])
        & (start[1:] - end[:-1] <= limits.gap_us * 1000) & (part[1:] == part[:-1])
    )  # fmt: skip
    chain = np.cumsum(~joined) - 1
    begin = np.flatnonzero(~joined)
    length = np.diff(np.append(begin, len(order)))
    kept = np.flatnonzero(is_link[begin] & (length >= limits.length)) if len(order) else begin
    if not len(kept):
        none = np.zeros(0, np.int64)
        return none.astype(np.int32), none, 0, 0
    duration = end - start
    whole = np.add.reduceat(duration, begin)[kept]
    longest = np.maximum.reduceat(duration, begin)[kept]
    member = np.isin(chain, kept)
    node = device.node[order][member]
    at = np.searchsorted(kept, chain[member])
    first = np.full(len(kept), np.iinfo(np.int32).max, np.int32)
    last = np.full(len(kept), -1, np.int32)
    # In pre-order the innermost node around all is that around the first and the last of them.
    np.minimum.at(first, at, node)
    np.maximum.at(last, at, node)
    ids, one = intern_rows([first, last])
    table = facts.full.table
    place = common(table.parent, table.depth, first[one], last[one])[ids]
    around = facts.code_around(facts.place[place])
    # Visits of one operator: what calls it again and again is the place.
    single = facts.layer[around] == Layer.OP
    caller = facts.code_around(facts.parent[around])
    around = np.where(single & (caller >= 0), caller, around)
    # No part of the program, as of work whose launch is not recorded: the context itself.
    around = np.where(around >= 0, around, np.maximum(facts.place[place], 0))
    return around, whole - longest, int(length[kept].sum()), int(whole.sum())


def findings(result: Result, facts: Facts) -> list[Finding]:
    total = sum(result.gain_ns)
    if not result.rows:
        return []
    gain = facts.gain(total, "all kernels of the chains but the longest of each")
    evidence: list[Evidence] = []
    for of_program in (True, False):  # what can be changed first
        at = [i for i, row in enumerate(result.rows) if bool(facts.is_code[row]) is of_program]
        ms = [result.gain_ns[i] / 1e6 for i in at]
        evidence += facts.evidence([result.rows[i] for i in at], ms, "ms")
    return [
        gained(
            "elementwise-chain",
            f"{plural(result.chains, 'chain')} of {result.kernels / result.chains:.1f} "
            "elementwise kernels on average take "
            f"{share(result.kernel_ns / facts.window_ns)} of the time; most to gain in "
            f"{evidence[0].what}.",
            "Let one kernel do the work of a chain: torch.compile, a fused activation or dropout, "
            "an optimizer with fused=True or foreach=True, or Triton.",
            "The elementwise kernels of these contexts become fewer (Kernels).",
            evidence[:ROWS],
            gain,
        )
    ]  # fmt: skip
