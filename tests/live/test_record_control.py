"""When to record: a signal, a socket, the scope that ends steps; and how much."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from socket import AF_UNIX
from socket import socket as Socket  # noqa: N812

import pytest

import dctx
from dctx.live.control import ask, sockets
from dctx.native import Recorder, monitor
from tests.live.test_record import CALLS, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

STARTS_AND_STOPS = (
    """
import os, signal
os.kill(os.getpid(), signal.SIGUSR2)  # before there is anything to turn on
"""
    + CALLS
    + """
import json, time
from pathlib import Path
from dctx.live import control
from dctx.native._core import Monitor
def toggle(wanted):
    os.kill(os.getpid(), signal.SIGUSR2)
    while Monitor.active() != wanted:
        time.sleep(0.002)
run(3)
toggle(False); run(100)
toggle(True); run(5)
toggle(False); run(100)
pid = os.fork()
if not pid:
    run(100)
    os._exit(0)
os.waitpid(pid, 0)
meeting = Path(json.loads(os.environ["DCTX_RECORD"])["meeting"])
for command, times in (("start", 7), ("snapshot", 0), ("stop", 100), ("status", 0)):
    [answer] = control.ask(control.sockets(meeting), command)
    print(json.dumps({**answer.status, "mode": oct(answer.socket.stat().st_mode)}))
    run(times)
"""
)


def test_a_signal_and_a_socket_start_and_stop(tmp_path: Path) -> None:
    run = record(tmp_path, STARTS_AND_STOPS, "--paused", "--toggle-signal", "usr2", "--control")
    assert (run.code, run.leaves) == (0, [3 + 5 + 7]), run.said
    assert "dctx: control it: dctx control /" in run.said
    started, written, stopped, status = (json.loads(line) for line in run.out.splitlines())
    assert [answer["recording"] for answer in (started, written, stopped)] == [True, True, False]
    assert (started["events"], written["events"], status["events"]) == (8, 15, 15)
    assert status["file"] == str(tmp_path / "run.dctxrec")
    assert written["file_bytes"] > 0
    assert status["mode"].endswith("600")


def test_a_signal_that_the_program_handles_stays_its_own(tmp_path: Path) -> None:
    program = (
        """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("mine"))
"""
        + CALLS
        + "import os; run(2); os.kill(os.getpid(), signal.SIGUSR1); run(2)"
    )
    run = record(tmp_path, program, "--toggle-signal", "SIGUSR1")
    assert (run.out, run.leaves) == ("mine\n", [4])
    assert "dctx: the program handles SIGUSR1 itself" in run.said


@pytest.mark.parametrize(
    ("options", "leaves"), [((), 0 + 1 + 2 + 3), (("--start-step", "1", "--steps", "2"), 1 + 2)]
)
def test_a_scope_ends_steps(tmp_path: Path, options: tuple[str, ...], leaves: int) -> None:
    program = (
        CALLS
        + """
for i in range(4):
    with dctx.scope(f"batch {i}"):
        run(i)
    dctx.step(); dctx.step()  # are no steps here
"""
    )
    run = record(tmp_path, program, "--step-marker", "batch 0", *options)
    assert run.leaves == [leaves]
    assert run.report["steps"] == (2 if options else 4)


def test_memory_for_contexts_is_bounded(tmp_path: Path) -> None:
    program = CALLS + "for i in range(200):\n    exec(f'def f{i}(): leaf()\\nf{i}()')\n"
    run = record(tmp_path, program, "--max-mb", "0.01")
    assert run.leaves == [run.report["events"] - run.report["losses"]["folded"]]
    assert run.report["events"] == 200
    assert run.report["contexts"] < 150


def test_control_says_how_processes_stand(tmp_path: Path) -> None:
    socket = tmp_path / "0.control"
    gone = tmp_path / "1.control"
    with closing(Socket(AF_UNIX)) as own:
        own.bind(str(gone))  # bound, and then left: nobody listens
    monitor.init()
    try:
        assert Recorder.start(
            str(tmp_path / "own.dctxrec"), "{}", interval_ns=10**12, control=str(socket)
        )
        with dctx.scope("part"):
            pass
        [bad] = ask([socket], "nonsense")  # type: ignore[arg-type]
        assert bad.status == {"error": "commands are start, stop, snapshot and status"}
        asked = [sys.executable, "-m", "dctx.cli", "control"]
        done = subprocess.run(
            [*asked, str(tmp_path), "snapshot"], capture_output=True, text=True, check=False
        )
    finally:
        Recorder.stop()
        monitor.finalize()
    lines = done.stdout.splitlines()
    assert done.returncode == 2
    assert ": recording; 1 events in " in lines[0]
    assert "own.dctxrec" in lines[0]
    assert lines[1] == "1: the process has ended without removing its socket"
    assert not socket.exists()
    done = subprocess.run(
        [*asked, str(tmp_path / "none"), "status"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no process listens there" in done.stderr


def test_a_path_too_long_for_a_socket_is_told(tmp_path: Path) -> None:
    monitor.init()
    with closing(_Running()):
        Recorder.start(
            str(tmp_path / "own.dctxrec"), "{}", interval_ns=10**12, control="/tmp/" + "x" * 200
        )
        assert "longer than the system allows" in Recorder.state().trouble
    assert sockets(tmp_path) == []


class _Running:
    def close(self) -> None:
        Recorder.stop()
        monitor.finalize()
