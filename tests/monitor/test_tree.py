"""Contexts of small Python programs against trees written by hand, with both readers of frames."""

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import pytest

from dctx.native import monitor
from dctx.native._core import Monitor, Operator
from tests.monitor.recorded import counted, losses, recording

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")


@pytest.fixture(params=["raw", "public"])
def record(request: pytest.FixtureRequest) -> Iterator[Callable[[Callable[[], object]], None]]:
    """Records one call of a function."""

    def run(program: Callable[[], object]) -> None:
        with recording():
            Monitor.use_frames(request.param)
            program()

    yield run
    assert losses() == {}


Record = Callable[[Callable[[], object]], None]


def op(name: str = "op") -> None:
    with Operator(name):
        pass


def test_this_python_is_read_raw() -> None:
    with recording() as status:
        assert status.frames == "raw"
        assert Monitor.frames_agree()


def test_each_line_is_a_context(record: Record) -> None:
    def inner(times: int) -> None:
        for _ in range(times):
            op()

    def program() -> None:
        inner(2)
        inner(3)
        with Operator("outer"):
            inner(1)

    record(program)
    assert counted("program") == {
        "program+1 > inner+2 > op+1 > op": 2,
        "program+2 > inner+2 > op+1 > op": 3,
        "program+3 > outer": 1,
        "program+3 > outer > inner+2 > op+1 > op": 1,
    }


def test_a_scope_holds_the_rest_of_its_function(record: Record) -> None:
    def program() -> None:
        for step in range(3):
            with monitor.scope(f"step {step}"):
                op("first")
                with monitor.scope("loss"):
                    op("second")
        op("third")

    record(program)
    assert counted("program") == {
        "program+2 > step #": 3,
        "program+2 > step # > program+3 > op+1 > first": 3,
        "program+2 > step # > program+4 > loss": 3,
        "program+2 > step # > program+4 > loss > program+5 > op+1 > second": 3,
        "program+6 > op+1 > third": 1,
    }


def test_a_decorated_function_is_a_scope(record: Record) -> None:
    @monitor.scope("evaluate")
    def evaluate(depth: int) -> None:
        op()
        if depth:
            evaluate(depth - 1)

    def program() -> None:
        evaluate(1)

    record(program)
    # contextlib's wrapper is left out; what the caller calls in the scope has its line once more
    outer = "program+1 > evaluate"
    again = f"{outer} > program+1 > evaluate+4 > evaluate"
    assert counted("program") == {
        outer: 1,
        f"{outer} > program+1 > evaluate+2 > op+1 > op": 1,
        again: 1,
        f"{again} > evaluate+4 > evaluate+2 > op+1 > op": 1,
    }


def test_a_context_manager_of_the_program_keeps_its_scope(record: Record) -> None:
    @contextmanager
    def timed() -> Generator[None]:
        with monitor.scope("timed"):
            yield

    def program() -> None:
        with timed():
            op()

    record(program)
    assert counted("program") == {
        "program+1 > timed": 1,
        "program+1 > timed > program+2 > op+1 > op": 1,
    }


def test_generators_and_comprehensions(record: Record) -> None:
    def values() -> Iterator[int]:
        op("first")
        yield 1
        op("second")

    def keyed(value: int) -> int:
        op("mapped")
        return value

    def program() -> None:
        for _ in values():
            op("between")
        sorted([0, 0], key=keyed)

    record(program)
    assert counted("program") == {
        "program+1 > values+1 > op+1 > first": 1,
        "program+2 > op+1 > between": 1,
        "program+1 > values+3 > op+1 > second": 1,
        "program+3 > keyed+1 > op+1 > mapped": 2,
    }


def test_exceptions_end_what_they_leave(record: Record) -> None:
    def fails() -> None:
        with Operator("failing"), monitor.scope("inside"):
            raise ValueError

    def program() -> None:
        for _ in range(2):
            try:
                fails()
            except ValueError:
                op("handled")

    record(program)
    assert counted("program") == {
        "program+3 > fails+1 > failing": 2,
        "program+3 > fails+1 > failing > inside": 2,
        "program+5 > op+1 > handled": 2,
    }


def test_recursion(record: Record) -> None:
    def deeper(depth: int) -> None:
        if depth:
            deeper(depth - 1)
        else:
            op()

    def program() -> None:
        deeper(300)

    record(program)
    (path,) = counted("program")
    assert path == "program+1 > " + "deeper+2 > " * 300 + "deeper+4 > op+1 > op"


def test_very_deep_recursion_keeps_the_inner_frames() -> None:
    def deeper(depth: int) -> None:
        if depth:
            deeper(depth - 1)
        else:
            op()

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        with recording():
            deeper(3000)
    finally:
        sys.setrecursionlimit(limit)
    (node,) = (n for thread in monitor.tree() for n in thread.root.walk() if n.count)
    assert node.path()[0].kind == "[elided]"
    assert [frame.name.rsplit(".", 1)[-1] for frame in node.path()[1:]] == ["deeper"] * 511 + [
        "op",
        "op",
    ]
    assert losses() == {"elided": 1}


