"""The card of the Overview and the panels of the Steps view: what they say and sum to."""

import json
import re
from collections.abc import Generator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.config import default_config
from dctx.analyzers.judging import judge_trace
from dctx.analyzers.step_report import StepReport, judged_steps, selected_steps
from dctx.analyzers.step_selection import Selection
from dctx.analyzers.steps import Label
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.kernel_level import pauses_text
from dctx.reports.step_panels import scope_of, step_panels, step_text
from dctx.reports.step_texts import about
from dctx.reports.verdict_card import Lead, decoded
from dctx.reports.verdict_summary import verdict_card
from dctx.tui.demo import demo_trace
from tests.analyzers.workload import Workload
from tests.near import near

PERCENT = re.compile(r"([0-9.]+) %")


@pytest.fixture(scope="module")
def trace(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(shared_cache))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        store = open_trace(demo_trace())
        yield Trace(store)
        store.close()


@pytest.fixture(scope="module")
def report(trace: Trace) -> StepReport:
    return judged_steps(trace, default_config(), "auto")


def test_the_card_of_the_demo(trace: Trace, report: StepReport) -> None:
    card = verdict_card(trace, report.judged)
    assert card.answer == "YES"
    assert card.headline.startswith("the GPUs wait for the host: idle (no kernel running)")
    assert card.phases == ("context", "generation")
    assert card.limits_note == "limit in generation: GPU idle > 15 %"
    idle = card.signals[0]
    assert (idle.name, idle.limit, idle.mark) == ("GPU idle", "> 30 %", "severe")
    ratio = report.judged.result.measured.metrics.gpu_idle_ratio
    assert ratio is not None
    assert idle.value == f"{100 * ratio:.1f} %"
    assert [value.crossed for value in idle.phases] == [True, True]
    assert card.lead.view == "paths"
    assert card.lead.node is not None
    assert CallTree.load(trace).name(card.lead.node) in card.next_step
    assert card.steps is not None
    assert card.steps.title == "Steps 230 · context 20, generation 210"
    assert len(card.steps.walls_ns) == 230


def test_the_card_survives_being_written(trace: Trace, report: StepReport) -> None:
    card = verdict_card(trace, report.judged)
    assert decoded(json.loads(json.dumps(asdict(card)))) == card
    broken = asdict(card)
    del broken["lead"]
    with pytest.raises((KeyError, TypeError)):
        decoded(broken)


def test_idle_causes_and_gaps_are_all_of_the_idle_time(trace: Trace, report: StepReport) -> None:
    panels = {panel.id: panel for panel in step_panels(trace, report).panels}
    for name, last in (("idle", -1), ("gaps", None)):
        shares = [
            float(match[1])
            for line in panels[name].lines[:last]
            if (match := PERCENT.search(line.figures))
        ]
        assert sum(shares) == near(100, abs=0.05 * len(shares)), name


def test_gaps_are_listed_by_the_lengths_that_the_reports_name(
    trace: Trace, report: StepReport
) -> None:
    [panel] = [panel for panel in step_panels(trace, report).panels if panel.id == "gaps"]
    lengths = [line.figures[:14].strip() for line in panel.lines[:-1]]
    assert lengths[:2] == ["< 1 µs", "1 to 5 µs"]
    assert lengths[-3:] == ["500 µs to 1 ms", "1 to 5 ms", "≥ 5 ms"]
    assert report.gaps is not None
    printed = "\n".join(pauses_text(report.gaps, 100))
    used = [length for length, line in zip(lengths, panel.lines, strict=False) if not line.dim]
    assert used
    assert all(f"  {length} " in printed for length in used)


def test_the_steady_state_is_offered_where_a_step_is_steady(report: StepReport) -> None:
    assert about(report).endswith("(w: the steady state alone)")
    result = report.judged.result
    steps = replace(result.steps, label=np.full_like(result.steps.label, Label.SLOW))
    judged = replace(report.judged, result=replace(result, steps=steps))
    assert about(replace(report, judged=judged)).endswith("(w: from the first kernel to the last)")


def test_lines_lead_to_contexts_of_their_name(trace: Trace, report: StepReport) -> None:
    tree = CallTree.load(trace)
    panels = {panel.id: panel for panel in step_panels(trace, report).panels}
    for name in ("idle", "operations"):
        line = panels[name].lines[0]
        assert isinstance(line.lead, Lead)
        assert line.lead.node is not None
        assert tree.name(line.lead.node) == line.label
    assert all(line.lead is not None for panel in panels.values() for line in panel.lines)


def test_a_finding_about_gpu_work_leads_to_it(tmp_path: Path) -> None:
    """A window full of copies; and the lead survives being written."""
    work = Workload(tmp_path / "copies.sqlite")
    work.kernel(0, 50, launch=(0, 1))
    work.copy(50, 900)
    work.kernel(950, 1000, launch=(2, 3))
    with work.opened() as opened_trace:
        card = verdict_card(opened_trace, judge_trace(opened_trace))
    [finding] = [f for f in card.findings if "Copies" in f.sentence]
    assert finding.lead == Lead("kernels", op=(int(GpuKind.MEMCPY), "memcpy HtoD"))
    assert decoded(json.loads(json.dumps(asdict(card)))) == card


def test_the_panels_of_chosen_steps(trace: Trace, report: StepReport) -> None:
    chosen = selected_steps(trace, report, Selection(100, 109))
    shown = step_panels(trace, chosen)
    scope = scope_of(shown.everyone, Selection(100, 109))
    assert scope.label == "steps 101 to 110"
    assert len(scope.windows) == 2
    phases = next(panel for panel in shown.panels if panel.id == "phases")
    assert [line.figures.split()[0] for line in phases.lines] == ["10", "10"]
    text = step_text(shown.series, 100, 109)
    assert text.startswith("step 101 to 110, 10 steps · mean 1.67 ms in the step, gap ")
    assert "generation (0 ctx, " in step_text(shown.series, 100, 100)
    assert step_text(shown.series, 229, 229).endswith("no next step")
