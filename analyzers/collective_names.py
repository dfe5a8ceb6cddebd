"""What collectives are called, and how much they move."""

from __future__ import annotations

import re
from typing import Final

IMPLICIT_SYNC: Final = ("allreduce", "reducescatter", "allgather", "alltoall")
"""Kinds in which no rank can leave before all have come."""
ALL_TO_ALL_V: Final = "alltoallv"
POINT_TO_POINT: Final = "sendrecv"

_KINDS: Final = {
    "allreduce": "allreduce",
    "allreduce_coalesced": "allreduce",
    "reducescatter": "reducescatter",
    "reduce_scatter": "reducescatter",
    "_reduce_scatter_base": "reducescatter",
    "reduce_scatter_tensor_coalesced": "reducescatter",
    "allgather": "allgather",
    "all_gather": "allgather",
    "_allgather_base": "allgather",
    "all_gather_into_tensor_coalesced": "allgather",
    "allgather_into_tensor_coalesced": "allgather",
    "all_to_all": "alltoall",
    "alltoall": "alltoall",
    "all_to_allv": ALL_TO_ALL_V,
    "alltoallv": ALL_TO_ALL_V,
    "send": POINT_TO_POINT,
    "recv": POINT_TO_POINT,
    "sendrecv": POINT_TO_POINT,
}

_OF_KERNEL: Final = (
    (re.compile(r"all_?reduce|cross_device_reduce|(?:one|two)_?shot|quick_?reduce", re.I),
     "allreduce"),
    (re.compile(r"all_?gather", re.I), "allgather"),
    (re.compile(r"reduce_?scatter", re.I), "reducescatter"),
    (re.compile(r"all_?to_?all", re.I), "alltoall"),
    (re.compile(r"broadcast", re.I), "broadcast"),
    (re.compile(r"send_?recv", re.I), "sendrecv"),
    (re.compile(r"nccl(?:Dev)?Kernel_Reduce(?![a-z])", re.I), "reduce"),
)  # fmt: skip
"""NCCL writes the collective into the names of its kernels, but for `ncclDevKernel_Generic`."""

_BUS_SHARE: Final = {"allreduce": 2.0, "reducescatter": 1.0, "allgather": 1.0, "alltoall": 1.0}


def kind_of(name: str | None) -> str | None:
    """The kind of a recorded collective; None for one that is none of the known ones."""
    return None if name is None else _KINDS.get(name.lower())


def inferred_name(kernel: str) -> str | None:
    """The collective that the name of a kernel tells; None where it does not."""
    return next((name for pattern, name in _OF_KERNEL if pattern.search(kernel)), None)


def bus_factor(kind: str | None, ranks: int | None) -> float | None:
    """Share of the message that each link must carry at least, as nccl-tests counts it:
    2(n-1)/n for an all-reduce, (n-1)/n for the others; None where it is not known."""
    if kind not in _BUS_SHARE or not ranks or ranks < 1:
        return None
    return _BUS_SHARE[kind] * (ranks - 1) / ranks


def numbers(text: str | None) -> list[int] | None:
    """`[0, 1]` as numbers; None where it is missing, cut (`[0, 1, ...]`) or something else."""
    if text is None:
        return None
    parts = text.strip("[]() ").split(",")
    if parts == [""]:
        return []
    try:
        return [int(part) for part in parts]
    except ValueError:
        return None
