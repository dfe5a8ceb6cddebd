"""Where a kernel stands on its device's roofline: by the models of the operators that launch it,
and by the counters that Nsight Compute read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ingest.model import GpuKind
from .perf_table import NO_MODEL
from .roofline import COMPUTE_BOUND, MEMORY_BOUND, Roofline, roofline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..ingest.ncu import NcuKernel
    from .architecture import Architecture
    from .op_report import DeviceReport, OpReport

_PRECISIONS: Final = {"FP32": "f", "FP64": "d"}
_SCALES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """Of the launches whose work is known: together."""

    flops: float
    bytes: float
    ns: int
    """Their time."""
    least_ns: float
    """What the device needs for the same at least."""
    bound: str
    """COMPUTE_BOUND or MEMORY_BOUND: what bounds most of the least time."""
    launches: int
    operators: tuple[str, ...]
    """Whose models tell it, by name."""
    architecture: str
    """Whose limits they are compared with."""

    @property
    def share(self) -> float:
        """Of the roofline that is reached: 1 where nothing can be faster."""
        return self.least_ns / self.ns

    @property
    def flops_per_s(self) -> float:
        return self.flops / (self.ns / 1e9)

    @property
    def intensity(self) -> float | None:
        """Operations a byte."""
        return self.flops / self.bytes if self.bytes else None


def roofline_point(
    report: OpReport,
    architecture_of: Callable[[str], Architecture | None],
    launches: NDArray[np.int32],
) -> RooflinePoint | str:
    """Of these launches (`gpu_op.id`); or why there is none. Counted are those that are the only
    kernels of their operator, whose model tells of all its work: so its copies and memory sets
    count too."""
    parts: list[RooflinePoint] = []
    reasons: list[str] = []
    for device in report.devices:
        found = _of_device(device, architecture_of(device.name), launches)
        if isinstance(found, RooflinePoint):
            parts.append(found)
        elif found:
            reasons.append(found)
    if not parts:
        return reasons[0] if reasons else "no operator that launches it is in the trace"
    longest = max(parts, key=lambda part: part.least_ns)
    return RooflinePoint(
        flops=sum(part.flops for part in parts),
        bytes=sum(part.bytes for part in parts),
        ns=sum(part.ns for part in parts),
        least_ns=sum(part.least_ns for part in parts),
        bound=longest.bound,
        launches=sum(part.launches for part in parts),
        operators=tuple(dict.fromkeys(name for part in parts for name in part.operators)),
        architecture=longest.architecture,
    )


def _of_device(
    device: DeviceReport, limits: Architecture | None, launches: NDArray[np.int32]
) -> RooflinePoint | str:
    table = device.exclusive
    of_row = table.table.row
    mine = np.isin(device.source.work.id, launches) & (of_row >= 0)
    if not mine.any():
        return ""
    if limits is None:
        return f"the limits of {device.name or 'its GPU'} are not known (--arch names them)"
    rows = len(table.table.host)
    own = np.bincount(of_row[mine], minlength=rows)
    kernels = (device.source.work.kind == GpuKind.KERNEL) & (of_row >= 0)
    alone = (own > 0) & (own == np.bincount(of_row[kernels], minlength=rows))
    if not alone.any():
        return "the operators that launch it launch other kernels too: their model tells of all"
    lines = [roofline(figures, limits) for figures in table.figures]
    known = np.array([isinstance(line, Roofline) for line in lines] + [False])
    counted = np.flatnonzero(alone & known[table.figure])
    ns = int(table.table.direct_ns[counted].sum())
    if not ns:
        told: list[int] = table.figure[alone & (table.figure != NO_MODEL)].tolist()
        asked = dict.fromkeys(told)
        why = [lines[i] if isinstance(lines[i], str) else table.figures[i].note for i in asked]
        return str(next(filter(None, why), "no model knows the operators that launch it"))
    least = {COMPUTE_BOUND: 0.0, MEMORY_BOUND: 0.0}
    flops = moved = 0.0
    indexes: list[int] = table.figure[counted].tolist()
    for index in indexes:
        line, figures = lines[index], table.figures[index]
        assert isinstance(line, Roofline)
        least[line.bound] += line.time_us * 1000
        flops += figures.flops or 0.0
        moved += figures.bytes or 0.0
    ids: list[int] = table.table.name[counted].tolist()
    names = [table.table.names[name] for name in ids]
    return RooflinePoint(
        flops=flops,
        bytes=moved,
        ns=ns,
        least_ns=sum(least.values()),
        bound=max(least, key=least.__getitem__),
        launches=int(own[counted].sum()),
        operators=tuple(dict.fromkeys(names)),
        architecture=limits.name,
    )


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """What one launch did, of one precision outside the tensor cores, and what its GPU can do."""

    precision: str
    flops_per_s: float
    peak_flops_per_s: float
    bytes_per_s: float
    """Of the GPU's memory."""
    peak_bytes_per_s: float

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flops_per_s / self.bytes_per_s


def measured_points(kernel: NcuKernel) -> list[MeasuredPoint]:
    """From the counters of Nsight Compute's own roofline charts: predicated-on additions,
    multiplications and twice the fused ones by cycle, times the clock; bytes of DRAM. Empty where
    they were not collected (`--set full` does, or `--section SpeedOfLight_RooflineChart`)."""
    moved = _base(kernel, "dram__bytes.sum.per_second")
    peak_moved = _product(
        kernel, "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second"
    )
    clock = _base(kernel, "smsp__cycles_elapsed.avg.per_second")
    if not moved or not peak_moved or clock is None:
        return []
    points: list[MeasuredPoint] = []
    for precision, letter in _PRECISIONS.items():
        done = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
        counts = [_base(kernel, done.format(letter + kind)) for kind in ("add", "mul", "fma")]
        peak = _product(
            kernel,
            f"sm__sass_thread_inst_executed_op_{letter}fma_pred_on.sum.peak_sustained",
            "sm__cycles_elapsed.avg.per_second",
        )
        if None in counts or peak is None:
            continue
        add, mul, fma = (count or 0.0 for count in counts)
        work = (add + mul + 2 * fma) * clock
        if work:
            points.append(MeasuredPoint(precision, work, 2 * peak, moved, peak_moved))
    return points


def _product(kernel: NcuKernel, first: str, second: str) -> float | None:
    one, other = _base(kernel, first), _base(kernel, second)
    return None if one is None or other is None else one * other


def _base(kernel: NcuKernel, name: str) -> float | None:
    """A metric in units without a prefix: exports write `Gbyte/second`, `Ghz`, `cycle/nsecond`."""
    value = kernel.metrics.get(name)
    if value is None:
        return None
    unit = kernel.units.get(name, "")
    of, _, by = unit.partition("/")
    for word in ("byte", "hz"):
        if of.lower().endswith(word):
            value *= _SCALES.get(of[: -len(word)].upper(), 1.0)
    if by.endswith("second"):
        value *= {"n": 1e9, "u": 1e6, "m": 1e3}.get(by.removesuffix("second"), 1.0)
    return value
