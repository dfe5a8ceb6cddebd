"""A torch that cannot be attached to: its operators come from the NVTX ranges it pushes."""

import sys
from pathlib import Path

import pytest

from dctx.ingest.recording.content import Recording
from dctx.ingest.recording.kinds import Kind
from tests.live.fake_nvtx_torch import write_torch
from tests.live.test_record import Run, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

PROGRAM = """
import os, torch
from torch.autograd.profiler import profile, record_function
def work(x):
    with record_function("load 17, seq = many"):
        with record_function("Optimizer.step#SGD.step"):
            y = x.mul(2)
    y.backward()
x = torch.ones(1)
for _ in range(3):
    work(x)
with profile():
    x.mul(2)
with record_function("of another kind", slot=8):
    torch.ones(1)
print(os.environ.get("NVTX_INJECTION64_PATH", "free"))
"""


def paths(recording: Recording) -> dict[str, int]:
    """Operators and scopes with what is around them, and their calls."""
    shown = {Kind.OP: "", Kind.BACKWARD_OP: "backward ", Kind.SCOPE: "scope "}
    found: dict[str, int] = {}
    for thread in recording.threads.values():
        full: list[str] = []
        for node in range(len(thread.kind)):
            above = full[int(thread.parent[node])] if node else ""
            kind = Kind(int(thread.kind[node]))
            if kind not in shown:
                full.append(above)
                continue
            name = shown[kind] + recording.strings[int(thread.label[node])]
            full.append(f"{above} > {name}" if above else name)
            if calls := int(thread.metrics["count"][node]):
                found[full[node]] = found.get(full[node], 0) + calls
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("nvtx")
    write_torch(folder)
    return record(folder, PROGRAM)


def test_ranges_become_operators_scopes_and_steps(run: Run) -> None:
    assert run.code == 0, run.said
    [recording] = run.recordings
    step = "scope load #, seq = many > scope Optimizer.step#SGD.step"
    around = "backward autograd::engine::evaluate_function: MulBackward0"
    assert paths(recording) == {
        "aten::ones": 2,
        "scope load #, seq = many": 3,
        step: 3,
        f"{step} > aten::mul": 3,
        f"{step} > aten::mul > aten::empty": 3,
        around: 3,
        f"{around} > backward MulBackward0": 3,
        f"{around} > backward MulBackward0 > detach": 3,
    }
    assert run.report["steps"] == 3
    assert {name: n for name, n in recording.losses.items() if n} == {}


def test_what_is_done_is_told(run: Run) -> None:
    assert run.recordings[0].meta["level"] == "L2"
    assert "dctx: torch 9.9.1+cu130: operators (NVTX) + Python; file" in run.said
    [note] = [note for note in run.report["notes"] if "NVTX" in note]
    assert "without shapes" in note
    assert "torch is not loaded" in note  # why it was not attached to
    assert run.report["own_cost_ns"] is None


def test_other_processes_are_left_alone(run: Run) -> None:
    assert run.out == "free\n"


def test_the_tool_that_the_user_named_is_left_in_place(tmp_path: Path) -> None:
    write_torch(tmp_path)
    tool = "/nowhere/libtool.so"
    program = "import os, torch; print(os.environ['NVTX_INJECTION64_PATH'])"
    run = record(tmp_path, program, NVTX_INJECTION64_PATH=tool)
    assert run.out == f"{tool}\n"
    assert "NVTX ranges go to another tool (NVTX_INJECTION64_PATH is set)" in run.said
    assert "--slow-ok" in run.said
