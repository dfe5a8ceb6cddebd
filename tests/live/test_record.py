"""`dctx record` around small programs: what they recorded, what they exit with, what is said."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.recording_job import read_files
from dctx.ingest.recording.content import Recording
from dctx.ingest.recording.kinds import Kind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

CALLS = """
import dctx, sys
@dctx.scope("leaf")
def leaf(): pass
def run(times):
    for _ in range(times):
        leaf()
"""


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    said: str
    report: dict[str, Any]
    recordings: list[Recording]

    @property
    def leaves(self) -> list[int]:
        """Calls of `leaf` by file."""
        return sorted(count(recording, "leaf") for recording in self.recordings)


def count(recording: Recording, scope: str) -> int:
    total = 0
    for thread in recording.threads.values():
        scopes = thread.kind == Kind.SCOPE
        for node in scopes.nonzero()[0].tolist():
            if recording.strings[int(thread.label[node])] == scope:
                total += int(thread.metrics["count"][node])
    return total


def record(
    folder: Path, program: str, *options: str, python: tuple[str, ...] = (), **more: str
) -> Run:
    script = folder / "program.py"
    script.write_text(program)
    command = (sys.executable, *python, str(script))
    return record_command(folder, command, "--report", "json", *options, **more)


def record_command(folder: Path, command: tuple[str, ...], *options: str, **more: str) -> Run:
    arguments = [sys.executable, "-m", "dctx.cli", "record", "-o", str(folder / "run.dctxrec")]
    done = subprocess.run(
        [*arguments, *options, "--", *command],
        capture_output=True,
        text=True,
        env={**os.environ, **more},
        timeout=120,
        check=False,
    )
    lines = done.stderr.splitlines()
    reports = [json.loads(line) for line in lines if line.startswith("{")]
    files = read_files(sorted(folder.glob("run*.dctxrec")))
    assert not [file.failure for file in files if file.failure]
    recordings = [file.recording for file in files if file.recording is not None]
    return Run(
        done.returncode, done.stdout, done.stderr, reports[-1] if reports else {}, recordings
    )


def test_what_ran_is_recorded_and_the_code_passed_on(tmp_path: Path) -> None:
    program = CALLS + "print('out'); run(5); sys.exit(7)"
    run = record(tmp_path, program)
    assert (run.code, run.out) == (7, "out\n")
    assert run.leaves == [5]
    [recording] = run.recordings
    assert recording.complete
    assert recording.meta["argv"][-1].endswith("program.py")
    assert run.report["exit_code"] == 7
    assert run.report["events"] == recording.commit["events"] == 5
    assert run.report["hottest"][0] == "<module> (program.py:8)"
    assert run.report["own_cost_ns"] > 0
    functions: list[int] = recording.codes[:, 1].tolist()
    names = {recording.strings[function] for function in functions}
    assert {"run", "<module>"} <= names


def test_a_program_without_events_makes_no_file(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text("print(1)")
    run = record_command(tmp_path, (sys.executable, str(script)))
    assert (run.code, run.out, run.recordings) == (0, "1\n", [])
    assert (
        run.said
        == "dctx: nothing was recorded: no operator of torch or JAX ran, and no dctx.scope.\n"
    )


def test_a_killed_process_leaves_its_last_snapshot(tmp_path: Path) -> None:
    program = (
        CALLS
        + f"""
import os, time
from pathlib import Path
run(5)
while not Path({str(tmp_path / "run.dctxrec")!r}).exists():
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""
    )
    run = record(tmp_path, program, "--snapshot", "0.05")
    assert run.code == 128 + signal.SIGKILL
    assert run.leaves == [5]
    assert run.report["incomplete_files"] == 1
    assert not run.recordings[0].complete


def test_signals_are_passed_on(tmp_path: Path) -> None:
    program = """
import signal, sys, time, os
signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
os.kill(os.getppid(), signal.SIGTERM)
time.sleep(100)
"""
    assert record(tmp_path, program).code == 3


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (("/nowhere/python",), 127, "dctx: /nowhere/python: No such file or directory\n"),
        (("/",), 126, "dctx: /: Permission denied\n"),
        ((), 2, "there is no command to run"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, command: tuple[str, ...], code: int, says: str) -> None:
    run = record_command(tmp_path, command)
    assert run.code == code
    assert says in run.said


