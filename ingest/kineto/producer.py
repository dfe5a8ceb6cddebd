"""Who wrote a recording, and about when: files do not name their PyTorch version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from .recording import Recording, as_list, as_object

_KINETO_KEYS: Final = ("schemaVersion", "deviceProperties", "traceName", "baseTimeNanoseconds")
_TORCH_TABLES: Final = ("op", "python", "launch", "gpu", "span", "memory", "window")
_SHOWN: Final = (
    "cuda_runtime_version",
    "cuda_driver_version",
    "cupti_version",
    "hip_runtime_version",
    "hip_driver_version",
    "roctracer_version",
    "rocprofiler-sdk_version",
)
_OPTIONS: Final = ("record_shapes", "with_stack", "profile_memory", "with_flops", "with_modules")
_DISTRIBUTED: Final = ("world_size", "backend", "nccl_version", "pg_count")


def is_torch(recording: Recording) -> bool:
    """True for recordings of the PyTorch profiler, false for other Chrome traces."""
    return any(key in recording.metadata for key in _KINETO_KEYS) or any(
        name in recording.tables for name in _TORCH_TABLES
    )


def pytorch_version(recording: Recording) -> str:
    """About which PyTorch wrote the file, told by its layout; empty when it does not tell."""
    categories = recording.scan.categories
    metadata = recording.metadata
    if "Operator" in categories or "Kernel" in categories:
        return "about 1.9-1.11" if "deviceProperties" in metadata else "about 1.8"
    if "baseTimeNanoseconds" in metadata:
        return "2.4 or later"
    if recording.scan.ts_fraction:
        return "about 2.3"
    return "about 1.12-2.2" if "cpu_op" in categories else ""


def facts_of(recording: Recording) -> Mapping[str, Any]:
    """Facts of the envelope that may be shown: versions, options, GPUs, the process group."""
    metadata = recording.metadata
    found: dict[str, Any] = {}
    gpus = len(as_list(metadata.get("deviceProperties")))
    if gpus:
        found["host.gpus"] = gpus
    if isinstance(metadata.get("schemaVersion"), int):
        found["schema_version"] = metadata["schemaVersion"]
    for key in _SHOWN:
        if isinstance(metadata.get(key), int | float):
            found[f"host.{key}"] = metadata[key]
    for key in _OPTIONS:
        if metadata.get(key) is not None:
            found[f"option.{key}"] = int(bool(metadata[key]))
    distributed = as_object(metadata.get("distributedInfo"))
    for key in _DISTRIBUTED:
        value = distributed.get(key)
        if isinstance(value, int | str):
            found[f"distributed.{key}"] = value
    return found


def recorded_rank(recording: Recording) -> int | None:
    """Rank that the file names, else the one that its collectives name."""
    rank: object = as_object(recording.metadata.get("distributedInfo")).get("rank")
    if isinstance(rank, str) and rank.isdecimal():
        rank = int(rank)
    if not isinstance(rank, int) or isinstance(rank, bool):
        return _rank_of_collectives(recording)
    return rank if 0 <= rank < 2**31 else None


def _rank_of_collectives(recording: Recording) -> int | None:
    """The one rank that all collectives with a rank name."""
    table = recording.table("collective")
    if table is None:
        return None
    ranks = np.unique(table["rank"])
    ranks = ranks[(ranks >= 0) & (ranks < 2**31)]
    return int(ranks[0]) if len(ranks) == 1 else None
