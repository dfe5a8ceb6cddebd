"""Reports about host overhead: widths, figures that stay whole, names that stay text."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from dctx.analyzers.findings import Evidence, Finding, Side, Weight, ordered
from dctx.analyzers.judging import judge_pair
from dctx.demo_data.llm_recipe import VARIANTS
from dctx.reports import markdown as md
from dctx.reports.compare import compare_markdown, compare_text
from dctx.reports.findings import findings_json, findings_markdown, findings_text
from dctx.reports.host_json import HostReport, host_json
from dctx.reports.text_table import paragraph, table
from dctx.reports.verdict import verdict_text
from tests.analyzers.test_pairing import serving
from tests.analyzers.workload import opened
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
PATHS = tuple(DEMO / variant.file for variant in VARIANTS)


def report_of(base: Path, target: Path) -> HostReport:
    with opened(base) as old, opened(target) as new:
        compared, judged = judge_pair(old, new)
    return HostReport((str(base), str(target)), judged, (), compared, (base.name, target.name))


@pytest.fixture(scope="module")
def report(shared_cache: Path) -> Iterator[HostReport]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        yield report_of(*PATHS)


@pytest.mark.parametrize("width", [80, 60, 50])
def test_text_fits_and_no_figure_is_broken(report: HostReport, width: int) -> None:
    """Narrower than its figures, a table puts names on lines of their own."""
    texts = (compare_text(report, width=width), verdict_text(report, width=width))
    if width == 80:
        assert all(len(line) <= 80 for text in texts for line in text.splitlines())
    joined = "\n".join(texts)
    for figure in ("+660.3", "3,977.7", "+1,924.3", "19.9 %", "81.2 %", "-101.5"):
        assert figure in joined
    assert not re.search(r"\n *(?:%|µs|ms)(?: |$)", joined)  # no unit without its figure


def test_a_wide_terminal_shows_whole_names(report: HostReport) -> None:
    long = "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN"
    assert long not in compare_text(report, width=80)
    assert long in compare_text(report, width=100)


def test_the_document_agrees_with_its_parts(report: HostReport) -> None:
    document = host_json(report)
    own = document["dctx"]
    assert document["crossed_count"] == sum(document["crossed_details"].values())
    assert document["applicable_count"] == len(document["crossed_details"])
    metrics = document["aggregate_metrics"]
    assert metrics["host_prep_perf_impact"] == near(
        metrics["host_prep_idle_attribution"] * metrics["gpu_idle_ratio"], abs=2e-4
    )
    delta = own["comparison"]["delta"]
    assert delta["wall_per_step"]["us"] == near(
        delta["step_duration"]["us"] + delta["inter_step_gap"]["us"], abs=1e-3
    )
    comparison = own["comparison"]
    assert comparison["explained_us"] + comparison["unattributed_us"] == near(
        delta["wall_per_step"]["us"], abs=1e-3
    )


def test_markdown_holds_the_tables_and_the_verdict(report: HostReport) -> None:
    text = compare_markdown(report)
    assert text.count("<details open>") == 3
    assert text.count("<details") == text.count("</details>")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (7, 8) for row in rows)
    assert "Verdict on the target: host overhead YES" in text


def test_names_from_a_trace_stay_text(tmp_path: Path) -> None:
    evil = "a`b|c\x1b[m<img src=x> @team *bold*"
    base = serving(tmp_path / "base.sqlite", ops={"plain": 100})
    target = serving(tmp_path / "target.sqlite", ops={evil: 100, "plain": 100})
    report = report_of(base, target)
    for text in (compare_text(report), verdict_text(report)):
        assert "\x1b" not in text
        assert all(line.isprintable() for line in text.splitlines())
    markdown = compare_markdown(report)
    assert "\x1b" not in markdown
    assert "`a'b¦c?[m<img src=x> @team *bold*`" in markdown
    assert r"\<img src=x\> \@team \*bold\*" in markdown  # in sentences
    assert "<img" not in re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", markdown))


def test_tables_fold_when_figures_leave_no_room() -> None:
    rows = [("a_long_name_of_a_kernel", "1,234.5", "6,789.0")]
    wide = list(table(("name", "base", "target"), rows, 80))
    assert wide == ["  name                       base  target",
                    "  a_long_name_of_a_kernel 1,234.5 6,789.0"]  # fmt: skip
    narrow = list(table(("name", "base", "target"), rows, 24))
    assert narrow == ["     base  target", "  a_long_name…f_a_kernel", "  1,234.5 6,789.0"]


def test_a_unit_stays_with_its_figure() -> None:
    text = "x " * 35 + "660.3 µs per step"
    assert paragraph(text, 76)[-1].startswith("660.3 µs")
    assert all("\u00a0" not in line for line in paragraph(text, 76))


def test_markdown_cells_and_text() -> None:
    assert md.cell("a|b`c") == "`a¦b'c`"
    assert md.plain("_a_ [b](c) #1 <i>") == r"\_a\_ \[b\](c) \#1 \<i\>"
    assert list(md.table(("n", "v"), [("a", "1")], left=(0,))) == [
        "| n | v |", "|:--|--:|", "| a | 1 |",
    ]  # fmt: skip


def test_findings_in_every_form() -> None:
    one = Finding("later", Weight.HINT, "Small.", "Nothing.")
    two = Finding(
        "first", Weight.SEVERE, "Grew by 5.0 µs.", "Look.",
        (Evidence("op", "µs/step", 15.0, 10.0, "op", 7, Side.TARGET),),
    )  # fmt: skip
    assert [f.id for f in ordered([one, two])] == ["first", "later"]
    assert list(findings_text((two,), 80)) == [
        "Findings",
        "  !! first: Grew by 5.0 µs.",
        "          base target",
        "       op 10.0   15.0 µs/step",
        "     Try: Look.",
    ]
    assert list(findings_markdown((two,))) == [
        "**Findings**", "", "- **first**: Grew by 5.0 µs. _Look._",
        "  - `op`: 10.0 → 15.0 µs/step",
    ]  # fmt: skip
    assert findings_json((one,)) == [
        {"id": "later", "severity": "hint", "sentence": "Small.", "remedy": "Nothing.",
         "evidence": []}
    ]  # fmt: skip
    assert findings_json((two,))[0]["evidence"] == [
        {"what": "op", "unit": "µs/step", "value": 15.0, "baseline": 10.0, "name": "op",
         "node": 7, "trace": "target"}
    ]  # fmt: skip
    assert list(findings_text((), 80)) == []
