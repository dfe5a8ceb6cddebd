"""Records of JSON and msgpack documents as columns, against Python's own reading of them."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.native import DocumentReader

NULL = -(2**63)

EVENTS: Any = (
    "event",
    "runs[].events[]",
    [("time", "time.start", "i64"), ("size", "size", "f64"), ("name", "name", "text")],
    "",
)
RUNS: Any = ("run", "runs[]", [("pid", "pid", "i64")], "")
TREE: Any = ("node", "[0]", [("name", "frame.name", "text")], "children[]")
METRICS: Any = ("metric", "[0].metrics.*", [("key", "@key", "text"), ("value", "", "f64")], "")


def read(text: bytes, *tables: Any, step: int = 7) -> DocumentReader:
    reader = DocumentReader(tables)
    for at in range(0, len(text), step):
        reader.feed(text[at : at + step])
    reader.finish()
    return reader


def texts(reader: DocumentReader, table: str, column: str) -> list[str | None]:
    found = reader.text(table, column)
    return [found[row] for row in range(len(found))]


def packed(value: Any) -> bytes:
    """A value in msgpack, each number in the widest form."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode()
        return b"\xda" + struct.pack(">H", len(raw)) + raw
    if not hasattr(value, "keys"):
        items: list[Any] = value
        return b"\xdc" + struct.pack(">H", len(items)) + b"".join(packed(item) for item in items)
    pairs: dict[str, Any] = value
    body = b"".join(packed(key) + packed(item) for key, item in pairs.items())
    return b"\xde" + struct.pack(">H", len(pairs)) + body


def test_records_of_several_arrays_know_what_is_around_them() -> None:
    text = json.dumps(
        {
            "runs": [
                {"events": [{"time": {"start": 5}, "name": "a"}, {"size": 2.5}], "pid": 11},
                {"pid": 12, "events": [{"name": "b", "other": {"name": "not this"}}]},
            ],
            "events": [{"name": "elsewhere"}],
        }
    ).encode()
    reader = read(text, EVENTS, RUNS)
    assert reader.error is None
    assert reader.array("event", "time").tolist() == [5, NULL, NULL]
    assert np.isnan(reader.array("event", "size")).tolist() == [True, False, True]
    assert texts(reader, "event", "name") == ["a", None, "b"]
    assert reader.outer("event").tolist() == [0, 0, 1]
    assert reader.outer("run").tolist() == [-1, -1]
    assert reader.array("run", "pid").tolist() == [11, 12]


def test_values_of_other_types_are_converted_or_null() -> None:
    values = [7, "8", "0xff", 9.75, True, None, "x", [1], {"a": 1}, 2**64 - 1, 2**70]
    text = json.dumps([{"v": value} for value in values]).encode()
    reader = read(
        text, ("row", "[]", [("i", "v", "i64"), ("f", "v", "f64"), ("t", "v", "text")], "")
    )
    wide = reader.array("row", "i").tolist()
    assert wide == [7, 8, 255, 9, 1, NULL, NULL, NULL, NULL, -1, NULL]
    real = reader.array("row", "f")
    assert real[[0, 1, 3]].tolist() == [7.0, 8.0, 9.75]
    assert real[9] == 2.0**64
    assert texts(reader, "row", "t")[:5] == ["7", "8", "0xff", "9.75", "true"]


def test_bytes_that_are_no_utf8_and_damaged_escapes_are_replaced() -> None:
    raw = b'[{"v":"a\xff\xfeb"},{"v":"\\ud800\\u0041\\u0000"},{"v":"\\ud83d\\ude00\\q\n\x01"}]'
    reader = read(raw, ("row", "[]", [("v", "v", "text")], ""), step=1)
    assert reader.error is None
    assert texts(reader, "row", "v") == ["a��b", "�A�", "😀\\q\n\x01"]
    assert reader.repaired == 1


def test_words_that_are_no_json_are_null_and_commas_may_be_wrong() -> None:
    raw = b'\xef\xbb\xbf[{"v":NaN},{"v":-Infinity,}{"v":1}, ,{"v":2},]\r\n'
    reader = read(raw, ("row", "[]", [("v", "v", "f64")], ""), step=2)
    assert reader.error is None
    assert reader.array("row", "v")[2:].tolist() == [1.0, 2.0]
    assert np.isnan(reader.array("row", "v")[:2]).all()


@pytest.mark.parametrize("broken", [b'[{"v":1},{"v":2}]]', b'[{"v":1},{"v":2},;]', b"[1:2]"])
def test_damage_stops_the_reading_and_says_where(broken: bytes) -> None:
    reader = read(broken, ("row", "[]", [("v", "v", "i64")], ""))
    assert reader.error is not None
    assert reader.error.startswith("byte ")


def test_a_document_cut_anywhere_keeps_what_came_before() -> None:
    text = json.dumps({"runs": [{"events": [{"name": f"n{i}", "size": i} for i in range(9)]}]})
    whole, rows = text.encode(), 0
    for length in range(1, len(whole)):
        reader = read(whole[:length], EVENTS, step=length)
        assert reader.error is not None
        assert rows <= reader.rows("event")
        rows = reader.rows("event")
        assert reader.open("event") <= 1
        done = rows - reader.open("event")
        assert texts(reader, "event", "name")[:done] == [f"n{i}" for i in range(done)]
    assert rows == 9


