"""The ranked list: bounds of gains, sums of idle time, order, causes told once, own analyzers."""

from pathlib import Path

import pytest

from dctx.analyzers.config import default_config, parse_config
from dctx.analyzers.errors import RequestError
from dctx.analyzers.extension import load
from dctx.analyzers.finding_limits import default_finding_limits
from dctx.analyzers.findings import Finding, Gain, Weight, ordered, weight_of
from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.prescribe.table import ANALYZERS, one_list, prescriptions
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.planted import ADD, COPY, GEMM, NCCL, Program, annotation, op, python

DEMO = Path(__file__).parents[3] / "demo_data" / "torch-ddp"


def busy(folder: Path) -> Facts:
    """A program with much to find."""
    program = Program()
    for _ in range(6):
        with program.within(annotation, "enumerate(DataLoader)#x.__next__"):
            program.work(300)
        with program.within(python, "model.py(1): forward"):
            for _ in range(12):
                with program.within(op, "aten::mul"):
                    program.launch(ADD, 6)
                with program.within(op, "aten::contiguous"):
                    program.launch(COPY, 6)
            for _ in range(4):
                with program.within(op, "aten::add"):
                    program.launch(ADD, 12)
            with program.within(op, "aten::_to_copy"):
                program.launch(COPY, 40)
            with program.within(op, "aten::mm"):
                program.launch(GEMM, 90)
        with program.within(op, "nccl:all_reduce"):
            program.launch(NCCL, 600, stream=20)
        with program.within(op, "aten::item"):
            program.wait(late=20)
        with program.within(python, "metrics.py(2): update"):
            program.work(250)
        with program.within(op, "aten::empty"):
            program.api("cudaMalloc", 50)
            program.api("cudaFree", 50)
            program.api("cuModuleLoadData", 100)
    return program.facts(folder)


def test_no_gain_exceeds_the_time_that_its_evidence_covers(tmp_path: Path) -> None:
    facts = busy(tmp_path)
    found = prescriptions(facts, default_finding_limits())
    gains = {finding.id: finding.gain for finding in found if finding.gain is not None}
    assert set(gains) >= {
        "kernel-fusion", "elementwise-chain", "layout-conversion", "type-casts", "sync",
        "data-loader", "cpu-latency", "memory-churn", "warm-up", "exposed-communication",
    }  # fmt: skip
    for finding in found:
        gain = finding.gain
        if gain is None:
            continue
        assert 0 < gain.ns <= facts.window_ns
        assert gain.share == gain.ns / facts.window_ns
        covered = [row.value or 0 for row in finding.evidence if row.unit == "ms"]
        if covered:
            assert gain.ns / 1e6 <= sum(covered) + 1e-9, finding.id
        assert finding.verify, finding.id
        assert finding.evidence[0].node is not None, finding.id


def test_idle_time_before_work_is_all_idle_time(tmp_path: Path) -> None:
    facts = busy(tmp_path)
    idle = sum(device.report.timeline.idle_ns for device in facts.devices)
    assert sum(int(device.gap_ns.sum()) for device in facts.devices) == idle
    assert sum(int(device.idle.lengths().sum()) for device in facts.devices) == idle
    assert int(facts.gap_own().sum()) == idle
    assert int(facts.sum_below(facts.gap_own())[0]) == idle


def test_the_demo_leads_with_its_loader_wait_and_communication() -> None:
    store = open_trace(DEMO)
    try:
        found = prescriptions(Facts(Trace(store)), default_finding_limits())
    finally:
        store.close()
    assert [finding.id for finding in found][:3] == ["data-loader", "sync", "exposed-communication"]


def test_every_analyzer_has_its_conditions_in_the_file() -> None:
    assert {analyzer.id for analyzer in ANALYZERS} == set(default_finding_limits())


def finding(key: str, share: float | None, weight: Weight | None = None) -> Finding:
    gain = None if share is None else Gain(1, share, "")
    return Finding(key, weight_of(gain) if weight is None else weight, "", "", gain=gain)


def test_the_list_is_ordered_by_weight_and_gain() -> None:
    found = ordered(
        [
            finding("hint", 0.01),
            finding("untold", None, Weight.WARNING),
            finding("some", 0.03),
            finding("much", 0.4),
            finding("more", 0.5),
        ]
    )
    assert [one.id for one in found] == ["more", "much", "some", "untold", "hint"]


def test_each_cause_is_told_once() -> None:
    verdict = [finding("sync-in-step", None, Weight.WARNING), finding("copy-bound", None)]
    assert [one.id for one in one_list(verdict, [finding("sync", 0.2)])] == ["sync", "copy-bound"]
    assert len(one_list(verdict, [])) == 2


def test_conditions_can_be_changed() -> None:
    config = parse_config("[findings.sync]\nshare = 0.5", "my.toml")
    assert config.findings["sync"] == {"share": 0.5, "idle_share": 0.01}
    assert config.override("findings.sync.share=0.25").findings["sync"]["share"] == 0.25
    assert default_config().findings["sync"]["share"] == 0.02


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("findings = 3", "findings is no table"),
        ("[findings.sink]\nshare = 1", "no analyzer is called 'sink'"),
        ("[findings.sync]\nshares = 1", "sync has no limit 'shares'"),
        ("[findings.sync]\nshare = 'x'", "number from 0 on"),
        ("[findings.sync]\nshare = -1", "number from 0 on"),
    ],
)
def test_conditions_that_are_none_are_said(text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words) as error:
        parse_config(text, "my.toml")
    assert "my.toml" in str(error.value)


OWN = """
from dctx.analyzers.findings import Finding, Weight

def slow(facts):
    print("looking")
    return [Finding("long-window", Weight.HINT, f"{facts.window_ns} ns", "Record less.")]

def broken(facts):
    return [1 / 0]

ANALYZERS = {"long-window": slow, "broken": broken}
"""


def test_own_analyzers_are_in_the_list_and_one_that_fails_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    program = Program()
    program.launch(GEMM, 100)
    facts = program.facts(tmp_path)
    found = {f.id: f for f in prescriptions(facts, default_finding_limits(), load(path).analyzers)}
    assert found["long-window"].sentence == "100000 ns"
    assert "line 9" in found["broken"].sentence
    assert "ZeroDivisionError" in found["broken"].sentence
    assert capsys.readouterr().out == ""
