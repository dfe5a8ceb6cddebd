"""Damaged SQLite files give rows or one paragraph, whatever was changed in them."""

import os
import random
import sqlite3
from pathlib import Path

import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.sqlite import SqliteSource

ROUNDS = int(os.environ.get("DCTX_FUZZ_ROUNDS", "300"))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("fuzz") / "good.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size=512")
    connection.execute("CREATE TABLE a (start INTEGER, name TEXT, id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE b (x REAL, note TEXT DEFAULT 'none') -- and a comment")
    connection.execute("CREATE TABLE keyed (k TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.executemany(
        "INSERT INTO a (start, name) VALUES (?, ?)",
        [(i**4, "n" * (i if i % 10 else i * 20)) for i in range(100)],
    )
    connection.executemany("INSERT INTO b (x) VALUES (?)", [(i / 3,) for i in range(100)])
    connection.execute("ALTER TABLE b ADD COLUMN later INTEGER DEFAULT 5")
    connection.executemany("INSERT INTO keyed VALUES (?)", [(f"key {i}",) for i in range(50)])
    connection.commit()
    connection.close()
    return path.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    out = bytearray(content)
    if chance.random() < 0.2:
        del out[chance.randrange(len(out)) :]
    for _ in range(chance.randrange(1, 12)):
        if out:
            # The first bytes of a page hold its structure: aim there half of the time.
            place = chance.randrange(len(out))
            if chance.random() < 0.5:
                place -= place % 512
                place = min(place + chance.randrange(24), len(out) - 1)
            out[place] = chance.randrange(256)
    return bytes(out)


@pytest.mark.parametrize("salvage", [False, True])
def test_rows_or_a_paragraph(good: bytes, tmp_path: Path, salvage: bool) -> None:
    chance = random.Random(7)
    path = tmp_path / "t.sqlite"
    read = refused = 0
    for _ in range(ROUNDS):
        path.write_bytes(damaged(good, chance))
        os.utime(path, (0, 0))
        try:
            with SqliteSource(path, salvage) as source:
                for table, names in source.tables.items():
                    columns = source.read(table, dict.fromkeys(names, "text"))
                    assert all(len(columns.text(name)) == columns.rows for name in names)
                    read += columns.rows
        except TraceError:
            refused += 1
    assert read > 0
    assert 0 < refused < ROUNDS
