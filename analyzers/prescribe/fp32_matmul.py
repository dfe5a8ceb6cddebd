"""Matrix products in full single precision on hardware that has TF32."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..findings import Finding, Weight
from ..quantities import share
from ..roofline import Roofline, roofline
from .facts import Facts
from .wording import COMPARE, gained


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time in such products, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    time_ns: int
    gain_ns: int | None
    """Time above what TF32 needs at least; None: the limits of a device are not known."""
    rows: list[int]
    own_ns: list[int]


def analyze(facts: Facts, limits: Limits) -> Result:
    total, gain, known = 0, 0.0, True
    by_row = np.zeros(len(facts.parent) + 1, np.int64)
    for device in facts.devices:
        hardware = facts.hardware.get(device.report.device)
        architecture = facts.limits_of(device.report.name)
        major = None if hardware is None else hardware.compute_major
        has_rate = architecture is not None and any(
            "matrix_tf32" in rates for rates in (architecture.achievable, architecture.peak)
        )
        if not (has_rate or (major is not None and major >= 8)):
            continue
        perf = device.report.exclusive
        host = np.append(facts.host_row, np.int32(-1))[perf.table.host]
        for number, figures in enumerate(perf.figures):
            if figures.spec != "matrix_fp32":
                continue
            rows = perf.figure == number
            time = perf.table.direct_ns[rows]
            total += int(time.sum())
            np.add.at(by_row, host[rows], time)
            faster = replace(figures, spec="matrix_tf32")
            least = roofline(faster, architecture) if architecture is not None else ""
            if isinstance(least, Roofline):
                gain += float(np.maximum(time - least.time_us * 1000, 0).sum())
            else:
                known = False
    if not total or total < limits.share * facts.window_ns:
        return Result(0, None, [], [])
    order = np.argsort(-by_row[:-1], kind="stable")
    order = order[by_row[order] > 0]
    return Result(total, round(gain) if known else None, order.tolist(), by_row[order].tolist())


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not result.time_ns:
        return []
    gain, why = None, "the rates of this device are not known: name them with --arch"
    if result.gain_ns is not None:
        gain, why = facts.gain(result.gain_ns, "time above what the products need in TF32"), ""
    found = (
        gained(
            "fp32-matmul",
            f"Matrix products in full single precision take "
            f"{share(result.time_ns / facts.window_ns)} of the time; the tensor cores stay idle.",
            "torch.set_float32_matmul_precision('high') allows TF32; bfloat16 with autocast is "
            "faster still. Check the accuracy that the model needs.",
            COMPARE,
            facts.evidence(result.rows, [ns / 1e6 for ns in result.own_ns], "ms"),
            gain, why,
        )
    )  # fmt: skip
    known = gain is not None
    return [found if known else replace(found, weight=Weight.WARNING)]
