"""Pauses, graphs and repeating kernels as text and JSON, over a trace with known ones. Times in
microseconds."""

import json
from pathlib import Path

import pytest

from dctx.analyzers.step_view import StepView, view_steps
from dctx.reports.kernel_json import kernel_level_json
from dctx.reports.step_json import steps_document
from dctx.reports.steps import steps_text
from tests.analyzers.workload import Workload
from tests.near import near


@pytest.fixture
def view(work: Workload) -> StepView:
    """Six steps of 1 ms: a graph of 30 nodes (300 µs without a pause), then 3 x 2 eager kernels of
    10 µs, with 2 µs before each norm and 12 µs before each gemm. All of it on GPU 3."""
    for step in range(6):
        at = 1000.0 * step
        work.range(f"[Executor] _forward_step {step}: 0 ctx reqs, 2 gen reqs", at, at + 900)
        launch = work.call("cudaGraphLaunch_v10000", at + 1, at + 3)
        for node in range(30):
            work.kernel(
                at + 10 + 10 * node, at + 20 + 10 * node, name="node",
                correlationId=launch, graphNodeId=100 + node, deviceId=3,
            )  # fmt: skip
        start = at + 310
        for _ in range(3):
            for name, pause in (("rmsnorm", 2), ("nvjet_gemm", 12)):
                start += pause
                work.kernel(start, start + 10, name=name, launch=(start - 9, start - 8), deviceId=3)
                start += 10
    with work.opened() as trace:
        return view_steps(trace)


def test_pauses_add_up_to_the_idle_time(view: StepView) -> None:
    """Window 0-5900: the first step's start to the last one's end."""
    assert view.level is not None
    pauses = view.level.pauses
    [device] = pauses.devices
    # 18 of 2 µs, 18 of 12 µs, five of 1000 - 300 - 60 - 42 µs; 10 µs before the first kernel and
    # 900 - 412 µs after the last.
    assert {b.at_least_ns: (b.count, b.total_ns) for b in device.buckets if b.count} == {
        1_000: (18, 36_000),
        10_000: (18, 216_000),
        500_000: (5, 2_990_000),
    }
    edges = pauses.idle_ns[0] - device.total_ns
    assert edges == (10 + 900 - 412) * 1000
    document = kernel_level_json(view.level)["pauses"]
    shares = sum(bucket["idle_share"] for bucket in document["devices"][0]["buckets"])
    assert shares + edges / pauses.idle_ns[0] == near(1, abs=1e-3)
    text = steps_text("trace", view)
    assert "on GPU 3 at " in text
    assert "Repeating kernels of GPU 3" in text
    assert "GPU 0" not in text
    lines = [line.split() for line in text.splitlines()]
    assert [
        "10",
        "to",
        "50",
        "µs",
        "18",
        "216",
        "µs",
        "5.8",
        "%",
        *["light", "Python", "between", "segments"],
    ] in lines
    assert ["window", "edges", "498", "µs", "13.3", "%"] in lines


def test_eager_kernels_beside_graphs_are_a_finding(view: StepView) -> None:
    [finding] = [f for f in view.findings if f.id == "eager-in-graphs"]
    assert finding.sentence.startswith(
        "83 % of the kernels run in CUDA graphs, but 36 kernels that graphs usually hold"
    )
    assert "360.0 µs of GPU time" in finding.sentence
    assert [(e.what, e.value) for e in finding.evidence] == [
        ("nvjet_gemm, 18 launches", 180.0),
        ("rmsnorm, 18 launches", 180.0),
    ]


def test_text_fits_and_names_what_was_found(view: StepView) -> None:
    text = steps_text("trace", view)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "CUDA graphs: 83.3 % of the kernels run in graphs (180 of 216)" in text
    _, _, gaps = text.partition("\nLongest idle gaps, ")
    assert gaps.splitlines()[1].startswith("  598 µs on GPU 3 at 0.000")


def test_the_document_is_json_with_whole_tables(view: StepView, tmp_path: Path) -> None:
    document = json.loads(steps_document(str(tmp_path), view))
    level = document["kernel_level"]
    assert level["graphs"]["coverage"] == round(180 / 216, 4)
    assert [e["capturable"] for e in level["graphs"]["eager"]] == [True, True]
    assert len(level["pauses"]["devices"][0]["buckets"]) == 9
    assert document["straggler"] is None


def test_too_few_steps_for_means_are_listed(work: Workload) -> None:
    for step in range(2):
        at = 1000.0 * step
        work.range(f"[Executor] _forward_step {step}: 1 ctx reqs, 0 gen reqs", at, at + 700)
        work.kernel(at + 10, at + 20, launch=(at + 1, at + 2))
    with work.opened() as trace:
        text = steps_text("trace", view_steps(trace))
    assert "Each step, µs" in text
    each = text.split("Each step, µs\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[1:] for line in each[1:]] == [
        ["context", "0.0", "700.0"],
        ["context", "1,000.0", "700.0"],
    ]


def test_without_kernels_pauses_are_not_known(work: Workload) -> None:
    work.range("work", 0, 10)
    with work.opened() as trace:
        assert "Idle gaps of the GPU: n/a, no single kernel was recorded." in steps_text(
            "trace", view_steps(trace)
        )
