"""Processes that are killed at any moment: their files open, and hold what the last snapshot held.
DCTX_STRESS_S of 10 or more: a hundred of them, and how much is lost."""

import os
import sys
from pathlib import Path

import pytest

from tests.live.test_record import count, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

_LONG = float(os.environ.get("DCTX_STRESS_S", "0")) >= 10
_SNAPSHOT_S = 0.5 if _LONG else 0.01
PROGRAM = f"""
import mmap, os, random, signal, struct, time
import dctx
from dctx.native import Recorder
chance = random.Random(7)
kept = mmap.mmap(-1, 8)  # events that a snapshot of the child holds
def child(number):
    while True:
        for at in range(50):
            with dctx.scope("leaf"):
                if number % 3 == 0:  # contexts, too, become more
                    exec(compile("with dctx.scope('inner'): pass", f"<made {{at}}>", "exec"))
        if number % 2 and {not _LONG}:
            Recorder.snapshot()
        struct.pack_into("<q", kept, 0, Recorder.state().events)
with dctx.scope("parent"):
    pass
for number in range({100 if _LONG else 8}):
    struct.pack_into("<q", kept, 0, 0)
    pid = os.fork()
    if not pid:
        child(number)
    goal = chance.randrange(1, 2000)
    while (held := struct.unpack_from("<q", kept)[0]) < goal:
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    now = time.monotonic_ns()
    os.waitpid(pid, 0)
    print(pid, held, now)
"""


def test_what_the_last_snapshot_held_is_in_the_file(tmp_path: Path) -> None:
    run = record(
        tmp_path,
        PROGRAM,
        *("--snapshot", str(_SNAPSHOT_S)),
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert run.code == 0, run.said
    killed = {
        pid: (held, at) for pid, held, at in (map(int, s.split()) for s in run.out.splitlines())
    }
    found = {recording.header.pid: recording for recording in run.recordings}
    assert killed.keys() < found.keys()
    assert run.report["incomplete_files"] == len(killed)
    for pid, (held, killed_ns) in killed.items():
        recording = found[pid]
        assert not recording.complete
        assert held <= recording.commit["events"]
        assert recording.commit["events"] == count(recording, "leaf") + count(recording, "inner")
        if _LONG:
            lost_ns = killed_ns - recording.commit["monotonic_ns"]
            assert lost_ns <= (_SNAPSHOT_S + 0.5) * 1e9
