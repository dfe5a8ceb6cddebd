"""Differences from TraceLens in the sheets, each taken out alone."""

import json
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kineto_files import call, kernel, op, write_json
from tests.near import near
from tests.rank_files import all_reduces, arguments, collective, write_rank

pytestmark = pytest.mark.usefixtures("lasting_traces")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rank 3. Two calls of an operator with two kernels each, another operator whose kernel runs
    beside the last of them, two collectives, and a kernel without a launch.

    Starts and lengths: 20 30, 50 10 (first call); 100 50, 150 10 (second), and beside that last
    one 150 5."""
    mm: dict[str, Any] = {"Input Dims": [[8, 8]], "Input type": ["float"]}
    events = [
        op("aten::mm", 0, 10, **mm),
        *(call("cudaLaunchKernel", at, 1, n) for n, at in ((1, 2), (2, 5))),
        kernel("long", 20, 30, 1),
        kernel("short", 50, 10, 2),
        op("aten::mm", 80, 10, **mm),
        *(call("cudaLaunchKernel", at, 1, n) for n, at in ((3, 82), (4, 85))),
        kernel("long", 100, 50, 3),
        kernel("short", 150, 10, 4),
        op("aten::add", 92, 4),
        call("cudaLaunchKernel", 93, 1, 5),
        kernel("beside", 150, 5, 5, stream=9),
        *collective(200, 10, 6, arguments((3,))),
        *collective(220, 10, 7, {}),
        kernel("lost", 400, 20, None),
    ]
    path = tmp_path_factory.mktemp("compat") / "trace.json"
    return write_json(path, events, distributedInfo={"rank": 3, "backend": "nccl"})


def rows(run: Run, *words: str | Path) -> list[dict[str, Any]]:
    """Of the one sheet that the command is asked for."""
    result = run(*words, "--json", "-")
    assert result.exit_code == 0, result.output
    [sheet] = json.loads(result.stdout)["sheets"].values()
    found: list[dict[str, Any]] = sheet["rows"]
    return found


def both(run: Run, what: str, *words: str | Path) -> list[list[dict[str, Any]]]:
    """As TraceLens has it, and without this difference."""
    return [rows(run, *words, "--compat", f"tracelens{but}") for but in ("", f",-{what}")]


def test_collectives_of_which_something_is_not_known(run: Run, trace: Path) -> None:
    theirs, ours = both(run, "D33", "report", trace, "--sheet", "coll_analysis")
    assert [row["Collective name"] for row in theirs] == ["allreduce"]
    assert [row["operation_count"] for row in theirs] == [1]
    assert sorted(row["dtype"] or "" for row in ours) == ["", "Float"]


def test_the_rank_of_a_single_file(run: Run, trace: Path) -> None:
    theirs, ours = both(run, "D34", "report", trace, "--sheet", "coll_analysis")
    assert ([row["rank"] for row in theirs], [row["rank"] for row in ours]) == ([0], [3])


def test_kernels_in_percent_of_the_time(run: Run, trace: Path) -> None:
    theirs, ours = both(run, "D36", "report", trace, "--sheet", "kernel_summary")
    percent = "Percent of total time (%)"
    # The last kernel with a launch ends at 230, the one without at 420; the first begins at 20.
    [lost] = [row[percent] for row in theirs if row["Kernel name"] == "lost"]
    assert lost == near(100 * 20 / 210)
    [lost] = [row[percent] for row in ours if row["Kernel name"] == "lost"]
    assert lost == near(100 * 20 / 400)


def test_kernels_of_a_row(run: Run, trace: Path) -> None:
    theirs, ours = both(run, "D38", "report", trace, "--sheet", "ops_unique_args")
    found = {
        name: literal_eval(next(r for r in of if r["name"] == "aten::mm")["kernel_details_summary"])
        for name, of in (("theirs", theirs), ("ours", ours))
    }
    assert [slot["name"] for slot in found["theirs"]] == ["short", "long"]
    assert [slot["name"] for slot in found["ours"]] == ["long", "short"]
    # 30 and 50: off their mean by 10 each; of a sample 200 is divided by one.
    assert found["theirs"][1]["std_dev_duration_us"] == near(10)
    assert found["ours"][0]["std_dev_duration_us"] == near(200**0.5)


def test_overlaps(run: Run, trace: Path) -> None:
    words = ("report", trace, "--sheet", "ops_unique_args_kl_overlap", "--overlap-info")
    theirs, ours = both(run, "D39", *words)
    # The kernel beside lies within the other one's time: all of its own.
    assert [r["overlap_pct_max"] for r in theirs if r["name"] == "aten::add"] == [near(1)]
    assert [r["overlap_pct_max"] for r in ours if r["name"] == "aten::add"] == [near(100)]


def test_groups_of_one_size(run: Run, tmp_path: Path) -> None:
    for rank in range(4):
        pair = (0, 1) if rank < 2 else (2, 3)
        own = arguments(pair, **{"Process Group Name": str(pair[0])})
        write_rank(tmp_path, rank, all_reduces((100.0,), (160.0,), own))
    words = ("collectives", tmp_path, "--sheet", "nccl_summary_implicit_sync")
    theirs, ours = both(run, "D43", *words)
    assert [row["count"] for row in theirs] == [2]
    assert [row["count"] for row in ours] == [1, 1]
