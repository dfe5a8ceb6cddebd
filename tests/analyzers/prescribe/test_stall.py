"""Heavy kernels that Nsight Compute measured."""

from contextlib import closing
from pathlib import Path

from dctx.analyzers.prescribe.facts import Facts
from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.planted import Program, found, gain_us
from tests.rocm_files import write_sampled

LINES = [
    NcuLine("0x10", "LDG.E R2, [R4.64]", {"long_scoreboard": 150, "selected": 20}),
    NcuLine("0x20", "BAR.SYNC", {"barrier": 45, "selected": 80}),
    NcuLine("0x30", "FADD", {"wait": 5}),
]
"""300 samples, 200 of them stalled."""


def _facts(folder: Path, *measured: NcuKernel) -> Facts:
    program = Program()
    program.launch("void ns::slow<float>(int)", 600)
    program.launch("quick", 9)
    facts = program.facts(folder)
    facts.measured = measured
    return facts


def test_the_lines_that_wait_most(tmp_path: Path) -> None:
    finding = found(_facts(tmp_path, NcuKernel("slow", lines=LINES)), "stall")
    assert finding is not None
    assert finding.sentence.startswith("slow takes 98.5 % of the GPU time; 75.0 % of its stalled")
    assert "long scoreboard (waits for data" in finding.sentence
    assert [(row.what, row.value) for row in finding.evidence] == [
        ("stalled samples of LDG.E R2, [R4.64] at 0x10, mostly long scoreboard", 75.0),
        ("stalled samples of BAR.SYNC at 0x20, mostly barrier", 22.5),
    ]
    assert finding.remedy.startswith("Load earlier")
    assert gain_us(finding) == 600 * 200 / 300


def test_few_samples_light_kernels_and_none(tmp_path: Path) -> None:
    facts = _facts(tmp_path, NcuKernel("quick", lines=LINES), NcuKernel("slow", lines=LINES[1:]))
    assert found(facts, "stall") is None  # 1.5 % of the time; 130 samples
    assert found(facts, "stall", samples=100) is not None
    facts.measured = ()
    assert found(facts, "stall") is None


def test_samples_that_the_trace_itself_holds(tmp_path: Path) -> None:
    with closing(
        open_trace(write_sampled(tmp_path, stalled=150, issued=100), cache=False)
    ) as store:
        finding = found(Facts(Trace(store)), "stall")
        assert finding is not None
        assert finding.sentence.startswith("gemm takes 98.5 % of the GPU time; 100.0 % of its")
        assert [(row.what, row.value) for row in finding.evidence] == [
            ("stalled samples of /src/a.hip:16, mostly waitcnt", 100.0)
        ]
        assert finding.gain is not None
        assert finding.gain.ns == 600 * 150 // 250
    few = write_sampled(tmp_path, stalled=150, issued=49)
    with closing(open_trace(few, cache=False)) as store:
        assert found(Facts(Trace(store)), "stall") is None
