"""GPU work of this process: whether it can be recorded, and what is said when it cannot."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..native._core import Gpu
from .options import Options

_OK: Final = 0
_NO_DRIVER: Final = -3
_PLACES: Final = ("nvidia/cu{major}/lib", "nvidia/cuda_cupti/lib", "torch/lib")
_MAJORS: Final = (13, 12)


@dataclass(frozen=True, slots=True)
class GpuStart:
    """What came of the start."""

    version: str = ""
    """What records, as `CUPTI 13.0`; empty when nothing does."""
    trouble: str = ""
    """Why nothing does; empty when that is what was asked for, or there is no GPU to speak of."""


def start_gpu(options: Options) -> GpuStart:
    """Begin to record GPU work, as asked. Nothing of it reaches the program."""
    if options.gpu == "off" or "gpu" not in options.sources:
        return GpuStart()
    provider = "rocprofiler" if options.gpu == "rocprofiler" else "cupti"
    libraries = cupti_libraries(sys.path) if provider == "cupti" else []
    found = Gpu.probe(provider, libraries)
    if found.status == _NO_DRIVER and options.gpu in ("auto", "yield"):
        return GpuStart()
    if found.status == _OK:
        found = Gpu.open(
            provider,
            libraries,
            whole_graphs=options.graphs == "launch",
            samples=options.samples,
            sample_period=options.sample_period,
        )
    if found.status == _OK:
        return GpuStart(version=Gpu.versions())
    return GpuStart(trouble=f"GPU work is not recorded: {found.reason}")


def refusal(options: Options) -> str:
    """Why a program for which GPU work must be recorded cannot start; empty when it can."""
    started = start_gpu(options)
    Gpu.close()
    return started.trouble


def cupti_libraries(path: list[str]) -> list[str]:
    """The copies of CUPTI that the torch of this Python would load, best first: what has its
    name already is what torch gets. `path`: folders of packages. Nothing is imported."""
    folders = [Path(folder) for folder in path if folder]
    majors = list(_MAJORS)
    wanted = next((m for folder in folders if (m := _torch_cuda(folder)) is not None), None)
    if wanted in majors:
        majors.remove(wanted)
        majors.insert(0, wanted)
    files = [
        folder / place.format(major=major) / f"libcupti.so.{major}"
        for major in majors
        for folder in folders
        for place in _PLACES
    ]
    return [str(file) for file in files if file.is_file()]


def _torch_cuda(folder: Path) -> int | None:
    """The major version of CUDA that a torch in this folder was built for."""
    try:
        text = (folder / "torch" / "version.py").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^cuda[^=]*=\s*['\"](\d+)\.", text, re.MULTILINE)
    return None if found is None else int(found[1])
