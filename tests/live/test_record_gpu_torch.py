"""GPU work beside torch: subscribed to before torch is there, and torch's own profiler."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dctx.analyzers.recording_job import read_files
from dctx.ingest.recording.content import Recording
from tests.live.fake_cupti import built_fake
from tests.live.test_record import record
from tests.live.test_record_gpu import GPU

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

PROFILED = (
    GPU
    + """
import warnings
warnings.simplefilter("ignore")  # there is no CUDA
import torch
print(gpu.fake_subscribed())
from torch.profiler import ProfilerActivity, profile
def run(name):
    with torch.autograd.profiler.record_function(name):
        launch(name, 10)
run("before")
for _ in range(2):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        run("inside")
run("after")
print(gpu.fake_subscribed())
"""
)
IN_PROCESS = (
    GPU
    + """
import sys, torch, dctx
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]):
    recording = dctx.record(sys.argv[1], quiet=False).start()
    print(gpu.fake_subscribed())
print(gpu.fake_subscribed())
with dctx.scope("after"):
    launch("after", 10)
recording.stop()
print(gpu.fake_subscribed())
"""
)


def kernels(recording: Recording) -> dict[str, int]:
    labels: list[int] = recording.work.columns["name"].tolist()
    counts: list[int] = recording.work.columns["count"].tolist()
    return {recording.strings[label]: n for label, n in zip(labels, counts, strict=True)}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(built_fake(tmp_path_factory.mktemp("cupti")))


def test_torch_s_profiler_is_told_of_once(library: str, tmp_path: Path) -> None:
    run = record(tmp_path, PROFILED, DCTX_CUPTI_LIB=library)
    assert (run.code, run.out) == (0, "1\n1\n"), run.said
    [recording] = run.recordings
    assert kernels(recording) == {"before": 1, "inside": 2, "after": 1}
    assert run.said.count("dctx: torch.profiler records the GPU while dctx does") == 1
    assert "CUPTI 13.0: kernels + copies; file" in run.said
    assert any("GPU work may be missing" in note for note in recording.meta["notes"])


def test_the_gpu_is_left_to_torch_s_profiler_where_that_is_asked(
    library: str, tmp_path: Path
) -> None:
    run = record(tmp_path, PROFILED, "--gpu", "yield", DCTX_CUPTI_LIB=library)
    assert (run.code, run.out) == (0, "1\n0\n"), run.said
    assert kernels(run.recordings[0]) == {"before": 1}
    assert run.said.count("dctx: GPU work is left to torch.profiler") == 1


def test_a_profiler_that_runs_is_waited_for(library: str, tmp_path: Path) -> None:
    if pytest.importorskip("torch").version.cuda is not None:
        pytest.skip("a CUDA build has loaded a CUPTI of its own by then: it counts before others")
    script, path = tmp_path / "program.py", tmp_path / "run.dctxrec"
    script.write_text(IN_PROCESS)
    done = subprocess.run(
        [sys.executable, str(script), str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "DCTX_CUPTI_LIB": library},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "0\n1\n0\n"), done.stderr
    assert "torch.profiler runs already" in done.stderr
    [file] = read_files([path])
    assert file.recording is not None
    assert kernels(file.recording) == {"after": 1}
