"""Random well-formed traces, compared with Python's json module and exact decimals."""

import json
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scan.trace_json import event, scan

# What json.dumps of any of them gives is sound JSON; NUL is a character that we replace.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXT
    | st.decimals(-1000, 1000, places=3).map(float),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
CATEGORIES = {"cpu_op": "op", "python_function": "python", "kernel": "gpu", "made up": "other"}
TIMES = st.decimals(Decimal("-1e6"), Decimal("9e15"), allow_nan=False, places=5)
SHAPES = st.lists(st.lists(st.integers(0, 2**40), max_size=3), max_size=3)
INTEGER = st.integers(-(2**63) + 1, 2**63 - 1)


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    category = draw(st.sampled_from(sorted(CATEGORIES)))
    # Keys of our own have a prefix, that they meet no column.
    args: dict[str, Any] = {
        f"x{key}": value for key, value in draw(st.dictionaries(TEXT, VALUES, max_size=3)).items()
    }
    if category == "cpu_op":
        args |= {"External id": draw(INTEGER), "Input Dims": draw(SHAPES)}
    if category == "kernel":
        args |= {
            "correlation": draw(INTEGER),
            "grid": draw(st.lists(INTEGER, min_size=3, max_size=3)),
        }
    fields: dict[str, Any] = {
        "ph": "X",
        "cat": category,
        "name": draw(TEXT.filter(lambda text: text != "[memory]")),
        "pid": draw(st.integers(-(2**63), 2**64) | TEXT),
        "tid": draw(st.integers(0, 10**6)),
        "ts": draw(TIMES),
        "dur": draw(st.decimals(0, 1000, allow_nan=False, places=5)),
        "args": args,
    }
    keys = draw(st.permutations(list(fields)))
    return {key: fields[key] for key in keys}


def written(rows: list[dict[str, Any]], indent: int | None, ascii_only: bool) -> str:
    """As JSON whose times have all their digits."""
    marked = [row | {key: f"@{row[key]:f}@" for key in ("ts", "dur")} for row in rows]
    text = json.dumps({"traceEvents": marked}, indent=indent, ensure_ascii=ascii_only)
    for row in marked:
        for key in ("ts", "dur"):
            text = text.replace(f'"{row[key]}"', row[key].strip("@"))
    return text


def rounded(microseconds: Decimal) -> int:
    return int((microseconds * 1000).quantize(Decimal(1), ROUND_HALF_UP))


def check(found: Any, rows: list[dict[str, Any]]) -> None:
    tables: dict[str, list[dict[str, Any]]] = {
        table: found.rows(table) for table in CATEGORIES.values()
    }
    lanes = found.rows("lane")
    seen = dict.fromkeys(CATEGORIES.values(), 0)
    for position, row in enumerate(rows):
        table = CATEGORIES[row["cat"]]
        read = tables[table][seen[table]]
        seen[table] += 1
        assert read["seq"] == position
        assert read["name"] == row["name"]
        assert read["ts_ns"] == rounded(row["ts"])
        assert read["ts_ns"] + read["dur_ns"] == rounded(row["ts"] + row["dur"])
        lane: dict[str, Any] = lanes[read["lane"]]
        assert (lane["pid"], lane["tid"]) == (str(row["pid"]), str(row["tid"]))
        args: dict[str, Any] = dict(row["args"])
        if table == "op":
            assert read["ext_id"] == args.pop("External id")
            dims: str = found.rows("shape")[read["shape"]]["dims"]
            assert json.loads(dims) == args.pop("Input Dims")
        if table == "gpu":
            assert read["corr"] == args.pop("correlation")
            config: dict[str, Any] = found.rows("config")[read["config"]]
            assert [config[f"grid_{axis}"] for axis in "xyz"] == args.pop("grid")
        assert json.loads(read.get("args", "{}")) == args
    assert seen == {table: len(read) for table, read in tables.items()}
    assert found.scan.events == len(rows)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(events(), max_size=6),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
    st.lists(st.integers(1, 40), max_size=60) | st.just([1] * 4_000),
)
def test_the_same_as_the_json_module(
    rows: list[dict[str, Any]], indent: int | None, ascii_only: bool, pieces: list[int]
) -> None:
    text = written(rows, indent, ascii_only)
    assert len(json.loads(text)["traceEvents"]) == len(rows)
    found = scan(text, pieces)
    assert found.report == {} or set(found.report) <= {"missing_field", "wide_int"}
    check(found, rows)


@settings(deadline=None, max_examples=60)
@given(
    st.binary(max_size=400) | st.text('{}[]",:\\\n 1eNax@phtsname', max_size=200).map(str.encode)
)
def test_any_bytes_are_read_to_an_end(data: bytes) -> None:
    whole = scan(data)
    assert scan(data, [1] * len(data)).all_rows() == whole.all_rows()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 300), max_size=40), st.data())
def test_pieces_do_not_matter_for_damaged_files(pieces: list[int], data: st.DataObject) -> None:
    rows = [event(name=f"n{i}", cat="cpu_op", args={"Input type": ["a", "b"]}) for i in range(40)]
    text = json.dumps(
        {"traceEvents": rows, "traceName": "t"}, indent=data.draw(st.none() | st.just(1))
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        put = data.draw(st.sampled_from(['"', "\\", "", "{", "]", "}", ",", "\n"]))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 2)) :]
    whole, cut = scan(text), scan(text, pieces)
    assert cut.all_rows() == whole.all_rows()
    assert cut.scan.report == whole.scan.report
    assert cut.scan.metadata == whole.scan.metadata


def test_a_file_cut_at_every_byte() -> None:
    rows = [
        event(name=f"n{i}", cat="cpu_op", args={"Input type": ["a"], "x": {"y": [i]}})
        for i in range(30)
    ]
    text = json.dumps(
        {"schemaVersion": 1, "traceEvents": rows, "traceName": "t"}, indent=1
    ).encode()
    assert len(text) > 4_096
    before = 0
    for size in range(len(text) + 1):
        found = scan(text[:size])
        read = found.scan.rows("op")
        assert read >= before
        before = read
    assert before == len(rows)