def test_tasks_that_alternate() -> None:
    async def task(name: str) -> None:
        for _ in range(2):
            op(name)
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(task("a"), task("b"))

    def program() -> None:
        asyncio.run(both())

    with recording():
        program()
    ops = {path.rsplit(" > ", 3)[-3:][0]: n for path, n in counted("program").items()}
    assert ops == {"task+2": 2}
    assert sorted(path.rsplit(" > ", 1)[-1] for path in counted("program")) == ["a", "b"]
    assert losses() == {}


def test_scopes_that_overlap(record: Record) -> None:
    def program() -> None:
        for _ in range(2):
            first, second = monitor.scope("first"), monitor.scope("second")
            first.__enter__()
            second.__enter__()
            op("in both")
            first.__exit__(None, None, None)
            op("in the second")
            second.__exit__(None, None, None)
        op("after")

    record(program)
    second = "program+3 > first > program+4 > second"
    assert counted("program") == {
        "program+3 > first": 2,
        second: 2,
        f"{second} > program+5 > op+1 > in both": 2,
        f"{second} > program+7 > op+1 > in the second": 2,
        "program+9 > op+1 > after": 1,
    }


@pytest.mark.frameworks
def test_greenlets_that_alternate() -> None:
    greenlet = pytest.importorskip("greenlet")

    def task(name: str, other: str) -> None:
        for _ in range(2):
            op(name)
            lets[other].switch()

    lets = {
        "a": greenlet.greenlet(lambda: task("a", "b")),
        "b": greenlet.greenlet(lambda: task("b", "a")),
    }

    def program() -> None:
        lets["a"].switch()

    with recording():
        program()
    names = sorted(path.rsplit(" > ", 1)[-1] for path in counted("task"))
    assert names == ["a", "b"]
    assert set(counted("task").values()) == {2}
    assert losses() == {}


def test_code_is_told_by_content_not_by_address() -> None:
    """Code objects that die leave their addresses to others; equal ones are one function."""
    with recording():
        for number in range(1000):
            source = f"def f(op):\n    op()\nf(op)\n"  # noqa: F541
            exec(compile(source, f"<made {number % 500}>", "exec"), {"op": op})
            if number % 250 == 0:
                gc.collect()
    files: dict[str, int] = {}
    for thread in monitor.tree():
        for node in thread.root.walk():
            made = [f.file for f in node.path() if f.kind == "python" and f.name == "f"]
            if node.count:
                assert len(made) == 1
                files[made[0]] = files.get(made[0], 0) + node.count
    assert files == {f"<made {number}>": 2 for number in range(500)}


def test_threads_have_trees_of_their_own() -> None:
    def program() -> None:
        for _ in range(500):
            op()

    def churn() -> None:
        while not done.is_set():
            sys._current_frames()  # pyright: ignore[reportPrivateUsage]
            gc.collect()

    done = threading.Event()
    with recording():
        busy = threading.Thread(target=churn)
        workers = [threading.Thread(target=program) for _ in range(4)]
        busy.start()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        done.set()
        busy.join()
        assert counted("program") == {"program+2 > op+1 > op": 2000}
    assert losses() == {}


def test_contexts_beyond_the_cap_are_folded_and_told() -> None:
    with recording(max_nodes=40):
        for number in range(100):
            op(f"kind{number}")
        nodes = [n for thread in monitor.tree() for n in thread.root.walk()]
    assert sum(n.count for n in nodes) == 100
    folded = sum(n.count for n in nodes if n.frame.kind == "[other]")
    assert 0 < folded == losses()["folded"]
    assert Monitor.node_count() <= 42


def test_self_times_sum_to_the_outermost_events() -> None:
    with recording(), monitor.scope("all"):
        for _ in range(50):
            with monitor.scope("step"):
                op()
                with Operator("outer"):
                    op()
    (thread,) = monitor.tree()
    nodes = list(thread.root.walk())
    assert sum(n.self_ns for n in nodes) == thread.top_level_ns
    for node in nodes:
        if node.count:
            assert node.min_ns <= node.sum_ns / node.count <= node.max_ns
            assert node.sum_sq >= node.sum_ns**2 / node.count * (1 - 1e-9)
    assert sum(n.host_gap_ns for n in nodes) > 0
    assert all(n.max_ns <= n.host_gap_ns for n in nodes if n.frame.kind == "python")
    assert next(n.cpu_ns for n in nodes if n.frame.name == "all") > 0


def test_the_call_path_of_the_moment() -> None:
    def program() -> tuple[monitor.Frame, ...]:
        with monitor.scope("part"), Operator("outer"):
            return monitor.callpath_get()

    with recording():
        frames = program()
        only = monitor.callpath_get(monitor.Source.PYTHON)
    names = [str(f) if f.kind != "python" else f.name.rsplit(".", 1)[-1] for f in frames]
    assert names[-4:] in (
        ["program", "part", "program", "outer"],
        ["part", "program", "outer", "program"],
    )
    assert {frame.kind for frame in only} == {"python"}
    assert monitor.callpath_get() == ()


def test_only_one_recording_at_a_time() -> None:
    with recording(), pytest.raises(RuntimeError, match="finalize"):
        monitor.init()
    with recording():
        assert all(not thread.root.children for thread in monitor.tree())
