"""The parts of live recording that need no process of their own."""

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from dctx.analyzers.recording_job import recorded_job
from dctx.cli.record import record_command
from dctx.live import startup
from dctx.live.import_watch import when_imported
from dctx.live.job_folder import job_folder
from dctx.live.launch import Viewer, run_recorded
from dctx.live.limits import told_limits
from dctx.live.naming import timed_name
from dctx.live.options import VARIABLE, Options, from_environment, local_rank, rank, world_size
from dctx.reports.recording import job_text


def test_a_module_is_told_of_once_it_has_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "watched_module.py").write_text("value = 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    seen: list[int] = []
    before = list(sys.meta_path)
    when_imported("watched_module", lambda: seen.append(sys.modules["watched_module"].value))
    assert seen == []
    module = import_module("watched_module")
    assert seen == [1]
    assert sys.meta_path == before
    assert module.__spec__ is not None
    assert module.__spec__.loader is module.__loader__
    assert type(module.__loader__).__name__ == "SourceFileLoader"
    when_imported("watched_module", lambda: seen.append(2))
    assert seen == [1, 2]
    del sys.modules["watched_module"]


def test_threads_can_import_a_module_while_it_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared_module.py").write_text("value = 3\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    seen: list[int] = []

    def on_thread() -> None:
        thread = Thread(target=lambda: seen.append(import_module("shared_module").value))
        thread.daemon = True  # it would wait for ever
        thread.start()
        thread.join(20)

    when_imported("shared_module", on_thread)
    import_module("shared_module")
    assert seen == [3]
    del sys.modules["shared_module"]


def test_a_module_that_fails_is_not_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_module.py").write_text("raise ValueError('own')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    seen: list[int] = []
    when_imported("failing_module", lambda: seen.append(1))
    with pytest.raises(ValueError, match="own"):
        import_module("failing_module")
    assert seen == []


def test_options_survive_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options("/a/b.dctxrec", ("op",), duration_s=2.5, ranks=(0, 3), children="fork")
    monkeypatch.setenv(VARIABLE, options.to_environment())
    assert from_environment() == options
    monkeypatch.setenv(VARIABLE, "something else")
    assert from_environment() is None


def test_a_program_goes_on_when_the_recorder_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(str(tmp_path / "run.dctxrec"), meeting=str(tmp_path / "gone"))
    monkeypatch.setattr(startup, "_waiting", options)
    assert startup.start() is None
    assert "gone has gone" in capsys.readouterr().err
    monkeypatch.setattr(startup, "_waiting", options)
    monkeypatch.setattr(sys, "stderr", object())  # the program's own, of another make
    assert startup.start() is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--snapshot", "nan"], "nan is no number"),
        (["--snapshot", "1e-12"], "'--snapshot'"),
        (["--max-mb", "nan"], "nan is no number"),
        (["--delay", "inf"], "'--delay'"),
        (["--duration", "1e30"], "'--duration'"),
        (["--snapsot", "3"], "No such option"),
    ],
)
def test_bad_options_are_told_before_the_program_runs(
    tmp_path: Path, arguments: list[str], says: str
) -> None:
    ran = tmp_path / "ran"
    done = CliRunner().invoke(record_command, [*arguments, "--", "touch", str(ran)])
    assert (done.exit_code, ran.exists()) == (2, False)
    assert says in done.output


def test_ranks_are_those_of_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_PROCID", "7")
    monkeypatch.setenv("SLURM_NTASKS", "16")
    monkeypatch.setenv("SLURM_LOCALID", "3")
    assert (rank(), world_size(), local_rank()) == (7, 16, 3)
    monkeypatch.setenv("RANK", "1")
    assert rank() == 1


def test_the_viewer_is_told_when_nothing_was_recorded(tmp_path: Path) -> None:
    # Not signal.pause(), which a signal right before it leaves waiting for another.
    wait = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [2]); signal.sigwait([2])"
    viewer = Viewer([sys.executable, "-S", "-c", wait], tmp_path / "log")
    options = Options(str(tmp_path / "run.dctxrec"), meeting=str(tmp_path))
    program = "import time; print('out', flush=True); time.sleep(0.5); raise SystemExit(4)"
    ending = run_recorded(
        [sys.executable, "-S", "-c", program], options, after_s=60, look=lambda: None, viewer=viewer
    )
    assert ending.code == 4
    assert (tmp_path / "log").read_text() == "out\n"


@pytest.mark.parametrize(
    ("command", "stem"),
    [
        (["python", "a/train.py", "--x", "1"], "train"),
        (["torchrun", "--nproc-per-node", "8", "-m", "pkg.train"], "train"),
        (["./run.sh"], "run"),
        (["python3"], "python3"),
        (["python3", "-c", "import a\nb = 'c/d'"], "python3"),
        (["bash", "-c", "python a.txt | sort"], "bash"),
        (["./a b\n" + "c" * 300], "a_b_" + "c" * 56),
    ],
)
def test_recordings_are_named_after_the_program(command: list[str], stem: str) -> None:
    name = timed_name(command)
    assert name.startswith(f"{stem}-2")
    assert name.endswith(".dctxrec")


LEFT = """
import os, signal
from dctx.live.job_folder import job_folder
with job_folder() as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_that_a_killed_record_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = subprocess.run(
        [sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=120, check=False
    )
    left = Path(killed.stdout.strip())
    assert (killed.returncode, left.parent, left.is_dir()) == (-9, tmp_path, True)
    hello = left / f"{os.getpid()}.hello"
    hello.write_text("")
    with job_folder() as held:
        assert left.is_dir()  # a process of that job runs
        hello.rename(left / f"{2**22 + 1}.hello")  # beyond all numbers of processes
        with job_folder():
            assert not left.exists()
            assert held.is_dir()  # its own `dctx record` runs
    assert list(tmp_path.iterdir()) == []


def test_what_kept_recording_off_is_told() -> None:
    nothing = recorded_job([])
    plain = "dctx: nothing was recorded: no operator of torch or JAX ran, and no dctx.scope"
    assert job_text(nothing, told_limits(Options("x"))) == plain + ".\n"
    paused = job_text(nothing, told_limits(Options("x", paused=True, control=True)))
    assert paused.startswith(f"{plain}, while recording was on (--paused: it begins when `dctx con")
    assert paused.endswith(" or resume() of dctx.record in the program turns it on).\n")
    alone = job_text(nothing, told_limits(Options("x", paused=True)))
    assert "(--control and --toggle-signal are other ways)" in alone
    chosen = told_limits(Options("x", start_step=9, steps=3, delay_s=0.5, duration_s=2))
    assert chosen == [
        "steps were chosen (from step 9, 3 steps): they end with Optimizer.step or dctx.step()",
        "--delay: it begins 0.5 s after torch was imported",
        "--duration: it was on for 2 s",
    ]
