"""Sheets of ours beside those that TraceLens wrote: every numeric column."""

import csv
from ast import literal_eval
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

from tests.near import near

NOT_HERE = {"coll_analysis"}
"""Sheets that other tests are for."""
TIMED = {"gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
         "unified_perf_summary"}  # fmt: skip
"""Sheets that hold nothing without the links between launches and work."""

_KEYS = {
    "gpu_timeline": ["type"],
    "ops_summary_by_category": ["op category"],
    "ops_summary": ["name", "Categories"],
    "kernel_summary": ["Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream"],
    "short_kernels_summary": ["Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs",
                              "Kernel name"],
}  # fmt: skip
_ARGUMENTS = ["name", "op category", "Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
_OWN = ("UID", "ex_UID", "process", "thread", "Cumulative", "perf_params", "first_occurrence")
"""Numbers of events and names of threads: each tool has its own. Texts of parameters differ in
their order; the sheets of families compare them one by one."""
_RATES = ("TB/s", "TFLOPS/s", "Pct Roofline")


def compare_sheet(
    path: Path,
    found: list[dict[str, Any]],
    *,
    times: bool = True,
) -> bool:
    """Every row and number of the reference is in our sheet. False: there is nothing to compare.
    `times`: compare those of GPU work too."""
    with path.open(encoding="utf-8", newline="") as text:
        reader = csv.DictReader(text)
        expected = list(reader)
        columns = list(reader.fieldnames or ())
    name = path.stem
    # A sheet without rows has headings of another kind.
    if not expected or (name == "short_kernels_summary" and "Kernel name" not in columns):
        return False
    assert found, name
    wanted = [c for c in columns if "first_occurrence" not in c and c != "param: transpose"]
    assert set(wanted) <= set(found[0]), name
    # TraceLens has the parameters of a GEMM in the order of its first call's.
    loose = "param:" if name == "GEMM" else "no such column"
    placed = [c for c in columns if c in found[0] and not c.startswith(loose)]
    assert [c for c in found[0] if c in placed] == placed, name
    parameters = [c for c in columns if c.startswith("param:") and c in found[0]]
    keys = [k for k in _KEYS.get(name, [*_ARGUMENTS, *parameters]) if k in columns]
    ours: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        ours[tuple(_literal(row[k]) for k in keys)].append(row)
    assert len(expected) == len(found), name
    for row in expected:
        candidates = ours[tuple(_literal(row[k]) for k in keys)]
        assert candidates, (name, [row[k] for k in keys])
        mine = candidates.pop(0)
        for column, text in row.items():
            timed = any(word in column for word in ("Kernel Time", "Percent", *_RATES))
            skip = column in keys or column not in mine or column.startswith(_OWN)
            if not skip and (times or not timed):
                _compare_value(name, column, text, mine[column], row)
    return True


def _compare_value(name: str, column: str, text: str, value: Any, row: dict[str, str]) -> None:
    if not text or value is None:
        assert (not text) == (value is None), (name, column, text, value, row)
        return
    if isinstance(value, str | bool):
        assert str(value) == text or column.endswith("_first"), (name, column, text, value)
        return
    # TraceLens adds microseconds as floating-point numbers: half a ns an event.
    count = next((int(float(row[c])) for c in row if "ount" in c), 1)
    is_time = any(word in column for word in ("µs", "kernel_time", "duration"))
    slack = 0.0005 * count if is_time else 1e-3 if " ms" in column else 0.0
    slack = 5e-2 if "ercent" in column else slack
    relative = 1e-5
    if column.startswith(_RATES):
        shortest = float(row["Kernel Time (µs)_min"]) or float(row["Kernel Time (µs)_mean"]) or 1
        relative += 0.001 / shortest
        if column.endswith("_std"):
            slack = 2 * relative * float(row[column.removesuffix("std") + "max"])
    assert value == near(float(text), rel=relative, abs=slack), (name, column, row)


def _literal(value: Any) -> str:
    """A cell in one form, whether lists or tuples, numbers or texts of them."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        try:
            return repr(_plain(literal_eval(value)))
        except (ValueError, SyntaxError):
            return str(value)
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in cast("list[Any]", value))
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
