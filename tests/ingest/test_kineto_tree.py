"""The call tree of a thread: who is the parent of whom, and whose time is it."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kineto_files import Event, Opened, call, event, kernel, op, opened, python


def test_scopes_that_open_and_close_inside_functions_stay_in_the_tree(tmp_path: Path) -> None:
    """A record_function scope opens inside __enter__ and closes inside __exit__."""
    trace = opened(
        tmp_path / "t.json",
        [
            python("a.py(1): train", 0, 100),
            python("a.py(2): __enter__", 5, 5),
            event("user_annotation", "scope", 8, 80),
            op("aten::mm", 20, 30),
            python("a.py(3): __exit__", 85, 10),
        ],
    )
    assert trace.parents() == {
        "a.py(1): train": None,
        "a.py(2): __enter__": "a.py(1): train",
        "scope": "a.py(1): train",
        "aten::mm": "scope",
        "a.py(3): __exit__": "a.py(1): train",
    }
    self_us = dict(
        trace.rows(
            """SELECT s.text, self_ns / 1000 FROM host_event h JOIN string s ON s.id = h.name"""
        )
    )
    assert self_us == {
        "a.py(1): train": 10,  # 0-5 and 95-100
        "a.py(2): __enter__": 3,
        "scope": 47,  # 8-20 and 50-85
        "aten::mm": 30,
        "a.py(3): __exit__": 10,
    }
    assert sum(self_us.values()) == 100


@pytest.mark.parametrize(
    ("start", "end", "parent"),
    [
        (40.0, 50.3, "outer op"),  # clocks of operators jitter by less than a microsecond
        (49.9, 50.9, None),  # most of it lies outside: a sibling
        (40.0, 51.5, None),  # too far outside
        (50.0, 60.0, None),
    ],
)
def test_a_little_overhang_is_jitter(
    tmp_path: Path, start: float, end: float, parent: str | None
) -> None:
    trace = opened(
        tmp_path / "t.json",
        [op("outer op", 0, 50), call("runtime", start, round(end - start, 3), 1)],
    )
    assert trace.parents()["runtime"] == parent


def test_equal_intervals_nest_by_what_they_are(tmp_path: Path) -> None:
    events = [
        call("runtime", 0, 10, 1),
        op("op", 0, 10),
        event("user_annotation", "annotation", 0, 10),
        python("a.py(2): inner", 0, 10, 2, 1),
        python("a.py(1): outer", 0, 10, 1, None),
        op("instant", 0, 0),
    ]
    random.Random(1).shuffle(events)
    trace = opened(tmp_path / "t.json", events)
    assert trace.parents() == {
        "a.py(1): outer": None,
        "a.py(2): inner": "a.py(1): outer",
        "annotation": "a.py(2): inner",
        "op": "annotation",
        "runtime": "op",
        "instant": "runtime",
    }


def test_ids_of_python_functions_win_only_where_time_lands_above(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            python("a.py(1): root", 0, 100, 1, None),
            python("a.py(2): caller", 10, 20, 2, 1),
            # A tie of whole microseconds: it outlives its caller by one.
            python("a.py(3): tied", 30, 1, 3, 2),
            # The id is too shallow (a hook): time tells more.
            python("a.py(4): hook", 12, 5, 4, 1),
            # The id is of another thread.
            python("a.py(5): elsewhere", 50, 5, 5, 6),
            python("a.py(6): other", 45, 20, 6, None) | {"tid": 300},
        ],
    )
    assert trace.parents() == {
        "a.py(1): root": None,
        "a.py(2): caller": "a.py(1): root",
        "a.py(3): tied": "a.py(2): caller",
        "a.py(4): hook": "a.py(2): caller",
        "a.py(5): elsewhere": "a.py(1): root",
        "a.py(6): other": None,
    }


def test_names_of_python_events_become_frames(tmp_path: Path) -> None:
    names = [
        "torch/nn/modules/module.py(1522): _call_impl",
        "<string>(2): <lambda>",
        "nn.Module: Linear_0",
        "<built-in method relu of type object at 0x7f1234567890>",
        "we(ird)(3): f(4): g",
        "no line",
    ]
    trace = opened(tmp_path / "t.json", [python(name, 10 * at, 5) for at, name in enumerate(names)])
    frames = trace.rows(
        "SELECT name, layer, file, line FROM paths WHERE layer IN ('python', 'module') ORDER BY id"
    )
    assert frames == [
        ("_call_impl", "python", "torch/nn/modules/module.py", 1522),
        ("<lambda>", "python", "<string>", 2),
        ("Linear_0", "module", None, None),
        ("<built-in method relu of type object at #>", "python", None, None),
        ("g", "python", "we(ird)(3): f", 4),
        ("no line", "python", None, None),
    ]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, int, int, int]]:
    """(name, start, end, parent) of nested events on one thread, distinct intervals."""
    events: list[tuple[str, int, int, int]] = [("e0", 0, 4096, -1)]
    for _ in range(draw(st.integers(0, 12))):
        parent = draw(st.integers(0, len(events) - 1))
        _, start, end, _ = events[parent]
        taken = [(s, e) for _, s, e, p in events if p == parent]
        low = max([e for _, e in taken] + [start + 1])
        if end - low < 8:
            continue
        first = draw(st.integers(low, low + (end - low) // 4))
        last = draw(st.integers(first + 2, first + 2 + (end - first) // 3))
        if last >= end:
            continue
        events.append((f"e{len(events)}", first, last, parent))
    return events


def as_events(tree: list[tuple[str, int, int, int]], offset_us: int, kinds: list[int]) -> Any:
    def made(kind: int, name: str, dur: float) -> Event:
        if kind == 0:
            return python(name, 0, dur)
        return op(name, 0, dur) if kind == 1 else call(name, 0, dur, 0)

    return [
        made(kinds[at % len(kinds)] if at else 0, name, (end - start) / 8)
        | {"ts": offset_us + start / 8}
        for at, (name, start, end, _) in enumerate(tree)
    ]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    tree=trees(),
    seed=st.integers(0, 99),
    offset=st.sampled_from([0, 1_600_000_000_000_000]),
    kinds=st.lists(st.integers(0, 2), min_size=1, max_size=4),
)
def test_parents_do_not_depend_on_order_or_offset(
    tmp_path: Path,
    tree: list[tuple[str, int, int, int]],
    seed: int,
    offset: int,
    kinds: list[int],
) -> None:
    # Intervals further apart than the tolerance: a unit is an eighth of a microsecond.
    tree = [(name, 16 * start, 16 * end, parent) for name, start, end, parent in tree]
    events = as_events(tree, offset, kinds)
    random.Random(seed).shuffle(events)
    trace = opened(tmp_path / "t.json", events)
    names = [name for name, *_ in tree]
    assert trace.parents() == {
        name: None if parent < 0 else names[parent] for name, _, _, parent in tree
    }
    check_sums(trace)
    trace.store.close()


def check_sums(trace: Opened) -> None:
    """For every metric the root's value is the sum of all and that over the events."""
    [direct] = trace.rows(
        """SELECT sum(self_ns)::BIGINT, count(*) FROM host_event WHERE node IS NOT NULL"""
    )
    [own] = trace.rows("SELECT sum(host_ns)::BIGINT, sum(calls)::BIGINT FROM path_metric")
    [root] = trace.rows("SELECT host_ns FROM path_total WHERE node = 0 AND device IS NULL")
    assert own == direct
    assert root == direct[:1]


