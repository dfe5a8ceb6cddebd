"""Events go on while listeners come and go on other threads, and while signals interrupt them."""

import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from dctx.ingest.recording.content import Recording
from dctx.ingest.recording.kinds import Kind
from dctx.ingest.recording.paths import context_names
from dctx.native import monitor
from dctx.native._core import Operator
from tests.live.test_record import count, record
from tests.monitor.recorded import losses, recording

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

_THREADS = 3
_ROUNDS = 10


@pytest.fixture(name="brisk")
def _brisk() -> Generator[None]:
    """Threads hand over the interpreter's lock often: what could go wrong does so sooner."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("brisk")
def test_listeners_come_and_go_while_events_happen(capsys: pytest.CaptureFixture[str]) -> None:
    done = threading.Event()
    made: Counter[int] = Counter()
    told: Counter[int] = Counter()
    closed: set[int] = set()
    late: list[int] = []

    def work() -> None:
        me = threading.get_ident()
        while not done.is_set():
            with Operator("op"):
                made[me] += 1

    def listening(number: int) -> None:
        def listen(events: Sequence[monitor.Event], drops: int) -> None:
            told[number] += len(events) + drops
            if number in closed:
                late.append(number)

        for turn in range(_ROUNDS):
            handle = monitor.callback_register(
                monitor.Domain.FRAMEWORK, listen, sync=(number + turn) % 2 == 0
            )
            seen = told[number]
            if turn == 0:
                while told[number] == seen and workers[0].is_alive():
                    done.wait(0.001)
            monitor.callback_unregister(handle)
        closed.add(number)

    with recording():
        workers = [threading.Thread(target=work) for _ in range(_THREADS)]
        listeners = [threading.Thread(target=listening, args=(n,)) for n in range(_THREADS)]
        for thread in [*workers, *listeners]:
            thread.start()
        for thread in listeners:
            thread.join()
        done.set()
        for thread in workers:
            thread.join()
        nodes = [node for tree in monitor.tree() for node in tree.root.walk() if node.count]
    capsys.readouterr()
    assert late == []
    assert all(told[number] > 0 for number in range(_THREADS))
    assert {node.frame.name for node in nodes} == {"op"}
    assert sum(node.count for node in nodes) == sum(made.values())
    assert losses() == {}


def test_a_listener_cannot_end_itself(capsys: pytest.CaptureFixture[str]) -> None:
    refused: list[str] = []

    def listen(_events: Sequence[monitor.Event], _drops: int) -> None:
        with pytest.raises(RuntimeError) as found:
            monitor.callback_unregister(handle)
        refused.append(str(found.value))

    with recording():
        handle = monitor.callback_register(
            monitor.Domain.FRAMEWORK, listen, events=monitor.EventMask.END, sync=True
        )
        for _ in range(2):
            with Operator("op"):
                pass
        monitor.callback_unregister(handle)
        with Operator("op"):
            pass
    capsys.readouterr()
    assert refused == ["a listener cannot unregister itself"] * 2


SIGNALS = """
import dctx, signal, sys, threading
with dctx.scope("before"):  # imports what is imported late
    pass
class Interrupted(Exception):
    pass
handled = raised = answered = entered = 0
armed = False
def handler(number, frame):
    global handled, answered, armed
    handled += 1
    with dctx.scope("handler"):
        answered += 1
        if armed and number != signal.SIGPROF:
            armed = False  # nothing but the block below is to be interrupted so
            raise Interrupted
for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGUSR1):
    signal.signal(number, handler)
def deep(depth):
    global entered
    if depth:
        return deep(depth - 1)
    with dctx.scope("leaf"):
        entered += 1
        sum(range(50))
enough = threading.Event()
def kick():
    while not enough.wait(0.001):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
other = threading.Thread(target=kick)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.0009)
other.start()
while raised < 200:
    try:
        armed = True
        with dctx.scope("outer"):
            for depth in range(20):
                deep(depth)
        armed = False
    except Interrupted:
        raised += 1
for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGUSR1):
    signal.signal(number, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0)
signal.setitimer(signal.ITIMER_PROF, 0)
enough.set()
other.join()
with dctx.scope("after"):
    pass
print(handled, answered, entered)
"""


def test_signals_whose_handlers_raise_lose_nothing(tmp_path: Path) -> None:
    run = record(tmp_path, SIGNALS, "--snapshot", "0.02")
    assert run.code == 0, run.said
    [recording] = run.recordings
    handled, answered, entered = map(int, run.out.split())
    assert handled >= 200
    # An exception may come between the begin of a scope and its block, or of a function and that.
    assert answered <= count(recording, "handler") <= handled
    assert entered <= count(recording, "leaf") <= entered + handled
    assert count(recording, "after") == 1
    assert [name.split(" (")[0] for name in above(recording, "after")] == ["<module>"]
    assert recording.losses == {}


def above(recording: Recording, scope: str) -> tuple[str, ...]:
    """The path of a scope that stands in one place."""
    [(thread, node)] = [
        (thread, node)
        for thread in recording.threads.values()
        for node in (thread.kind == Kind.SCOPE).nonzero()[0].tolist()
        if recording.strings[int(thread.label[node])] == scope
    ]
    return context_names(recording, thread, node)[:-1]
