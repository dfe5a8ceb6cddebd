"""The XSpace decoder against messages written field by field."""

import json

import numpy as np
import pytest

from dctx.native import StringPool, XSpace, read_xspace
from tests.xplane_file import Plane, Ref, Stat, Unsigned, blob, number, space, varint

NONE = np.iinfo(np.int64).min


def read(
    data: bytes, numbers: tuple[str, ...] = (), texts: tuple[str, ...] = ()
) -> tuple[XSpace, StringPool]:
    pool = StringPool()
    return read_xspace(data, numbers=numbers, texts=texts, pool=pool), pool


def event_names(found: XSpace, pool: StringPool) -> list[str | None]:
    names: list[int] = found.metadata()["name"].tolist()
    rows: list[int] = found.events()["metadata"].tolist()
    return [None if row < 0 else pool[names[row]] for row in rows]


def test_lines_have_timestamps_of_their_own_and_times_round_at_both_ends() -> None:
    plane = Plane("/host:CPU", key=3)
    plane.line("early", 1_000, plane.event("a", 499, 1), plane.event("b", 500, 999), key=2**64 - 1)
    plane.line("late", 5_000, plane.event("a", 1_499, 2), plane.event("c", 0), display="shown")
    found, pool = read(space(plane))
    assert found.planes == [(3, "/host:CPU")]
    assert found.hostnames == ["host0"]
    lines, events = found.lines(), found.events()
    assert lines["id"].tolist() == [2**64 - 1, 1]
    assert [pool[i] for i in lines["name"]] == ["early", "late"]
    assert lines["display"].tolist() == [-1, pool.intern("shown")]
    assert event_names(found, pool) == ["a", "b", "a", "c"]
    assert events["line"].tolist() == [0, 0, 1, 1]
    # 0.499 → 0 and 0.5 → 1; 0.5 → 1 and 1.499 → 1; 1.499 → 1 and 1.501 → 2.
    assert events["start_ns"].tolist() == [1_000, 1_001, 5_001, 5_000]
    assert events["dur_ns"].tolist() == [1, 0, 1, 0]
    assert events["instant"].tolist() == [0, 0, 0, 1]
    assert found.damage == []


def test_statistics_become_columns_and_the_others_json() -> None:
    plane = Plane("/host:CPU")
    stats: dict[str, Stat] = {
        "run_id": Unsigned(2**64 - 5),
        "hlo_op": Ref("dot.1"),
        "ratio": 0.25,
        "bad": float("nan"),
        "note": 'a "b"\n',
        "count": -7,
        "raw": b"\0\1",
    }
    plane.line("t", 0, plane.event("x", 0, 1, **stats), plane.event("y", 0, 1, correlation="41"))
    found, pool = read(space(plane), ("run_id", "correlation", "absent"), ("hlo_op", "count"))
    run_id, correlation = found.number("run_id"), found.number("correlation")
    assert run_id is not None
    assert correlation is not None
    assert run_id.tolist() == [-5, NONE]
    assert correlation.tolist() == [NONE, 41]  # written as text
    assert found.number("absent") is None
    hlo_op, count, rest = found.text("hlo_op"), found.text("count"), found.rest()
    assert hlo_op is not None
    assert hlo_op.tolist() == [pool.intern("dot.1"), -1]
    assert count is not None
    assert count.tolist() == [pool.intern("-7"), -1]  # written as a number
    assert rest is not None
    assert rest[1] == -1
    assert json.loads(pool[rest[0]]) == {
        "ratio": 0.25,
        "bad": None,
        "note": 'a "b"\n',
        "raw": "2 bytes",
    }
    with pytest.raises(KeyError):
        found.number("hlo_op")


def test_an_event_has_its_metadatas_statistics_unless_it_brings_its_own() -> None:
    plane = Plane("/device:TPU:0")
    plane.event_metadata("%fusion = f32[]", "fusion", program_id=7, hlo_op="fusion")
    event = number(1, 1) + number(2, 0)
    own = event + plane.stat(4, "program_id", 8)
    plane.line("XLA Ops", 0, blob(4, event), blob(4, own))
    found, pool = read(space(plane), ("program_id",), ("hlo_op",))
    program, op = found.number("program_id"), found.text("hlo_op")
    assert program is not None
    assert op is not None
    assert program.tolist() == [7, 8]
    assert [pool[i] for i in op] == ["fusion", "fusion"]
    assert pool[found.metadata()["display"][0]] == "fusion"


def test_bytes_of_metadata_are_told_by_place() -> None:
    plane = Plane("/host:metadata")
    plane.event_metadata("jit_f(3)", hlo_proto=b"module", program_id=3)
    data = space(plane)
    found, _ = read(data, ("program_id",))
    [(row, name, offset, length)] = found.blobs
    assert (row, name, data[offset : offset + length]) == (0, "hlo_proto", b"module")
    program = found.number("program_id", of="metadata")
    assert program is not None
    assert program.tolist() == [3]