def test_a_tree_has_parents_before_children_and_any_depth() -> None:
    depth = 30_000
    node = b'{"children":[' * depth + b"]}" * depth
    reader = read(b"[" + node + b"]", TREE, step=1 << 20)
    assert reader.error is None
    assert reader.outer("node").tolist() == list(range(-1, depth - 1))
    deeper = b"[" * 200_000
    assert "inside each other" in str(read(deeper, TREE, step=1 << 20).error)


def test_json_and_msgpack_of_one_tree_give_the_same_columns() -> None:
    tree: Any = [
        {
            "children": [
                {"frame": {"name": "k", "type": "f"}, "metrics": {"time (ns)": 3}, "children": []},
                {"children": [], "metrics": {"x": -1.5, "id": "0"}, "frame": {"name": "ä"}},
            ],
            "frame": {"name": "ROOT"},
            "metrics": {"count": 0},
        },
        {"CUDA": {"0": {"arch": "90"}}},
    ]
    by_text = read(json.dumps(tree).encode(), TREE, METRICS)
    by_pack = DocumentReader([TREE, METRICS])
    by_pack.read_msgpack(packed(tree))
    for reader in (by_text, by_pack):
        assert reader.error is None
        assert texts(reader, "node", "name") == ["ROOT", "k", "ä"]
        assert reader.outer("node").tolist() == [-1, 0, 0]
        rows = sorted(
            zip(
                reader.outer("metric").tolist(),
                texts(reader, "metric", "key"),
                reader.array("metric", "value").tolist(),
                strict=True,
            )
        )
        assert rows[0] == (0, "count", 0.0)
        assert rows[1] == (1, "time (ns)", 3.0)
        assert rows[3] == (2, "x", -1.5)


def test_msgpack_forms_of_numbers_and_texts() -> None:
    forms = [
        (b"\x05", 5),
        (b"\xe0", -32),
        (b"\xcc\xff", 255),
        (b"\xcd\xff\xff", 65535),
        (b"\xce\xff\xff\xff\xff", 2**32 - 1),
        (b"\xd0\x80", -128),
        (b"\xd1\x80\x00", -32768),
        (b"\xd2\x80\x00\x00\x00", -(2**31)),
        (b"\xca" + struct.pack(">f", 1.5), 1),
        (b"\xa242"[:1] + b"42", 42),
        (b"\xd9\x0242", 42),
        (b"\xc4\x0242", 42),
        (b"\xd4\x01\x00", NULL),
        (b"\xc7\x02\x01ab", NULL),
    ]
    for raw, value in forms:
        reader = DocumentReader([("row", "[]", [("v", "v", "i64")], "")])
        reader.read_msgpack(b"\x91\x81\xa1v" + raw)
        assert reader.error is None, raw
        assert reader.array("row", "v").tolist() == [value], raw


def test_msgpack_cut_anywhere_says_so() -> None:
    whole = packed([{"a": 1, "b": [1, 2, {"c": "text"}]}, 2.5])
    for length in range(len(whole)):
        reader = DocumentReader([("row", "[]", [("a", "a", "i64")], "")])
        reader.read_msgpack(whole[:length])
        assert reader.error is not None
    reader = DocumentReader([("row", "[]", [("a", "a", "i64")], "")])
    reader.read_msgpack(b"\x91\xc1")
    assert "begins no msgpack value" in str(reader.error)


_VALUE = st.none() | st.integers(-(2**63) + 1, 2**63 - 1) | st.text(max_size=4)
_ROW = st.dictionaries(
    st.sampled_from("vwx"), _VALUE | st.lists(_VALUE, max_size=2) | st.just({"v": 1, "w": "in"})
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(_ROW, max_size=5), st.booleans(), st.integers(1, 50))
def test_any_document_reads_as_pythons_json_does(
    rows: list[dict[str, Any]], ascii_only: bool, step: int
) -> None:
    text = json.dumps(rows, ensure_ascii=ascii_only).encode()
    reader = read(text, ("row", "[]", [("i", "v", "i64"), ("t", "w", "text")], ""), step=step)
    assert reader.error is None
    assert reader.rows("row") == len(rows)
    numbers, names = reader.array("row", "i").tolist(), texts(reader, "row", "t")
    for row, number, name in zip(rows, numbers, names, strict=True):
        if not isinstance(row.get("v"), str):
            assert number == (row["v"] if isinstance(row.get("v"), int) else NULL)
        value = row.get("w")
        if isinstance(value, int):
            value = str(value)
        assert name == (value.replace("\0", "\ufffd") if isinstance(value, str) else None)


def test_paths_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="lacks its"):
        DocumentReader([("a", "x[", [], "")])
    with pytest.raises(ValueError, match="two tables"):
        DocumentReader([("a", "x[]", [], ""), ("b", "x[]", [], "")])
    with pytest.raises(ValueError, match="column kind"):
        DocumentReader([("a", "x[]", [("c", "c", "i32")], "")])  # type: ignore[list-item]
    reader = DocumentReader([("a", "x[]", [], "")])
    reader.finish()
    with pytest.raises(KeyError):
        reader.rows("b")