times = st.tuples(st.integers(0, 60), st.integers(0, 20))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    host=st.lists(st.tuples(st.sampled_from("poac"), st.integers(1, 2), times), min_size=1),
    work=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), times)),
)
def test_sums_and_self_times_hold_for_any_events(
    tmp_path: Path,
    host: list[tuple[str, int, tuple[int, int]]],
    work: list[tuple[int, int, tuple[int, int]]],
) -> None:
    """Overlapping, crossing, empty, equal: no event is lost, no time counted twice."""
    events: list[Event] = []
    for number, (kind, tid, (start, length)) in enumerate(host):
        made = {
            "p": python(f"f.py({number}): f", start, length, number, number - 1),
            "o": op(f"op{number % 3}", start, length),
            "a": event("user_annotation", "a", start, length),
            "c": call("launch", start, length, number),
        }[kind]
        events.append(made | {"tid": tid})
    events += [
        kernel(f"k{number}", start, length, correlation, device=device, bytes=number)
        for number, (correlation, device, (start, length)) in enumerate(work)
    ]
    trace = opened(tmp_path / "t.json", events)
    assert trace.rows("SELECT count(*) FROM host_event") == [(len(host),)]
    assert trace.rows("SELECT count(*) FROM gpu_op") == [(len(work),)]
    for tid in {tid for _, tid, _ in host}:
        mine = [interval for _, thread, interval in host if thread == tid]
        covered = {at for start, length in mine for at in range(start, start + length)}
        [(self_ns, least)] = trace.rows(
            f"""SELECT sum(self_ns)::BIGINT, min(self_ns) FROM host_event h
                JOIN lane l ON l.id = h.lane WHERE l.tid = {tid}"""
        )
        assert (self_ns, least >= 0) == (1000 * len(covered), True)
    check_sums(trace)
    direct = "sum(dur_ns)::BIGINT, count(*), sum(bytes)::BIGINT"
    own = "sum(gpu_ns)::BIGINT, sum(gpu_ops)::BIGINT, sum(bytes)::BIGINT"
    assert trace.rows(f"SELECT {own} FROM path_metric") == [
        (row[0], row[1] or None, row[2]) for row in trace.rows(f"SELECT {direct} FROM gpu_op")
    ]
    trace.store.close()