def test_values_of_planes() -> None:
    plane = Plane("Task Environment")
    plane.plane_stats(start=Unsigned(2**63), real=1.5, text="v", ref=Ref("AMD"), raw=b"x", neg=-1)
    found, _ = read(space(plane))
    assert found.plane_stats == [
        (0, "start", 2**63),
        (0, "real", 1.5),
        (0, "text", "v"),
        (0, "ref", "AMD"),
        (0, "neg", -1),
    ]


def test_counts_without_a_time_and_impossible_times_are_left_out_and_counted() -> None:
    plane = Plane("p")
    key = number(1, plane.event_metadata("x"))
    plane.line("l", 5, blob(4, key + number(5, 9)), plane.event("x", 0, -3))
    plane.line("far", 2**63 - 1, plane.event("x", 0, 1))
    found, _ = read(space(plane))
    assert (found.aggregated, found.negative_dur, found.bad_time) == (1, 1, 1)
    assert found.events()["dur_ns"].tolist() == [0]


def test_unknown_fields_are_skipped_and_names_that_are_missing_told() -> None:
    plane = Plane("p")
    strange = number(77, 1) + blob(78, b"\xff\xff") + varint(79 << 3 | 5) + b"1234"
    strange += varint(80 << 3 | 1) + b"12345678"
    event = blob(4, number(1, 99) + strange + number(2, 3_000) + number(3, 2_000))
    plane.lines.append(strange + blob(2, "l") + event + strange)
    data = blob(1, plane.bytes() + strange) + strange + b"".join([blob(2, "boom"), blob(3, "hm")])
    found, pool = read(data)
    assert event_names(found, pool) == [None]
    assert found.events()["start_ns"].tolist() == [3]
    assert found.damage == []
    assert (found.errors, found.warnings) == (["boom"], ["hm"])


@pytest.mark.parametrize("wire", [3, 4, 6, 7])
def test_a_bad_wire_type_stops_its_plane_only(wire: int) -> None:
    first, second = Plane("first"), Plane("second")
    broken = blob(4, number(1, 1) + varint(2 << 3 | wire) + b"\1")
    first.line("l", 0, first.event("a", 0, 1_000), broken, first.event("a", 9_000, 1_000))
    first.line("never", 0, first.event("a", 0, 1_000))
    second.line("l", 0, second.event("b", 0, 1_000))
    found, pool = read(space(first, second))
    assert event_names(found, pool) == ["a", "b"]
    [(plane, offset, reason)] = found.damage
    assert (plane, reason) == ("first", "an invalid wire type")
    assert space(first, second)[offset] == 2 << 3 | wire


def test_an_event_with_a_broken_statistic_leaves_nothing_behind() -> None:
    first, second = Plane("first"), Plane("second")
    sound = first.stat(4, "k", 1)
    broken = blob(4, number(1, 1) + varint(4 << 3 | 7))
    first.event_metadata("a")
    first.line("l", 0, blob(4, number(1, 1) + number(2, 0) + sound + broken))
    second.line("l", 0, second.event("b", 0, 1), second.event("b", 1, 1, k=5))
    found, pool = read(space(first, second), ("k",))
    assert event_names(found, pool) == ["b", "b"]
    values = found.number("k")
    assert values is not None
    assert values.tolist() == [NONE, 5]


def test_texts_that_are_no_utf8_are_repaired() -> None:
    plane = Plane("p")
    event = blob(4, number(1, 1) + number(2, 0))
    plane.lines.append(blob(2, b"l\xff") + event)
    data = blob(1, plane.bytes() + blob(4, number(1, 1) + blob(2, blob(2, b"n\xc3("))))
    found, pool = read(data)
    assert pool[found.lines()["name"][0]] == "l\ufffd"
    assert event_names(found, pool) == ["n\ufffd("]


def test_a_file_cut_anywhere_keeps_what_came_before() -> None:
    plane = Plane("/host:CPU")
    for line in range(3):
        plane.line(f"t{line}", line, *(plane.event("e", 1_000 * i, 500, k="v") for i in range(3)))
    plane.plane_stats(core_count=4)
    data = space(plane, Plane("/host:metadata"))
    known = 0
    for size in range(len(data) + 1):
        found, _ = read(data[:size], ("core_count",), ("k",))
        events = len(found.events()["line"])
        assert events >= known
        known = events
        assert all(offset <= size for _, offset, _ in found.damage)
    assert known == 9


def test_random_bytes_are_read_to_their_damage() -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        data = random.integers(0, 256, random.integers(0, 60), dtype=np.uint8).tobytes()
        read(blob(1, data) + data, ("a",), ("b",))


def test_a_real_number_for_a_whole_one_is_cut_towards_zero() -> None:
    plane = Plane("p")
    plane.line("l", 0, plane.event("x", 0, 1, n=float("inf")), plane.event("x", 0, 1, n=2.9))
    found, _ = read(space(plane), ("n",))
    values = found.number("n")
    assert values is not None
    assert values.tolist() == [NONE, 2]  # no whole number is infinite
