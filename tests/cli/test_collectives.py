"""`dctx collectives` and the files of reports, from the command line."""

import json
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from tests.cli.conftest import Run
from tests.kineto_files import kernel, write_json
from tests.rank_files import all_reduces, arguments, write_rank


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, starts in ((0, (100.0, 300.0)), (1, (150.0, 350.0))):
        write_rank(folder, rank, all_reduces(starts, (160.0, 360.0), arguments((0, 1))))
    return folder


def test_sheets_in_json(run: Run, ranks: Path) -> None:
    result = run("collectives", ranks, "--json", "-")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    rows: list[dict[str, Any]] = document["sheets"]["straggler_summary"]["rows"]
    assert [(row["rank"], row["total_wait_time_us"]) for row in rows] == [(1, 0.0), (0, 100.0)]
    [of_calls] = document["sheets"]["nccl_summary_implicit_sync"]["rows"]
    assert (of_calls["count"], of_calls["Total comm latency (ms)"]) == (2, 0.02)
    assert len(document["sheets"]["nccl_long"]["rows"]) == 4
    assert "nccl_all2allv" in document["missing"]
    assert "not made: nccl_summary_all2allv" in result.stderr


def test_collectives_of_a_part(run: Run, ranks: Path) -> None:
    part = ("--range", "0:0.0001", "--json", "-")  # 100 µs: the first of two, 200 µs apart
    result = run("collectives", ranks, *part)
    assert result.exit_code == 0, result.output
    sheets = json.loads(result.stdout)["sheets"]
    assert [row["rank"] for row in sheets["nccl_long"]["rows"]] == [0, 1]
    assert "launched in it" in next(
        row["value"] for row in sheets["report_info"]["rows"] if row["key"] == "part"
    )
    text = run("collectives", ranks, "--range", "0:0.0001").stdout
    assert text.startswith("2 ranks, 1 collective, 2 communication kernels launched in 0.000000 s")
    both = run("collectives", ranks, "--step", "1", "--range", "0:1")
    assert both.exit_code == 2


def test_kernels_of_ones_own_are_collectives(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "run.json", [kernel("my_ring_sum", 0, 10, None)])
    names = tmp_path / "names.py"
    names.write_text('COMMUNICATION = {"ring_sum": "allreduce"}')
    assert run("collectives", trace, "--sheet", "nccl_long").exit_code == 2
    result = run("collectives", trace, "--sheet", "nccl_long", "--ext", names, "--json", "-")
    assert result.exit_code == 0, result.output
    [row] = json.loads(result.stdout)["sheets"]["nccl_long"]["rows"]
    assert (row["Collective name"], row["dur"]) == ("allreduce", 10.0)


