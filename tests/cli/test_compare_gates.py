"""`dctx compare` with rules, several targets and pages."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.llm_recipe import VARIANTS
from tests.analyzers.test_pairing import serving
from tests.cli.conftest import Run
from tests.cli.test_host_commands import check, fits
from tests.kineto_files import kernel, write_json
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
BASE, MAIN = (DEMO / variant.file for variant in VARIANTS)

pytestmark = pytest.mark.usefixtures("lasting_traces")


def test_rules_fail_with_figures(run: Run) -> None:
    done = run("compare", BASE, MAIN, "--fail-on", "kernel_time>+3%,gap_time>+50us,launches>400")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "dctx: gate failed: kernel_time>+3%: +5.27 % (626.6 µs → 659.6 µs)",
        "dctx: gate failed: gap_time>+50us: +493.4 µs (1,817.1 µs → 2,310.5 µs)",
    ]
    assert run("compare", BASE, MAIN, "--fail-on", "kernel_time>+6%").exit_code == 0
    assert run("compare", MAIN, BASE, "--fail-on", "kernel_time>+3%").exit_code == 0
    detail = run("compare", BASE, MAIN, "--fail-on", "kernel_time>+3%", "--exit-detail")
    assert detail.exit_code == 13


def test_rules_in_json(run: Run) -> None:
    done = run("compare", BASE, MAIN, "--json", "--fail-on", "kernel_time>+3%,copy_bytes>+1B")
    document = json.loads(done.stdout)
    check(document, "verdictDocument")
    failed, held = document["dctx"]["rules"]
    assert (failed["figure"], failed["failed"], failed["limit"]) == ("kernel_time", True, 3)
    assert failed["value"] == near(5.267, abs=1e-3)
    assert (held["failed"], held["value"], held["unit"]) == (False, 0, "bytes")
    assert document["dctx"]["figures"]["wall_time"]["percent"] == near(19.903, abs=1e-3)


def test_what_no_gate_can_tell_does_not_pass(run: Run, tmp_path: Path) -> None:
    base = serving(tmp_path / "a.sqlite")
    done = run("compare", base, base, "--fail-on", "samples>+3%")
    assert done.exit_code == 2
    assert done.stderr == (
        "dctx: error: gate not checked: samples>+3%: n/a, no CPU samples were recorded\n"
    )
    # A gate that failed says more than one that could not be checked.
    slower = serving(tmp_path / "b.sqlite", gap=1_500)
    done = run("compare", base, slower, "--fail-on", "samples>+3%,gap_time>+3%")
    assert done.exit_code == 1


def test_rules_where_nothing_of_the_host_was_recorded(run: Run, tmp_path: Path) -> None:
    gpu = write_json(tmp_path / "gpu.json", [kernel("gemm", 1, 10, None)])
    done = run("compare", gpu, gpu, "--fail-on", "launches>+1")
    assert done.exit_code == 2
    assert done.stderr.startswith("dctx: error: gate not checked: launches>+1: n/a, ")


def test_unknown_figures_are_bad_usage(run: Run) -> None:
    done = run("compare", BASE, MAIN, "--fail-on", "speed>+3%")
    assert done.exit_code == 2
    assert "no figure of a comparison is called 'speed'" in done.stderr
    assert done.stdout == ""
    done = run("verdict", MAIN, "--fail-on", "kernel_time>+3%")
    assert done.exit_code == 2


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("three")
    ops = {"_schedule": 100.0}
    return [
        serving(folder / "base.sqlite", ops=ops),
        serving(folder / "same.sqlite", ops=ops),
        serving(folder / "slow.sqlite", gap=1_500, ops={"_schedule": 300.0, "audit": 80.0}),
    ]


def test_several_targets_in_one_table(run: Run, three: list[Path]) -> None:
    done = run("compare", *three, "--ops")
    assert (done.exit_code, done.stderr) == (0, "")
    assert fits(done.stdout)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "Compare: base.sqlite (base) with"
    assert lines[1].startswith("[1] same.sqlite: No significant change")
    assert any(line.startswith("[2] slow.sqlite: Slower by 500.0") for line in lines)
    assert "2,003.3 µs 2,003.3 µs same 2,503.3 µs +25.0 wall_time" in lines
    assert "100.0 100.0 same 300.0 +200.0 _schedule" in lines
    assert "- - 80.0 new audit" in lines


def test_several_targets_as_json_and_markdown(run: Run, three: list[Path]) -> None:
    document = json.loads(run("compare", *three, "--ops", "--json").stdout)
    check(document, "comparisonsDocument")
    inputs = [target["dctx"]["inputs"] for target in document["targets"]]
    assert inputs == [[str(three[0]), str(path)] for path in three[1:]]
    text = run("compare", *three, "--ops", "--md").stdout
    assert "| - | - |  | 80.0 | new | `audit` |" in text


def test_gates_hold_for_every_target(run: Run, three: list[Path]) -> None:
    done = run("compare", *three, "--fail-on", "gap_time>+3%")
    assert done.exit_code == 1
    assert done.stderr.count("gate failed") == 1
    assert run("compare", *three[:2], "--fail-on", "gap_time>+3%").exit_code == 0


def test_only_one_trace_is_the_standard_input(run: Run, three: list[Path]) -> None:
    done = run("compare", three[0], "-", "-")
    assert done.exit_code == 2
    assert "only one trace can be -" in done.stderr


def test_the_page_needs_nothing_but_itself(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("compare", BASE, MAIN, "--html", page)
    assert (done.exit_code, done.stdout) == (0, run("compare", BASE, MAIN).stdout)
    text = page.read_text()
    assert not re.search(r"(?:src|href)=\"(?!#)|https?://|@import|url\(", text)
    assert "Slower by 660.3 µs per step" in text
    ranges = text[text.rindex("Ranges by name, own host time") :]
    order = [
        ranges.index(name) for name in ("_process_requests", "_sample_async", "broadcast_requests")
    ]
    assert order == sorted(order)
    for part in ("Call paths, host time", "Ranges by name, own host time", "Operations by name",
                 "within noise", "vectorized_elementwise_kernel"):  # fmt: skip
        assert part in text


def test_names_of_a_trace_are_no_markup(run: Run, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    base = serving(tmp_path / "a.sqlite", ops={hostile: 100.0})
    target = serving(tmp_path / "b.sqlite", ops={hostile: 300.0})
    page = tmp_path / "page.html"
    assert run("compare", base, target, "--html", page).exit_code == 0
    text = page.read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(#)&lt;/script&gt;" in text


def test_a_page_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    done = run("compare", BASE, MAIN, "--html", tmp_path / "none" / "page.html")
    assert done.exit_code == 2
    assert "there is no directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_planted_causes_are_in_the_first_lines(run: Run) -> None:
    truth: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())
    status = truth["comparison"]["status"]
    text = " ".join(run("compare", BASE, MAIN).stdout.partition("\n\n")[0].split())
    us = [truth["traces"][v.file]["per_rank"]["0"]["ops_us_per_step"] for v in VARIANTS]
    by_size = sorted(status, key=lambda n: -abs(us[1].get(n, 0) - us[0].get(n, 0)))
    # What lies inside another changed operation is part of that one.
    inside = ("_write_finish_reasons", "fast_greedy_sample_kernel")
    for words, kinds in (("Slower or new, per step: ", ("REGRESSION", "NEW")),
                         ("Faster or gone, per step: ", ("IMPROVED", "REMOVED"))):  # fmt: skip
        planted = [n for n in by_size if status[n] in kinds and n not in inside]
        told = text.partition(words)[2].partition(".  ")[0]
        places = [told.index(f"{name} ") for name in planted]
        assert places == sorted(places)
    assert "Slower or new" not in run("compare", MAIN, MAIN).stdout
