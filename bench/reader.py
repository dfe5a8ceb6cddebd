"""Rows per second of the page reader, against SQLite's C API stepping in one thread."""

import shutil
import subprocess
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from dctx.native._core import SqliteFile

from .generate import bench_dir, export
from .results import Figure

TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
WIDE = ("start", "end", "correlationId", "globalPid")
NARROW = (
    "deviceId", "contextId", "streamId", "demangledName", "shortName", "registersPerThread",
    "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
    "dynamicSharedMemory",
)  # fmt: skip
EIGHT = ("deviceId", "streamId", "demangledName", "shortName")
SOURCE = Path(__file__).with_name("sqlite_step.c")
RATIO_TARGET = 4.0


def _build() -> Path | None:
    """The compiled yardstick, or None where it cannot be built."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    bench_dir().mkdir(parents=True, exist_ok=True)
    program = bench_dir() / "sqlite_step"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        command = [compiler, "-O2", "-o", str(program), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
    return program


def _step(program: Path, path: Path, columns: list[str]) -> tuple[int, float, int]:
    """Rows, seconds and checksum of the SQLite library."""
    command = [str(program.resolve()), str(path), TABLE, *columns]
    rows, seconds, total = subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.split()
    return int(rows), float(seconds), int(total)


def _read(
    path: Path, wide: tuple[str, ...], narrow: tuple[str, ...], threads: int
) -> tuple[int, float, int]:
    """The same of the page reader; summing is not part of its time."""
    begin = perf_counter()
    result = SqliteFile(str(path)).read(
        TABLE, [*((n, "i64") for n in wide), *((n, "i32") for n in narrow)],
        nulls=dict.fromkeys((*wide, *narrow), 0), threads=threads,
    )  # fmt: skip
    seconds = perf_counter() - begin
    total = sum(int(np.sum(result.array(name), dtype=np.int64)) for name in (*wide, *narrow))
    return result.rows, seconds, total % (1 << 64)


def run(kernels: int, repeats: int) -> list[Figure]:
    """Both readers in turn on the kernel table, with 18 and with 8 columns."""
    path = export(kernels)
    program = _build()
    figures: list[Figure] = []
    for narrow, label in ((NARROW, "18 columns"), (EIGHT, "8 columns")):
        columns = [*WIDE, *narrow]
        ours: list[float] = []
        single: list[float] = []
        library: list[float] = []
        rows = 0
        for _ in range(repeats):
            rows, seconds, total = _read(path, WIDE, narrow, 0)
            ours.append(seconds)
            single.append(_read(path, WIDE, narrow, 1)[1])
            if program is not None:
                checked = _step(program, path, columns)
                if (rows, total) != (checked[0], checked[2]):
                    raise AssertionError(f"the readers disagree on {label}")
                library.append(checked[1])
        rate = rows / median(ours) / 1e6
        figures.append(Figure(f"page reader, {label}", rate, "M rows/s"))
        figures.append(
            Figure(f"page reader, {label}, one thread", rows / median(single) / 1e6, "M rows/s")
        )
        if not library:
            figures.append(Figure(f"SQLite C API, {label}", None, "M rows/s", note="no compiler"))
            continue
        step_rate = rows / median(library) / 1e6
        figures.append(Figure(f"SQLite C API, {label}", step_rate, "M rows/s"))
        figures.append(
            Figure(
                f"page reader / SQLite, {label}", rate / step_rate, "x",
                at_least=RATIO_TARGET if narrow is NARROW else None,
            )
        )  # fmt: skip
    return figures
