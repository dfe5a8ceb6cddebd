"""What the views of an export will lack, and how to record it."""

from __future__ import annotations

from ..capabilities import Capability
from ..model import GpuKind
from . import nvtx as nvtx_tables
from .notes import Findings
from .reader import TableReader


def capabilities(reader: TableReader, found: Findings) -> dict[Capability, str]:
    """For each capability why it is not there; empty where it is."""
    work = any(number for kind, number in found.ops.items() if kind is not GpuKind.SYNC)
    return {
        Capability.GPU_WORK: "" if work else _no_work(found),
        Capability.LAUNCHES: ""
        if found.calls
        else "no CUDA calls were recorded: record with --trace=cuda to see who launches the GPU "
        "work.",
        Capability.ANNOTATIONS: "" if found.annotations else _no_annotations(reader),
        Capability.MEMORY: ""
        if found.memory
        else "recorded without --cuda-memory-usage=true, or nothing was allocated.",
    }


def _no_work(found: Findings) -> str:
    advice = (
        "record it again with CUDA tracing on (nsys profile --trace=cuda,nvtx,osrt) and let it end "
        "by itself, so that the profiler can flush its buffers."
    )
    if found.calls:
        return f"CUDA was called, so the capture has a problem: {advice}"
    return f"if the program did use the GPU, {advice}"


def _no_annotations(reader: TableReader) -> str:
    if reader.find(nvtx_tables.TABLE, nvtx_tables.REQUIRED) is None:
        return "no NVTX in the file: record with --trace=nvtx to see phases and steps."
    return "the program set no NVTX ranges: set them around phases and steps."
