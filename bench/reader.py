"""Rows per second of the page reader, against SQLite's C API stepping in one thread."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter, process_time
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Scan:
    """One pass over the table: what was read, and what it took by the clock and of the cores."""

    rows: int
    checksum: int
    seconds: float
    cpu_s: float


def _step(program: Path, path: Path, columns: list[str]) -> Scan:
    """The SQLite library in a process of its own."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [str(program.resolve()), str(path), TABLE, *columns]
    rows, seconds, checksum = subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.split()
    after = getrusage(RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Scan(int(rows), int(checksum), float(seconds), cpu_s)


def _read(path: Path, wide: tuple[str, ...], narrow: tuple[str, ...], threads: int) -> Scan:
    """The page reader; the checksum is not part of its time."""
    columns: list[tuple[str, Literal["i64", "i32"]]] = [
        *((name, "i64") for name in wide), *((name, "i32") for name in narrow)
    ]  # fmt: skip
    begin, cpu_begin = perf_counter(), process_time()
    result = SqliteFile(str(path)).read(
        TABLE, columns, nulls=dict.fromkeys((*wide, *narrow), 0), threads=threads
    )
    seconds, cpu_s = perf_counter() - begin, process_time() - cpu_begin
    total = sum(int(np.sum(result.array(name), dtype=np.int64)) for name, _ in columns)
    return Scan(result.rows, total % (1 << 64), seconds, cpu_s)


def run(kernels: int, repeats: int) -> list[Figure]:
    """Both readers in turn on the kernel table, with 18 and with 8 columns."""
    path = export(kernels)
    program = _build()
    figures: list[Figure] = []
    for narrow, label in ((NARROW, "18 columns"), (EIGHT, "8 columns")):
        ours: list[Scan] = []
        single: list[Scan] = []
        library: list[Scan] = []
        for _ in range(repeats):
            ours.append(_read(path, WIDE, narrow, 0))
            single.append(_read(path, WIDE, narrow, 1))
            if program is not None:
                library.append(_step(program, path, [*WIDE, *narrow]))
        if len({(scan.rows, scan.checksum) for scan in (*ours, *single, *library)}) > 1:
            raise AssertionError(f"the readers disagree on {label}")
        figures += _figures(label, ours, single, library, targeted=narrow is NARROW)
    return figures


def _figures(
    label: str, ours: list[Scan], single: list[Scan], library: list[Scan], *, targeted: bool
) -> list[Figure]:
    def rate(scans: list[Scan]) -> float:
        return median(scan.rows / scan.seconds for scan in scans) / 1e6

    figures = [
        Figure(f"page reader, {label}", rate(ours), "M rows/s"),
        Figure(f"page reader, {label}, one thread", rate(single), "M rows/s"),
    ]
    if not library:
        return [*figures, Figure(f"SQLite C API, {label}", None, "M rows/s", note="no compiler")]
    cpu = median(s.cpu_s for s in library) / median(s.cpu_s for s in single)
    return [
        *figures,
        Figure(f"SQLite C API, {label}", rate(library), "M rows/s"),
        Figure(f"page reader / SQLite, {label}", rate(ours) / rate(library), "x",
               at_least=RATIO_TARGET if targeted else None),
        Figure(f"one thread / SQLite, {label}, by CPU time", cpu, "x"),
    ]  # fmt: skip