def test_all_kinds_of_files(run: Run, ranks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    files = {
        "xlsx": "w.xlsx",
        "html": "w.html",
        "csv": "csv",
        "parquet": "pq",
        "duckdb": "w.duckdb",
    }
    options = [part for kind, name in files.items() for part in (f"--{kind}", out / name)]
    result = run("collectives", ranks, *options)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    book: Any = openpyxl.load_workbook(out / "w.xlsx")
    names = book.sheetnames
    assert names[0] == "report_info"
    assert "nccl_implicit_sync" in names
    assert sorted(path.stem for path in (out / "csv").iterdir()) == sorted(names)
    assert sorted(path.stem for path in (out / "pq").iterdir()) == sorted(names)
    page = (out / "w.html").read_text(encoding="utf-8")
    assert page.count("<table") == len(names)
    assert "Wait by rank" in page


def test_a_file_that_cannot_be_written_is_one_paragraph(run: Run, ranks: Path) -> None:
    result = run("collectives", ranks, "--html", ranks / "no" / "w.html")
    assert result.exit_code == 2
    assert "cannot be written: No such file or directory" in result.stderr


def test_a_sheet_that_cannot_be_made_is_an_error(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "one.json", [kernel("gemm", 1, 2, 1)])
    result = run("collectives", trace, "--sheet", "nccl_long")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no communication kernels" in result.stderr
    assert run("collectives", trace).exit_code == 0
    assert run("collectives", trace, "--sheet", "none").exit_code == 2


def test_reports_of_two_traces_against_each_other(run: Run, tmp_path: Path) -> None:
    base = write_json(tmp_path / "base.json", [kernel("gemm", 1, 10, None)])
    slow = write_json(tmp_path / "slow.json", [kernel("gemm", 1, 15, None)])
    assert run("report", base, "--csv", tmp_path / "base").exit_code == 0
    result = run("compare-reports", tmp_path / "base", slow, "--names", "a,b", "--json", "-")
    assert result.exit_code == 0, result.output
    sheets = json.loads(result.stdout)["sheets"]
    [row] = sheets["kernel_summary"]["rows"]
    assert row["Kernel duration (µs)_sum__b_diff"] == 5.0
    assert row["Kernel duration (µs)_sum__b_pct"] == 50.0
    assert {"gpu_timeline", "report_info"} <= set(sheets)


def test_reports_need_names_and_steps_that_fit(run: Run, tmp_path: Path) -> None:
    base = write_json(tmp_path / "base.json", [kernel("gemm", 1, 10, None)])
    for names in ("a", "a,a", "a,"):
        assert run("compare-reports", base, base, "--names", names).exit_code == 2
    result = run("compare-reports", base, base, "--per-step")
    assert result.exit_code == 2
    assert "has no steps" in result.stderr


def test_the_text_names_the_late_rank(run: Run, ranks: Path, tmp_path: Path) -> None:
    result = run("collectives", ranks)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "2 ranks, 2 collectives, 4 communication kernels."
    assert "Rank 1 is late: the last in 2 of 2 collectives." in result.stdout
    assert any(line.split()[:2] == ["allreduce", "Float"] for line in lines)
    assert max(map(len, lines)) <= 80
    alone = run("collectives", ranks / "rank0.json").stdout
    assert "1 of 2 ranks are not in the trace (1)" in " ".join(alone.split())
    assert "no other ranks" in alone
    nothing = write_json(tmp_path / "n.json", [kernel("gemm", 1, 2, 1)])
    assert run("collectives", nothing).stdout == "The trace holds no communication kernels.\n"


def test_who_is_late_is_told_by_the_waits_of_the_table(run: Run, tmp_path: Path) -> None:
    # By the clock rank 1 comes 50 us late each time; of the last one the durations show no wait.
    ends = {0: (160.0, 360.0, 560.0), 1: (160.0, 360.0, 610.0)}
    for rank, starts in ((0, (100.0, 300.0, 500.0)), (1, (150.0, 350.0, 550.0))):
        write_rank(tmp_path, rank, all_reduces(starts, ends[rank], arguments((0, 1))))
    text = " ".join(run("collectives", tmp_path).stdout.split())
    assert "The others wait 150 µs in all, it waits 0 ns." in text
    assert "rank 0 150.00 100.00 0 3 3" in text


def test_a_rank_that_is_last_by_chance_is_not_late(run: Run, tmp_path: Path) -> None:
    for rank, starts in ((0, (100.0, 300.0)), (1, (101.0, 301.0))):
        write_rank(tmp_path, rank, all_reduces(starts, (160.0, 360.0), arguments((0, 1))))
    text = " ".join(run("collectives", tmp_path).stdout.split())
    assert (
        "No rank is late by much: rank 1 comes last in 2 of 2 collectives, but by 1.00 µs in the "
        "median."
    ) in text


def test_what_is_read_is_never_written(run: Run, ranks: Path, tmp_path: Path) -> None:
    before = (ranks / "rank0.json").read_bytes()
    for asked in (ranks, ranks / "rank0.json", ranks / "rank*.json"):
        result = run("collectives", asked, "--json", ranks / "rank0.json")
        assert result.exit_code == 2
        assert "is read here" in result.stderr
    assert run("report", ranks / "rank0.json", "--html", ranks / "rank0.json").exit_code == 2
    report = tmp_path / "r.json"
    assert run("report", ranks / "rank0.json", "--json", report).exit_code == 0
    result = run("compare-reports", report, report, "--json", report)
    assert result.exit_code == 2
    folder = tmp_path / "sheets"
    assert run("report", ranks / "rank0.json", "--csv", folder).exit_code == 0
    sheets = {path: path.read_bytes() for path in folder.iterdir()}
    for option in ("--csv", "--parquet"):
        result = run("compare-reports", folder, report, option, folder)
        assert (result.exit_code, "is read here" in result.stderr) == (2, True)
    assert {path: path.read_bytes() for path in folder.iterdir()} == sheets
    assert (ranks / "rank0.json").read_bytes() == before
    assert run("report", ranks / "rank0.json", "--csv", tmp_path / "csv").exit_code == 0
    for _ in range(2):
        again = run("compare-reports", tmp_path / "csv", report, "--json", tmp_path / "d.json")
        assert again.exit_code == 0
    for _ in range(2):  # beside the traces, and again
        assert run("collectives", ranks, "--html", ranks / "page.html").exit_code == 0
