"""Measured figures, their targets, and how they are printed and kept."""

import json
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; None with a note when it could not be measured."""

    name: str
    value: float | None
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the target is met; None without a target or a value."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        low_enough = self.at_most is None or self.value <= self.at_most
        return low_enough and (self.at_least is None or self.value >= self.at_least)

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else ""


def machine() -> dict[str, object]:
    """What the figures depend on besides the code."""
    model = ""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cpu": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in ("dctx", "duckdb", "numpy", "textual")},
        "load": os.getloadavg(),
    }


def show(figures: Sequence[Figure], console: Console) -> None:
    """Print a table of measured and target values."""
    table = Table(title="dctx benchmarks", title_justify="left")
    for heading, side in (("what", "left"), ("measured", "right"), ("target", "right")):
        table.add_column(heading, justify="left" if side == "left" else "right")
    table.add_column("unit")
    table.add_column("reached")
    table.add_column("note", style="dim")
    marks = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}
    for figure in figures:
        value = "n/a" if figure.value is None else f"{figure.value:.4g}"
        table.add_row(
            figure.name, value, figure.target, figure.unit, marks[figure.reached], figure.note
        )
    console.print(table)


def save(figures: Sequence[Figure], before: dict[str, object]) -> Path:
    """Write the figures and the machine as JSON; returns the file."""
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y%m%dT%H%M%S}.json"
    content = {
        "time": now.isoformat(timespec="seconds"),
        "machine": before,
        "load_after": os.getloadavg(),
        "figures": [asdict(figure) | {"reached": figure.reached} for figure in figures],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
