"""Reports row against row: pairing, sums, and reading back what was written."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.report_diff import SPECS, diff
from dctx.analyzers.report_rules import TRACELENS
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from dctx.reports.diff_sheets import diff_info, diff_sheets
from dctx.reports.failures import UserError
from dctx.reports.read_sheets import is_report, read_sheets
from dctx.reports.report_sheets import report_sheets
from dctx.reports.sheet_context import SheetOptions
from dctx.reports.sheet_files import write_csv_folder, write_json_sheets
from dctx.reports.sheets import Column, Sheet
from dctx.reports.table_files import write_database, write_parquet_folder
from dctx.reports.workbook import write_workbook
from tests.near import near

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
REFERENCE = TRACES / "expected" / "tracelens" / "compare-h100-mi300x-qwen"

SUM, COUNT, MEAN, STD = (f"Kernel duration (µs)_{w}" for w in ("sum", "count", "mean", "std"))


def kernels(*rows: tuple[Any, ...]) -> Sheet:
    """Operator, kernel, sum, count, standard deviation."""
    ops, names, sums, counts, stds = zip(*rows, strict=True)
    return Sheet(
        "kernel_summary",
        [
            Column("Parent cpu_op", ops),
            Column("Kernel name", names),
            Column(SUM, sums, "µs"),
            Column(COUNT, counts),
            Column(MEAN, [s / c for s, c in zip(sums, counts, strict=True)], "µs"),
            Column(STD, stds, "µs"),
        ],
    )


def operators(*rows: tuple[str, str, float, int]) -> Sheet:
    """Name, strides, sum, count."""
    names, strides, sums, counts = zip(*rows, strict=True)
    return Sheet(
        "ops_unique_args",
        [
            Column("name", names),
            Column("Input type", ["('float',)"] * len(rows)),
            Column("Input Dims", ["((8, 8),)"] * len(rows)),
            Column("Input Strides", strides),
            Column("Concrete Inputs", [None] * len(rows)),
            Column("operation_count", counts),
            Column("total_direct_kernel_time_sum", sums, "µs"),
        ],
    )


def rows_of(sheet: Sheet) -> list[dict[str, Any]]:
    return [dict(zip(sheet.headings, row, strict=True)) for row in sheet.rows()]


def compared(*reports: Sheet, **options: Any) -> dict[str, Sheet]:
    tags = ["base", "new", "other"][: len(reports)]
    made, _ = diff_sheets(tags, [{sheet.name: sheet} for sheet in reports], **options)
    return {sheet.name: sheet for sheet in made}


def test_rows_with_one_key_are_added_up_first() -> None:
    base = kernels(("mm", "gemm", 10.0, 2, 1.0), ("addmm", "gemm", 30.0, 2, 1.0))
    new = kernels(("mm", "gemm", 20.0, 2, None), ("linear", "gemm", 5.0, 1, None))
    [row] = rows_of(compared(base, new)["kernel_summary"])
    assert (row[f"base::{SUM}"], row[f"new::{SUM}"]) == (40.0, 25.0)
    assert (row[f"{SUM}__new_diff"], row[f"{SUM}__new_pct"]) == (-15.0, near(-37.5))
    assert row[f"{MEAN}__new_diff"] == near(25 / 3 - 10)
    assert (row[f"base::{COUNT}"], row[f"{COUNT}__new_diff"]) == (4, -1)
    # 5, 5 and 15, 15, each pair with a standard deviation of 1: squares are 2 * 1 + 4 * 25.
    assert row[f"base::{STD}"] == near((102 / 3) ** 0.5)
    assert "base::Parent cpu_op" not in row  # two operators: no single name


def test_the_largest_change_is_first_and_nothing_is_lost() -> None:
    base = kernels(("a", "x", 10.0, 1, None), ("a", "y", 50.0, 1, None), ("a", "z", 9.0, 1, None))
    new = kernels(("a", "x", 11.0, 1, None), ("a", "y", 20.0, 1, None), ("a", "w", 5.0, 1, None))
    rows = rows_of(compared(base, new)["kernel_summary"])
    assert [row["Kernel name"] for row in rows] == ["y", "z", "w", "x"]
    for tag, total in (("base", 69.0), ("new", 36.0)):
        assert sum(row[f"{tag}::{SUM}"] or 0 for row in rows) == total
    gone = rows[1]
    assert (gone[f"{SUM}__new_diff"], gone[f"{SUM}__new_pct"]) == (None, None)


def test_rows_of_operators_are_parted() -> None:
    base = operators(("mm", "(1,)", 10.0, 2), ("add", "(1,)", 4.0, 1))
    new = operators(("mm", "(1,)", 12.0, 2), ("mul", "(1,)", 3.0, 1))
    found = compared(base, new)
    assert [sheet.rows().__next__()[0] for sheet in found.values()] == ["mm", "add", "mul"]
    assert list(found) == [
        "ops_unique_args_intersect_new",
        "ops_unique_args_only_baseline_new",
        "ops_unique_args_only_variant_new",
    ]


def test_keys_can_be_ignored() -> None:
    base = operators(("mm", "(1,)", 10.0, 2))
    new = operators(("mm", "(8,)", 12.0, 2), ("mm", "(9,)", 1.0, 1))
    assert "ops_unique_args_intersect_new" not in compared(base, new)
    [row] = rows_of(compared(base, new, without=["Input Strides"])["ops_unique_args_intersect_new"])
    assert row["total_direct_kernel_time_sum__new_diff"] == 3.0


def test_sums_per_step_and_small_rows() -> None:
    base = kernels(("a", "x", 100.0, 10, None), ("a", "y", 1.0, 1, None))
    new = kernels(("a", "x", 60.0, 5, None), ("a", "y", 1.0, 1, None))
    rows = rows_of(compared(base, new, per=[10, 5], least_us=1)["kernel_summary"])
    assert [row["Kernel name"] for row in rows] == ["x"]
    assert (rows[0][f"base::{SUM}"], rows[0][f"new::{SUM}"]) == (10.0, 12.0)
    assert rows[0][f"{COUNT}__new_diff"] == 0
    assert rows[0][f"{MEAN}__new_diff"] == near(2)  # a mean is not per step


def test_changes_beyond_noise_are_marked() -> None:
    base = kernels(("a", "x", 100.0, 10, 1.0), ("a", "y", 100.0, 10, 50.0))
    new = kernels(("a", "x", 120.0, 10, 1.0), ("a", "y", 120.0, 10, 50.0))
    rows = rows_of(compared(base, new)["kernel_summary"])
    assert {row["Kernel name"]: row["signif__new"] for row in rows} == {"x": "yes", "y": "no"}


def test_several_reports_and_what_one_of_them_lacks() -> None:
    one, two = kernels(("a", "x", 1.0, 1, None)), kernels(("a", "x", 3.0, 1, None))
    made, missing = diff_sheets(
        ["a", "b", "c"],
        [{"kernel_summary": one, "gpu_timeline": one}, {"kernel_summary": two}, {}],
    )
    [sheet] = made
    [row] = rows_of(sheet)
    assert (row[f"{SUM}__b_diff"], row[f"{SUM}__c_diff"]) == (2.0, None)
    assert list(missing) == ["gpu_timeline"]


def test_other_scopes_are_told() -> None:
    def info(scope: str) -> dict[str, Sheet]:
        columns = [Column("key", ["scope"]), Column("value", [scope])]
        return {"report_info": Sheet("report_info", columns)}

    told = rows_of(diff_info(["a", "b"], ["x", "y"], [info("all"), info("linked")]))
    assert [r["value"] for r in told if r["key"] == "warning"] == [
        "the reports count differently (scope): a: all; b: linked"
    ]
    same = rows_of(diff_info(["a", "b"], ["x", "y"], [info("all"), info("all")]))
    assert not [r for r in same if r["key"] == "warning"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "duckdb", "xlsx"])
def test_what_was_written_is_read_back(tmp_path: Path, kind: str) -> None:
    sheet = kernels(("a", "x", 1.5, 1, None), ("b, c", 'y"', 2.25, 3, 0.5))
    sheet.columns.append(Column("param: bias", [True, False]))
    path = tmp_path / f"report.{kind}"
    if kind == "csv":
        write_csv_folder([sheet], path)
    elif kind == "parquet":
        write_parquet_folder([sheet], path)
    elif kind == "duckdb":
        write_database([sheet], path)
    elif kind == "xlsx":
        write_workbook([sheet], path)
    else:
        with path.open("w", encoding="utf-8") as file:
            write_json_sheets([sheet], {}, file)
    assert is_report(path)
    assert rows_of(read_sheets(path)["kernel_summary"]) == rows_of(sheet)
    assert diff(SPECS["kernel_summary"], [{c.name: c.values for c in sheet.columns}] * 2).rows


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"sheets": {"x": 3}}'),
        ("b.json", '{"sheets": '),
        ("c.duckdb", "no database"),
        ("d.duckdb", None),
        ("e.xlsx", "PK"),
    ],
)
def test_what_is_no_report_is_one_paragraph(tmp_path: Path, name: str, text: str | None) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert is_report(path)
    with pytest.raises(UserError, match=name):
        read_sheets(path)


def test_a_trace_is_no_report(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"traceEvents": []}', encoding="utf-8")
    assert not is_report(trace)
    assert not is_report(tmp_path)
    assert not is_report(tmp_path / "nothing.json")


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="DCTX_TRACES names no folder with traces")
def test_differences_are_those_of_tracelens() -> None:
    reports: list[dict[str, Sheet]] = []
    for name in ("h100", "mi300x"):
        store = open_trace(TRACES / "torch" / f"{name}-qwen1.5-0.5b.json.gz", cache=False)
        made, _ = report_sheets(Trace(store), SheetOptions(TRACELENS, tracelens=True))
        store.close()
        reports.append({sheet.name: sheet for sheet in made})
    made, _ = diff_sheets(["h100", "mi300x"], reports)
    found = {sheet.name: rows_of(sheet) for sheet in made}
    for name, keys in (
        ("ops_summary", ["name"]),
        ("ops_unique_args_intersect_mi300x", [*SPECS["ops_unique_args"].keys]),
        ("GEMM_intersect_mi300x", ["name", "param: M", "param: N", "param: K", "param: B"]),
    ):
        ours = {tuple(str(row[key]) for key in keys): row for row in found[name]}
        with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows
        for row in rows:
            mine = ours[tuple(row[key] for key in keys)]
            for column, value in row.items():
                if value and "kernel_time" in column.lower() and column.endswith("_diff"):
                    assert mine[column] == near(float(value), rel=1e-4, abs=0.2), (name, column)
