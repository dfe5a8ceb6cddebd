"""Iterations told by the all-reduce kernels of tensor-parallel models: each iteration runs the same
number of them, close together, and iterations lie further apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..queries.ops import Spans, kernel_names, spans_named
from ..queries.trace import Trace

I64 = NDArray[np.int64]

DEFAULT_GAP_NS = 1_000_000
"""Iterations are usually further apart than this, the all-reduces of one are not."""
_ENOUGH_SHARE = 0.5
_FEWEST_GROUPS = 5

_ALL_REDUCE = re.compile(
    r"all_?reduce|cross_device_reduce|(?:one|two)_?shot_?(?:all_?)?reduce"
    r"|multimem_(?:all_?)?reduce(?!_?scatter)",
    re.IGNORECASE,
)


def is_all_reduce(kernel_name: str) -> bool:
    """True for the kernels of an all-reduce: NCCL's, the fused ones of TensorRT-LLM, the custom
    ones of vLLM and SGLang, one-shot, two-shot and multicast forms."""
    return _ALL_REDUCE.search(kernel_name) is not None


@dataclass(frozen=True, slots=True, eq=False)
class DeviceGroups:
    """Groups of all-reduces on one device, in time order; columns of one length."""

    device: int
    size: int
    """All-reduces of an iteration: the commonest size of a group."""
    start_ns: I64
    """Start of the first all-reduce of each group."""
    end_ns: I64
    """End of the last one: a group is shorter than the step it belongs to."""
    common: NDArray[np.bool_]
    """The group has the commonest size."""

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def common_share(self) -> float:
        return float(self.common.mean()) if len(self) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AllReduce:
    """The all-reduce pattern of a trace, per device."""

    gap_ns: int
    """A longer pause separates two iterations."""
    devices: tuple[DeviceGroups, ...]

    @property
    def size(self) -> int:
        """All-reduces per iteration and GPU, of the device that has most groups."""
        return max(self.devices, key=len).size

    @property
    def total(self) -> int:
        """All-reduces per iteration on all GPUs together."""
        return sum(device.size for device in self.devices)


def all_reduce_pattern(trace: Trace, gap_ns: int | None = None) -> AllReduce | None:
    """The pattern; None when the trace has no all-reduce kernel.

    gap_ns: pause that separates iterations. None: 1 ms, or, where that gives no common size, the
    widest valley between the short and the long pauses.
    """
    names = [name for name, text in kernel_names(trace).items() if is_all_reduce(text)]
    if not names:
        return None
    spans = spans_named(trace, names)
    if not len(spans.start_ns):
        return None
    if gap_ns is not None:
        return _grouped(spans, gap_ns)
    found = _grouped(spans, DEFAULT_GAP_NS)
    if _is_clear(found):
        return found
    valley = _valley(spans)
    other = found if valley is None else _grouped(spans, valley)
    return other if _is_clear(other) else found


def _is_clear(pattern: AllReduce) -> bool:
    """Enough groups, most of them of one size."""
    return all(
        len(device) >= _FEWEST_GROUPS and device.common_share >= _ENOUGH_SHARE
        for device in pattern.devices
    )


def _device_rows(spans: Spans) -> list[tuple[int, slice]]:
    devices, first = np.unique(spans.device, return_index=True)
    ends = [*first[1:].tolist(), len(spans.device)]
    return [
        (int(device), slice(start, end))
        for device, start, end in zip(devices.tolist(), first.tolist(), ends, strict=True)
    ]


def _pauses(start: I64, end: I64) -> I64:
    """Time from the last end so far to each start but the first; negative while one runs."""
    return start[1:] - np.maximum.accumulate(end)[:-1]


def _valley(spans: Spans) -> int | None:
    """A pause between the short ones, inside iterations, and the long ones, between them: the
    middle of the widest step of the logarithms that leaves enough iterations."""
    pauses = np.concatenate(
        [_pauses(spans.start_ns[rows], spans.end_ns[rows]) for _, rows in _device_rows(spans)]
    )
    pauses = np.sort(pauses[pauses > 0])
    longest = len(pauses) - (_FEWEST_GROUPS - 1)
    if longest < 1:
        return None
    logs = np.log(pauses.astype(np.float64))
    at = int(np.argmax(np.diff(logs)[:longest]))
    return round(float(np.exp((logs[at] + logs[at + 1]) / 2)))


def _grouped(spans: Spans, gap_ns: int) -> AllReduce:
    return AllReduce(
        gap_ns,
        tuple(
            _device_groups(device, spans.start_ns[rows], spans.end_ns[rows], gap_ns)
            for device, rows in _device_rows(spans)
        ),
    )


def _device_groups(device: int, start: I64, end: I64, gap_ns: int) -> DeviceGroups:
    first = np.concatenate([[0], np.flatnonzero(_pauses(start, end) > gap_ns) + 1])
    sizes = np.diff(np.append(first, len(start)))
    values, counts = np.unique(sizes, return_counts=True)
    size = int(values[counts == counts.max()][-1])
    # A group that holds several iterations is split; the sizes of the parts say so.
    parts = np.where(sizes % size == 0, sizes // size, 1)
    within = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    first = np.repeat(first, parts) + within * size
    sizes = np.diff(np.append(first, len(start)))
    common = sizes == size
    ends = np.maximum.reduceat(end, first)
    # What the capture cut off at its edges is no iteration.
    inner = slice(int(not common[0]), len(first) - int(not common[-1]))
    return DeviceGroups(device, size, start[first][inner], ends[inner], common[inner])
