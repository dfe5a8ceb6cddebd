"""Matrix products and convolutions whose sizes do not suit the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import numpy as np

from ...queries.capture import devices
from ..findings import Finding
from ..perf_figures import Figures
from ..perf_table import NO_MODEL
from ..quantities import share
from ..recorded_ops import recorded_ops
from ..roofline import Roofline, roofline
from .contexts import ROWS
from .facts import Facts
from .wording import COMPARE, gained

_MULTIPLE: Final = {"bf16": 8, "fp16": 8, "tf32": 4, "fp8": 16, "int8": 16}
"""Elements that the innermost sizes should be a multiple of: 16 bytes."""
_TILE: Final = 128
"""Rows and columns of the result that one block works on."""


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time that better sizes may gain, at least."""


@dataclass(frozen=True, slots=True)
class Shape:
    text: str
    reason: str
    row: int
    """The context with most time of it; -1: not known."""
    calls: int
    time_ns: int
    gain_ns: int


def analyze(facts: Facts, limits: Limits) -> list[Shape]:
    found = _of_events(facts) if facts.devices else _of_sums(facts)
    total = sum(shape.gain_ns for shape in found)
    if total < limits.share * facts.window_ns:
        return []
    return sorted((s for s in found if s.gain_ns), key=lambda s: -s.gain_ns)


def _of_events(facts: Facts) -> list[Shape]:
    found: list[Shape] = []
    for device in facts.devices:
        perf = device.report.exclusive
        least = facts.roofline_ns(device.report)
        hardware = facts.hardware.get(device.report.device)
        processors = None if hardware is None else hardware.sm_count
        host = np.append(facts.host_row, np.int32(-1))[perf.table.host]
        for number, figures in enumerate(perf.figures):
            reason, part = _reason(figures, processors)
            if not reason:
                continue
            rows = np.flatnonzero((perf.figure == number) & (perf.figure != NO_MODEL))
            time = perf.table.direct_ns[rows]
            above = np.maximum(time - least[rows], 0)  # NaN: the least time is not known
            if part is None and np.isnan(above).any():
                continue
            idle = time * part if part is not None else above
            gain = np.fmin(idle, above)
            places = host[rows]
            found.append(
                Shape(
                    _text(figures.params), reason, int(places[time.argmax()]) if len(rows) else -1,
                    len(rows), int(time.sum()), int(gain.sum()),
                )
            )  # fmt: skip
    return found


def _of_sums(facts: Facts) -> list[Shape]:
    """Of a recording, whose GPU work is summed up by context: where a context was called with one
    set of arguments, on devices that are all alike."""
    kinds = {(d.name, facts.hardware.get(d.device)) for d in devices(facts.trace)}
    if not facts.on_gpu or len(kinds) != 1:
        return []
    [(name, hardware)] = kinds
    limits = facts.limits_of(name)
    processors = None if hardware is None else hardware.sm_count
    most: dict[tuple[str, str], tuple[int, Shape]] = {}
    for op in recorded_ops(facts.trace, facts.full, facts.rules):
        if op.figures is None or not op.gpu_ns:
            continue
        reason, part = _reason(op.figures, processors)
        line = "" if limits is None else roofline(op.figures, limits)
        above = op.gpu_ns - op.calls * line.time_us * 1000 if isinstance(line, Roofline) else None
        if not reason or (part is None and above is None):
            continue
        gains = [v for v in (above, None if part is None else op.gpu_ns * part) if v is not None]
        text = _text(op.figures.params)
        longest, shape = most.get((text, reason), (0, Shape(text, reason, -1, 0, 0, 0)))
        row = int(facts.place[op.node]) if op.gpu_ns > longest else shape.row
        gain = max(0, round(min(gains)))
        most[text, reason] = (
            max(longest, op.gpu_ns),
            Shape(
                text, reason, row, shape.calls + op.calls, shape.time_ns + op.gpu_ns,
                shape.gain_ns + gain,
            ),
        )  # fmt: skip
    return [shape for _, shape in most.values()]


def _reason(figures: Figures, processors: int | None) -> tuple[str, float | None]:
    """What is wrong with the sizes, and the part of the device that stays empty, where that is the
    matter."""
    unit, _, precision = (figures.spec or "").partition("_")
    if unit != "matrix":
        return "", None
    of = figures.params
    multiple = _MULTIPLE.get(precision)
    if {"M", "N", "K"} <= of.keys():
        m, n, k, batch = of["M"], of["N"], of["K"], of.get("B") or 1
        if not all(isinstance(size, int) and size > 0 for size in (m, n, k, batch)):
            return "", None
        if multiple and min(m, n) > 1 and (n % multiple or k % multiple):
            return f"N and K should be multiples of {multiple}", None
        blocks = batch * ceil(m / _TILE) * ceil(n / _TILE)
        if processors and m * n > 1 and blocks < processors:
            return f"{blocks} tiles for {processors} multiprocessors", 1 - blocks / processors
        return "", None
    weight: tuple[int, ...] = of.get("filter_shape") or ()
    if multiple and of.get("groups") == 1 and any(size % multiple for size in weight[:2]):
        return f"channels should be multiples of {multiple}", None
    return "", None


def _text(of: Mapping[str, Any]) -> str:
    if "M" in of:
        batch = f"{of['B']} x " if (of.get("B") or 1) != 1 else ""
        return f"{batch}M {of['M']} N {of['N']} K {of['K']}"
    return f"input {of.get('input_shape')}, weight {of.get('filter_shape')}"


def findings(result: list[Shape], facts: Facts) -> list[Finding]:
    if not result:
        return []
    first = result[0]
    time = sum(shape.time_ns for shape in result)
    basis = "time above the roofline; of few tiles at most the part of the device that stays empty"
    if not facts.devices:
        basis += (
            ". Contexts that were called with several shapes are left out: their sum alone is known"
        )
    return [
        gained(
            "matrix-shapes",
            f"{share(time / facts.total_ns)} of the {facts.cost_name} is in matrix products and "
            f"convolutions of unsuitable sizes; most to gain: {first.text} ({first.reason}).",
            "Pad vocabulary, hidden sizes and channels to the multiple; join small products "
            "(larger batch, one product for q, k and v, grouped or batched products).",
            COMPARE,
            [facts.evidence([s.row], [s.time_ns / 1e6], "ms", f"{s.text}: {s.reason}")[0]
             for s in result[:ROWS]],
            facts.gain(sum(shape.gain_ns for shape in result), basis),
        )
    ]  # fmt: skip