def test_an_isolated_python_is_told(tmp_path: Path) -> None:
    run = record(tmp_path, "", python=("-I",))
    assert run.code == 0
    assert "Python started with -I, -E or -S does not" in run.said


def test_the_users_sitecustomize_runs_and_the_path_is_clean(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins; builtins.mine = 'mine'")
    program = """
import sys, sitecustomize
print(mine, sitecustomize.__file__, [p for p in sys.path if "bootstrap" in p])
"""
    run = record(tmp_path, program, PYTHONPATH=str(own))
    assert run.out == f"mine {own / 'sitecustomize.py'} []\n"


CHILDREN = (
    CALLS
    + """
import multiprocessing as mp, os
if __name__ == "__main__":
    run(2)
    pid = os.fork()
    if not pid:
        run(3)
        from dctx.native import Recorder
        Recorder.snapshot()
        os._exit(0)
    os.waitpid(pid, 0)
    for method, times in (("fork", 4), ("spawn", 5)):
        worker = mp.get_context(method).Process(target=run, args=(times,))
        worker.start(); worker.join()
    run(10)
"""
)


@pytest.mark.parametrize(
    ("children", "leaves"), [("all", [3, 4, 5, 12]), ("fork", [3, 4, 12]), ("none", [12])]
)
def test_children_record_into_files_of_their_own(
    tmp_path: Path, children: str, leaves: list[int]
) -> None:
    # CPython 3.12 and newer warn at os.fork() in a process that has threads, here the recorder's.
    run = record(
        tmp_path, CHILDREN, "--children", children, PYTHONWARNINGS="ignore::DeprecationWarning"
    )
    assert (run.code, run.said.count("\n")) == (0, 1), run.said
    assert run.leaves == leaves
    assert len(run.report["files"]) == len(leaves)


def test_ranks_have_files_of_their_own(tmp_path: Path) -> None:
    program = (
        CALLS
        + """
import os, subprocess
if "RANK" in os.environ:
    run(1 + int(os.environ["RANK"]))
else:
    for rank in "012":
        env = dict(os.environ, RANK=rank, WORLD_SIZE="3")
        subprocess.run([sys.executable, __file__], env=env, check=True)
"""
    )
    run = record(tmp_path, program, "--ranks", "0,2")
    assert run.leaves == [1, 3]
    assert sorted(recording.meta["rank"] for recording in run.recordings) == [0, 2]
    names = [Path(file["path"]).name for file in run.report["files"]]
    assert [name.split(".")[1] for name in sorted(names)] == ["rank0", "rank2"]


def test_some_steps_are_recorded(tmp_path: Path) -> None:
    program = CALLS + "for i in range(20):\n    run(i)\n    dctx.step()\n"
    run = record(tmp_path, program, "--start-step", "4", "--steps", "3", "--every", "2")
    assert run.leaves == [4 + 6 + 8]
    assert run.report["steps"] == 3


def test_recording_from_inside_a_program(tmp_path: Path) -> None:
    program = (
        CALLS
        + f"""
import warnings
warnings.simplefilter("error")
with dctx.record({str(tmp_path / "run.dctxrec")!r}) as recording:
    run(3)
    recording.pause(); run(100); recording.resume()
    run(1)
    assert recording.snapshot()
    names = [n.frame.name for t in recording.tree() for n in t.root.walk()]
    assert "leaf" in names
    assert all(found.id and found.sentence for found in recording.findings())
    try:
        dctx.record().start()
    except RuntimeWarning as told:
        print(told)
run(100)
"""
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith("this process is being recorded already")
    [file] = read_files([tmp_path / "run.dctxrec"])
    assert file.recording is not None
    assert file.recording.complete
    assert count(file.recording, "leaf") == 4


def test_a_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    program = CALLS + f"run(3)\nimport os\nos.rmdir({str(tmp_path / 'gone')!r})\nprint('done')"
    (tmp_path / "gone").mkdir()
    run = record(tmp_path, program, "-o", str(tmp_path / "gone" / "x.dctxrec"))
    assert (run.code, run.out) == (0, "done\n")
    [file] = run.report["files"]
    assert file["path"] == str(tmp_path / "gone" / "x.dctxrec")
    assert "No such file or directory" in file["failure"]
    assert "nothing was recorded" not in run.said
