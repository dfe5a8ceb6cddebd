"""Columns handed to DuckDB through the Arrow stream."""

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

from dctx.native import ColumnStream, StringPool, TextColumn


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def rows_of(connection: duckdb.DuckDBPyConnection, stream: ColumnStream) -> list[tuple[Any, ...]]:
    connection.register("given", stream)
    connection.execute("CREATE OR REPLACE TABLE made AS SELECT * FROM given")
    connection.unregister("given")
    return connection.execute("SELECT * FROM made").fetchall()


TYPES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
}


def test_every_type_arrives_as_itself(connection: duckdb.DuckDBPyConnection) -> None:
    columns: dict[str, NDArray[Any] | TextColumn | StringPool] = {}
    for name in TYPES:
        if name == "bool":
            columns[name] = np.array([True, False, True])
        elif name == "float64":
            columns[name] = np.array([-0.5, 1e300, np.inf])
        else:
            info = np.iinfo(name)
            columns[name] = np.array([info.min, 0, info.max], name)
    columns["text"] = TextColumn.from_list(["ä", None, "\0 and more"])
    pool = StringPool()
    for text in ("one", "two", ""):
        pool.intern(text)
    columns["pool"] = pool
    rows = rows_of(connection, ColumnStream(columns))
    described = connection.execute("DESCRIBE made").fetchall()
    assert {row[0]: row[1] for row in described} == {**TYPES, "text": "VARCHAR", "pool": "VARCHAR"}
    values = [
        c.tolist() if isinstance(c, np.ndarray) else [c[row] for row in range(len(c))]
        for c in columns.values()
    ]
    assert rows == list(zip(*values, strict=True))


def test_order_selects_and_sorts(connection: duckdb.DuckDBPyConnection) -> None:
    size = 300_000
    number = np.arange(size, dtype=np.int64)
    texts = TextColumn.from_list([None if i % 7 == 0 else f"text {i}" for i in range(size)])
    order = np.flatnonzero(number % 2 == 1)[::-1].astype(np.uint32)
    stream = ColumnStream({"n": number, "t": texts, "odd": number % 4 == 1}, order=order)
    assert len(stream) == size // 2
    rows = rows_of(connection, stream)
    assert rows == [
        (i, None if i % 7 == 0 else f"text {i}", i % 4 == 1) for i in range(size - 1, 0, -2)
    ]


@pytest.mark.parametrize("ordered", [False, True])
def test_nulls(connection: duckdb.DuckDBPyConnection, ordered: bool) -> None:
    order = np.array([3, 2, 1, 0], np.uint32) if ordered else None
    stream = ColumnStream(
        {
            "small": np.array([-1, 0, 1, -1], np.int8),
            "wide": np.array([-(2**63), 7, -1, 0]),
            "unsigned": np.array([0, 255, 3, 255], np.uint8),
            "real": np.array([np.nan, 1.5, -1.0, np.nan]),
            "kept": np.array([-1, -1, -1, -1]),
        },
        order=order,
        nulls={"small": -1, "wide": -(2**63), "unsigned": 255, "real": -1},
    )
    expected = [
        (None, None, 0, None, -1),
        (0, 7, None, 1.5, -1),
        (1, -1, 3, None, -1),
        (None, 0, None, None, -1),
    ]
    assert rows_of(connection, stream) == (expected[::-1] if ordered else expected)


def test_a_stream_can_be_read_again(connection: duckdb.DuckDBPyConnection) -> None:
    stream = ColumnStream({"n": np.arange(5)})
    assert rows_of(connection, stream) == rows_of(connection, stream) == [(i,) for i in range(5)]
    connection.execute("INSERT INTO made SELECT n + 1 FROM stream WHERE n > 2")
    total = connection.execute("SELECT sum(n) FROM made").fetchall()
    assert total == [(10 + 4 + 5,)]


def test_a_growing_pool_does_not_change_its_stream(connection: duckdb.DuckDBPyConnection) -> None:
    pool = StringPool()
    pool.intern("before")
    stream = ColumnStream({"text": pool})
    for i in range(1000):
        pool.intern(f"after {i}")
    assert rows_of(connection, stream) == [("before",)]


def test_empty_tables(connection: duckdb.DuckDBPyConnection) -> None:
    nothing = np.array([], np.int32)
    for order in (None, np.array([], np.uint32)):
        stream = ColumnStream({"n": nothing, "t": TextColumn.from_list([])}, order=order)
        assert len(stream) == 0
        assert rows_of(connection, stream) == []
    stream = ColumnStream({"n": np.arange(3)}, order=np.array([], np.uint32))
    assert rows_of(connection, stream) == []


def test_strided_and_foreign_arrays(connection: duckdb.DuckDBPyConnection) -> None:
    wide = np.arange(20, dtype=np.int64)
    packed = np.frombuffer(b"\0" + np.arange(10, dtype=np.int32).tobytes(), np.int32, 10, 1)
    assert not packed.flags.aligned
    stream = ColumnStream({"every_other": wide[::2], "backwards": wide[9::-1], "packed": packed})
    assert rows_of(connection, stream) == [(2 * i, 9 - i, i) for i in range(10)]


def test_wrong_input() -> None:
    n = np.arange(3)
    with pytest.raises(ValueError, match="rows"):
        ColumnStream({"a": n, "b": np.arange(4)})
    with pytest.raises(ValueError, match="a column"):
        ColumnStream({})
    with pytest.raises(ValueError, match="dimension"):
        ColumnStream({"a": np.zeros((2, 2))})
    with pytest.raises(TypeError, match="uint64"):
        ColumnStream({"a": n.astype(np.uint64)})
    with pytest.raises(TypeError):
        ColumnStream({"a": n.astype(">i8")})
    with pytest.raises(TypeError):
        ColumnStream({"a": [1, 2]})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="texts"):
        ColumnStream({"a": TextColumn.from_list(["x"])}, nulls={"a": 1})
    with pytest.raises(KeyError):
        ColumnStream({"a": n}, nulls={"b": 1})
    with pytest.raises(IndexError, match="row 3 of 3"):
        ColumnStream({"a": n}, order=np.array([0, 3], np.uint32))


def test_memory_is_kept_as_long_as_it_is_needed_and_no_longer() -> None:
    array = np.arange(200_000)
    freed = weakref.ref(array)
    stream = ColumnStream({"n": array})
    del array
    assert freed() is not None
    with duckdb.connect() as connection:
        connection.register("given", stream)
        total = connection.execute("SELECT sum(n) FROM given").fetchall()
        assert total == [(199_999 * 100_000,)]
        connection.unregister("given")
    del stream
    gc.collect()
    assert freed() is None


def test_the_last_owner_may_be_another_thread() -> None:
    array = np.arange(1000)
    freed = weakref.ref(array)
    stream = ColumnStream({"n": array})
    capsules = [stream.__arrow_c_stream__()]
    del array, stream
    thread = threading.Thread(target=capsules.clear)
    thread.start()
    thread.join()
    assert freed() is None


def test_neither_pyarrow_nor_a_second_opening_is_needed() -> None:
    code = (
        "import sys, duckdb, numpy as np\n"
        "from dctx.native import ColumnStream\n"
        "stream = ColumnStream({'n': np.arange(3)})\n"
        "con = duckdb.connect()\n"
        "con.execute('CREATE TABLE t AS SELECT * FROM stream')\n"
        "print(con.execute('SELECT sum(n) FROM t').fetchone(), 'pyarrow' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["(3,)", "False"]
