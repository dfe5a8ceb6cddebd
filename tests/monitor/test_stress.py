"""Many threads record while code comes and goes, frames are looked at, garbage is collected, and
recordings start and stop. DCTX_STRESS_S: seconds, else a moment."""

import contextlib
import gc
import importlib
import importlib.util
import os
import sys
import threading
import time
from typing import Any

import pytest

from dctx.native import monitor
from dctx.native._core import Monitor, Operator
from tests.monitor.recorded import losses, recording

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
]

_SECONDS = float(os.environ.get("DCTX_STRESS_S", "0.3"))
_THREADS = 4 if _SECONDS < 10 else 16
_DEPTH = 40
_torch: Any = (
    importlib.import_module("torch") if importlib.util.find_spec("torch") is not None else None
)


class _RefusedError(Exception):
    pass


def _op() -> None:
    if _torch is None:
        with Operator("op"):
            pass
        return
    x = _torch.ones(4, requires_grad=True)
    (x * 2.0).sum().backward()


def _deep(depth: int) -> None:
    if depth > 0:
        _deep(depth - 1)
    else:
        _op()


def _generated(number: int) -> None:
    names: dict[str, Any] = {"op": _op}
    text = f"def made_{number % 7}():\n    op()\n"
    exec(compile(text, f"<made {number}>", "exec"), names)
    names[f"made_{number % 7}"]()


def _refused() -> None:
    with monitor.scope("refused"), Operator("outer"):
        raise _RefusedError


def _outlives() -> monitor.scope:
    held = monitor.scope("held")
    held.__enter__()
    return held


def _work(done: threading.Event, failures: list[BaseException]) -> None:
    number = 0
    try:
        while not done.is_set():
            number += 1
            _deep(number % _DEPTH)
            _generated(number)
            held = _outlives()
            with contextlib.suppress(_RefusedError):
                _refused()
            _op()
            held.__exit__(None, None, None)
    except BaseException as error:
        failures.append(error)
        raise


def test_threads_record_while_everything_changes() -> None:
    done = threading.Event()
    failures: list[BaseException] = []
    threads = [
        threading.Thread(target=_work, args=(done, failures), name=f"stress-{i}")
        for i in range(_THREADS)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + _SECONDS
    most_nodes = rounds = 0
    try:
        while not failures and (rounds < 2 or time.monotonic() < end):
            rounds += 1
            with recording():
                for _ in range(1 if _SECONDS < 10 else 3):
                    for tree in monitor.tree():
                        nodes = list(tree.root.walk())
                        assert all(node.count >= 0 and node.self_ns >= 0 for node in nodes)
                    assert len(sys._current_frames()) > _THREADS  # pyright: ignore[reportPrivateUsage]
                    gc.collect()
                    time.sleep(0.01)
                most_nodes = max(most_nodes, Monitor.node_count())
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not failures
    # The files of generated code differ in each round of each thread: nothing else may.
    assert most_nodes < 2_000_000

    # Nothing of that is left: a recording after it is exact.
    def count() -> None:
        for _ in range(100):
            with Operator("after"):
                pass

    with recording():
        counting = [threading.Thread(target=count) for _ in range(_THREADS)]
        for thread in counting:
            thread.start()
        for thread in counting:
            thread.join()
    events = [n for tree in monitor.tree() for n in tree.root.walk() if n.count]
    assert {node.frame.name for node in events} == {"after"}
    assert sum(node.count for node in events) == 100 * _THREADS
    assert losses() == {}
