"""`dctx compare --paths --kernels --ops`: both traces row against row."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from dctx.demo_data.llm_recipe import VARIANTS
from tests.cli.conftest import Run
from tests.cli.test_host_commands import check, fits
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
BASE, MAIN = (DEMO / variant.file for variant in VARIANTS)

pytestmark = pytest.mark.usefixtures("lasting_traces")


def test_the_merged_tree_as_text(run: Run) -> None:
    done = run("compare", BASE, MAIN, "--paths", "--kernels", "--ops")
    assert (done.exit_code, done.stderr) == (0, "")
    text = done.stdout
    assert fits(text)
    plain = run("compare", BASE, MAIN).stdout
    assert text.startswith(plain)  # what follows is added, nothing changes
    added = text.removeprefix(plain)
    for line in (
        "Call paths, host time, µs per step",
        "  +234.0  ±26.2    36.4   270.4   +642.9       · · · _fetch_new_requests",
        "  +121.0  ±10.5       -   121.0          new   · · · · _write_finish_reasons",
        "   +20.0  ±0.1 10.9   30.9 +183.1  vectorized_elementwise_kernel",
        "   +57.1  ±0.3 22.6   79.7 +252.7  cudaLaunchKernel",
    ):
        assert line in added.splitlines()
    assert "GPU work by name, host time" not in added


@pytest.mark.parametrize(
    ("option", "titles"),
    [
        ("--paths", ["call_paths"]),
        ("--kernels", ["gpu_work_by_name", "collectives"]),
        ("--ops", ["operations_by_name", "ranges_by_name", "api_calls_by_name"]),
    ],
)
def test_json_has_every_row_and_its_sums(run: Run, option: str, titles: list[str]) -> None:
    document = json.loads(run("compare", BASE, MAIN, "--json", option).stdout)
    assert set(document["dctx"]["side_by_side"]) == set(titles)
    check(document, "verdictDocument")
    found = document["dctx"]["side_by_side"]
    assert list(found) == titles
    for part in found.values():
        assert part["per"] == "step"
        rows = part["rows"]
        for metric in ("host_us", "gpu_us", "calls", "launches", "kernels", "samples", "bytes"):
            if metric.removesuffix("_us") in part["missing"]:
                continue
            own = sum(row[metric]["delta_self"] for row in rows)
            roots = sum(row[metric]["delta"] for row in rows if row["parent"] is None)
            assert own == near(roots, abs=1e-6)
    assert "side_by_side" not in json.loads(run("compare", BASE, MAIN, "--json").stdout)["dctx"]


def test_markdown_names_are_code(run: Run) -> None:
    text = run("compare", BASE, MAIN, "--md", "--paths").stdout
    assert "<details open><summary>Call paths, host time, µs per step</summary>" in text
    assert "| · · · `broadcast_requests` |" in text


def test_a_trace_with_itself(run: Run) -> None:
    done = run("compare", MAIN, MAIN, "--paths", "--ops")
    assert "Call paths, host time, µs per step: no change beyond 8.0 µs." in done.stdout
    assert "API calls by name, own GPU time, µs per step: no change beyond 8.0 µs." in done.stdout


def test_the_page_never_goes_over_a_trace(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "a.sqlite"
    before = BASE.read_bytes()
    trace.write_bytes(before)
    (tmp_path / "page.html").symlink_to(trace)
    for page in (trace, tmp_path / "page.html"):
        done = run("compare", MAIN, trace, "--html", page)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "is read here" in done.stderr
        assert trace.read_bytes() == before


def test_a_page_of_many_rows_says_how_many_are_left_out(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dctx.reports.compare_html._MOST_ROWS", 5)
    page = tmp_path / "d.html"
    assert run("compare", BASE, MAIN, "--html", page).exit_code == 0
    assert "more rows are not shown here: --json with --paths" in page.read_text(encoding="utf-8")


def test_a_whole_run_beside_figures_per_step_is_marked(run: Run, export: Path) -> None:
    text = run("compare", BASE, MAIN, export).stdout
    [heading] = [line for line in text.splitlines() if line.endswith(" figure")]
    assert heading.split() == ["base", "[1]", "%", "[2]", "run", "%", "figure"]
    same = run("compare", BASE, MAIN, MAIN).stdout
    assert "[2] run" not in same
