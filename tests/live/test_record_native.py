"""Native frames, samples and counters of a program with a small C++ library of its own."""

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from dctx.cli.symbolize import symbolize_command
from dctx.ingest.recording.content import Recording, parse
from dctx.ingest.recording.kinds import Kind
from dctx.ingest.recording.paths import context_names
from dctx.ingest.registry import open_trace
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from tests.live.test_record import Run, record

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="a C++ compiler is needed"),
]

LIBRARY = """
#include <cstdint>
using Call = void (*)();
namespace work {
__attribute__((noinline)) void inner(Call call) { call(); asm volatile("" ::: "memory"); }
__attribute__((noinline)) void outer(Call call) { inner(call); asm volatile("" ::: "memory"); }
__attribute__((noinline)) uint64_t burn(uint64_t times) {
  uint64_t value = times;
  for (uint64_t i = 0; i < times; ++i) asm volatile("" : "+r"(value));
  return value;
}
}  // namespace work
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT void run(Call call) { work::outer(call); asm volatile("" ::: "memory"); }
EXPORT uint64_t busy(uint64_t times) { return work::burn(times) + 1; }
"""
PROGRAM = """
import ctypes, dctx, sys, time
scope = dctx.scope
from dctx.native._core import Operator
lib = ctypes.CDLL({library!r})
@ctypes.CFUNCTYPE(None)
def called():
    with Operator("op"):
        pass
def calling():
    lib.run(called)
calling()
with scope("busy"):
    while time.thread_time() < 1:
        lib.busy(1_000_000)
"""
PATH = ["calling", "run", "work::outer(void (*)())", "work::inner(void (*)())", "called", "op"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """The folder, and a recording made with a stripped library; one with symbols is there too."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "work.cpp").write_text(LIBRARY)
    for name, more in (("whole.so", ()), ("libwork.so", ("-s",))):
        flags = (
            "-O1",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-Wl,--build-id=0xd1c7d1c7d1c7d1c7",
        )
        command = ("g++", *flags, *more, "-o", str(folder / name), str(folder / "work.cpp"))
        subprocess.run(command, check=True)
    options = ("--native", "full", "--cpu-sample", "200", "--cpu", "perf:task-clock,page-faults")
    program = PROGRAM.format(library=str(folder / "libwork.so"))
    return folder, record(folder, program, *options, "--sources", "python")


def path_of(recording: Recording, name: str) -> list[str]:
    """The functions and events that lead to an event, without files and arguments."""
    [(thread, node)] = [
        (thread, node)
        for thread in recording.threads.values()
        for node in (thread.kind == Kind.OP).nonzero()[0].tolist()
        if recording.strings[int(thread.label[node])] == name
    ]
    return [step.partition(" (program")[0] for step in context_names(recording, thread, node)]


def subsequence(wanted: list[str], found: list[str]) -> bool:
    steps = iter(found)
    return all(step in steps for step in wanted)


def test_python_and_native_frames_where_they_were_called(run: tuple[Path, Run]) -> None:
    folder, recorded = run
    assert recorded.code == 0, recorded.said
    [recording] = recorded.recordings
    stripped = path_of(recording, "op")
    visible = [step for step in PATH if not step.startswith("work::")]
    assert subsequence(visible, stripped), stripped
    assert sum(step.startswith("libwork.so+0x") for step in stripped) == 2
    # The symbols come later, from a library with the same build id.
    place = folder / "later" / "run.dctxrec"
    place.parent.mkdir()
    shutil.copy(folder / "run.dctxrec", place)
    shutil.copy(folder / "whole.so", folder / "libwork.so")
    done = CliRunner().invoke(symbolize_command, [str(place)])
    assert done.exit_code == 0, done.output
    named = parse(place.read_bytes())
    assert subsequence(PATH, path_of(named, "op")), path_of(named, "op")
    assert named.complete
    assert named.commit == recording.commit
    again = CliRunner().invoke(symbolize_command, [str(place)])
    assert ": 0 functions named, " in again.output


def test_samples_and_counters(run: tuple[Path, Run]) -> None:
    folder, recorded = run
    [recording] = recorded.recordings
    assert not recorded.report["losses"].get("samples_dropped")
    if recorded.report["notes"]:  # the system may keep its counters to itself
        assert all("counters of the processor" in note for note in recorded.report["notes"])
    shutil.copy(folder / "whole.so", folder / "libwork.so")
    with (
        closing(open_trace(folder / "run.dctxrec", cache=False)) as store,
        store.cursor() as cursor,
    ):
        [(samples, scope, cpu_ns)] = cursor.execute(
            """SELECT m.samples, p.text,
                 (SELECT sum(v.value) FROM path_value v JOIN string k ON k.id = v.name
                  WHERE v.node = n.parent AND k.text = 'thread CPU ns')
               FROM path_metric m JOIN path_node n ON n.id = m.node
               JOIN frame f ON f.id = n.frame JOIN string s ON s.id = f.name
               JOIN path_node o ON o.id = n.parent JOIN frame g ON g.id = o.frame
               JOIN string p ON p.id = g.name
               WHERE s.text = 'work::burn(unsigned long)'"""
        ).fetchall()
        [(total, all_samples)] = cursor.execute(
            """SELECT (SELECT samples FROM path_total WHERE node = 0),
                      (SELECT sum(samples) FROM path_metric)"""
        ).fetchall()
        counted = dict(
            cursor.execute(
                """SELECT s.text, sum(v.value) FROM path_value v
                   JOIN string s ON s.id = v.name GROUP BY 1"""
            ).fetchall()
        )
        trace = Trace(store)
        tree = CallTree.load(trace)
        [node] = [n for n in range(tree.size) if (tree.names(n) or [""])[-1] == "busy"]
        measures = {one.name: one.value for one in node_detail(trace, tree, node).measures}
    assert measures["thread CPU ns"] == cpu_ns
    assert scope == "busy"
    assert total == all_samples
    # 200 a second of CPU time; the system's timers may be coarser.
    assert 0.2 * cpu_ns / 5e6 < samples <= 1.1 * cpu_ns / 5e6
    if not recorded.report["notes"]:
        assert 0.95 < counted["task-clock ns"] / counted["thread CPU ns"] < 1.05
        assert counted.get("page-faults", 0) <= counted.get("page faults", 0)  # of user space
    assert recording.meta["counters"] == ["task-clock", "page-faults"]


def test_what_cannot_be_counted_is_told(tmp_path: Path) -> None:
    program = "import dctx\nwith dctx.scope('part'): pass"
    bad = record(tmp_path, program, "--cpu", "perf:cycle")
    assert bad.code == 2
    assert "cycles" in bad.said
    run = record(tmp_path, program, "--cpu", "perf:cycles,instructions")
    assert run.code == 0
    told = [note for note in run.report["notes"] if "counters of the processor" in note]
    assert len(told) <= 1
    if told:  # as in most virtual machines
        assert "no counter cycles: " in told[0]
        assert f"dctx: {told[0]}\n" in run.said
