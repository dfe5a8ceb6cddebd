"""Which CSV files of rocprofv3 are of one process, and what each process recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...native import StringPool
from ..account import RowAccount
from ..csv_head import SUMS, csv_table, run_in_name
from ..errors import TraceError
from ..inputs import Source
from ..model import Severity
from ..parallel import scan_all
from ..progress import Progress
from .csv_rows import CsvRows, read_rows
from .csv_run import read_run
from .recording import Recording

_PASS: Final = re.compile(r"pass_\d+")
_LARGEST_PID: Final = 2**22
"""Of Linux: a greater number at the end of a file's name, such as a date, is none."""


@dataclass(frozen=True, slots=True)
class CsvRun:
    """One process."""

    source: Source
    """The first of its files: what its rank is told by."""
    found: Recording


def read_runs(sources: Sequence[Source], pool: StringPool, progress: Progress) -> list[CsvRun]:
    """The processes that the files are of. TraceError where nothing in them tells what ran."""
    groups = _grouped(sources)
    for label, files in groups:
        _check(label, files)
    read = [file for _, files in groups for file in files if csv_table(file.head) != SUMS]
    if not read:
        return []
    found = scan_all(read, read_rows, progress, "Reading events", 0.0, 0.4)
    tables = dict(zip(read, found, strict=True))
    return [
        _run(label, files, [tables[file] for file in files if file in tables], pool)
        for label, files in groups
    ]


def _grouped(sources: Sequence[Source]) -> list[tuple[str, list[Source]]]:
    """The files of each process, with what their names have in common."""
    groups: dict[tuple[str, str, int], list[Source]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for source in sources:
        folder, label, table = (
            str(source.path.parent),
            run_in_name(source.path.name) or "",
            csv_table(source.head),
        )
        # Calls of several interfaces are of one table; of others a process has one file.
        again = 0
        if table != "api_trace":
            key = (folder, label, str(table))
            again = seen[key] = seen.get(key, -1) + 1
        groups.setdefault((folder, label, again), []).append(source)
    return [(label or files[0].label, files) for (_, label, _), files in groups.items()]


def _run(label: str, files: list[Source], tables: list[CsvRows], pool: StringPool) -> CsvRun:
    account, lost = RowAccount(), 0
    for rows in tables:
        account.read.add(rows.table)
        account.rows[rows.table] = account.rows.get(rows.table, 0) + rows.count + rows.lost
        account.leave_out(rows.table, "cut", rows.lost)
        lost += rows.lost
    own = label.rpartition("_")[2]
    pid = int(own) if own.isdecimal() and int(own) <= _LARGEST_PID else None
    found = read_run(tables, account, label, pool, pid)
    found.machine = _machine(files[0])
    if lost:
        text = f"{label}: {lost} rows are cut or have too many columns; the others are shown."
        found.notes.append((Severity.WARNING, "import", text))
    return CsvRun(files[0], found)


def _machine(source: Source) -> str:
    """rocprofv3 names the folder by the host, unless it was told one; passes are of one host."""
    folder = source.path.parent
    return folder.parent.name if _PASS.fullmatch(folder.name) else folder.name


def _check(label: str, files: Sequence[Source]) -> None:
    """TraceError where nothing is told that ran."""
    first, tables = files[0].path, {csv_table(file.head) for file in files}
    if not tables - {"agent_info", SUMS}:
        what = "the file tells of the machine, or sums, and of nothing that ran."
        raise TraceError(first, what, _remedy(label))
    if "pc_sampling" in tables and not tables & {"kernel_trace", "counter_collection"}:
        what = (
            "it has samples of instructions by the number of the dispatch, and no kernel trace "
            "is there that tells which kernel each is."
        )
        raise TraceError(first, what, _remedy(label))


def _remedy(label: str) -> str:
    pattern = "*.csv" if ".csv" in label else f"{label}_*.csv"
    return (
        f"Open all files of the run: dctx-tui {pattern}. Where there is no kernel trace, "
        "record with rocprofv3 --kernel-trace as well."
    )
