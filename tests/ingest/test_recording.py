"""Recordings: what was recorded is what the store holds, and damage costs no more than it must."""

import json
import os
import random
import struct
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.recording.chunks import Chunk, FormatError, read_chunks
from dctx.ingest.recording.content import Recording, parse
from dctx.ingest.recording.table import Table
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, crc32c, monitor

META = {
    "argv": ["train.py", "--fast"],
    "program": "train.py",
    "event_ns": 250.0,
    "dctx": "0.1.0",
    "rank": 3,
}
HEADER = 64
ROUNDS = int(os.environ.get("DCTX_FUZZ_ROUNDS", "2"))


def leaf(name: str) -> None:
    with monitor.scope(name):
        time.sleep(0.0002)


def work() -> None:
    with monitor.scope("outer"):
        for _ in range(3):
            leaf("inner")
        sum(range(2000))
        leaf("last")


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[bytes, monitor.ThreadTree]:
    """A recording with three snapshots that was not ended, and the tree as the program saw it."""
    path = tmp_path_factory.mktemp("recording") / "a.dctxrec"
    monitor.init(monitor.Source.PYTHON | monitor.Source.SCOPE)
    assert Recorder.start(str(path), json.dumps(META), interval_ns=10**12)
    try:
        for _ in range(3):
            work()
            leaf("between")
            assert Recorder.snapshot()
        [tree] = monitor.tree()
        data = path.read_bytes()
    finally:
        Recorder.stop()
        monitor.finalize()
    return data, tree


def test_the_store_holds_what_was_recorded(
    recorded: tuple[bytes, monitor.ThreadTree], tmp_path: Path
) -> None:
    data, tree = recorded
    path = tmp_path / "a.dctxrec"
    path.write_bytes(data)
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        found = cursor.execute(
            """SELECT y.name, s.text, coalesce(f.line, 0), m.calls, m.host_dur_sum_ns,
                      m.host_dur_min_ns, m.host_dur_max_ns, m.host_dur_sumsq
               FROM path_metric m JOIN path_node n ON n.id = m.node JOIN frame f ON f.id = n.frame
               JOIN layer_name y ON y.code = f.layer JOIN string s ON s.id = f.name
               WHERE m.calls > 0"""
        ).fetchall()
        expected = [
            ("annotation", n.frame.name, 0, n.count, n.sum_ns, n.min_ns, n.max_ns, n.sum_sq)
            for n in tree.root.walk()
            if n.count
        ]
        assert sorted(found) == sorted(expected)
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        [(total,)] = cursor.execute("SELECT sum(host_ns) FROM path_metric").fetchall()
        [(root,)] = cursor.execute("SELECT host_ns FROM path_total WHERE node = 0").fetchall()
        [(pid, rank, name)] = cursor.execute("SELECT pid, rank, name FROM process").fetchall()
        notes = [text for (text,) in cursor.execute("SELECT text FROM note").fetchall()]
    # All time inside scopes, and the Python time before those that are in no other.
    gaps = sum(
        n.host_gap_ns for n in tree.root.walk() if not in_scope(n) and n.frame.kind == "python"
    )
    own = sum(n.self_ns for n in tree.root.walk())
    assert own == tree.top_level_ns == int(facts["recording.top_level_ns"])
    assert total == root == own + gaps
    assert (rank, name) == (3, "train.py")
    assert pid == struct.unpack_from("<I", data, 16)[0]
    assert facts["recording.events"] == str(sum(n.count for n in tree.root.walk())) == "18"
    cost = int(facts["recording.own_cost_ns"])
    assert cost == 18 * 250 + parse(data).commit["recorder_cpu_ns"]
    assert any("killed or still runs" in note for note in notes)
    assert any("% of the run: an estimate, from 18 events" in note for note in notes)


def in_scope(node: monitor.Node) -> bool:
    above = node.parent
    while above is not None:
        if above.frame.kind == "scope":
            return True
        above = above.parent
    return False


def same(one: Recording, other: Recording) -> bool:
    return one.commit == other.commit and all(
        np.array_equal(tree.metrics["sum_ns"], other.threads[index].metrics["sum_ns"])
        for index, tree in one.threads.items()
    )


def snapshots(data: bytes) -> list[tuple[int, Recording]]:
    """Where each snapshot ends, and what the recording is up to there."""
    ends: list[tuple[int, Recording]] = []
    at = HEADER
    while at < len(data):
        kind, _, size = struct.unpack_from("<4sIQ", data, at)
        at += 24 + (size + 7) // 8 * 8
        if kind == b"COMM":
            ends.append((at, parse(data[:at])))
    return ends


def test_a_cut_file_holds_everything_up_to_its_last_snapshot(
    recorded: tuple[bytes, monitor.ThreadTree],
) -> None:
    data, _ = recorded
    ends = snapshots(data)
    assert len(ends) == 3
    near = {end + by for end, _ in ends for by in range(-9, 2)} & set(range(len(data)))
    for size in sorted(near | set(range(0, len(data), 5))):
        whole = [recording for end, recording in ends if end <= size]
        # The padding after a chunk holds nothing: a file may end before it.
        late = [end for end, _ in ends if end - 8 < size < end]
        try:
            found = parse(data[:size])
        except FormatError:
            assert not whole
        else:
            assert whole or late
            assert late or same(found, whole[-1])
            assert bool(found.lost) or late or size in [end for end, _ in ends]


def test_a_flipped_byte_costs_no_earlier_snapshot(
    recorded: tuple[bytes, monitor.ThreadTree],
) -> None:
    data, _ = recorded
    ends = snapshots(data)
    for at in range(HEADER, len(data), 5):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        whole = [recording for end, recording in ends if end <= at]
        try:
            found = parse(bytes(changed))
        except FormatError:
            assert not whole
        else:
            assert same(found, whole[-1] if found.lost else ends[-1][1])
    for at in range(HEADER - 4):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        with pytest.raises(FormatError):
            parse(bytes(changed))


def chunk(kind: bytes, number: int, content: bytes) -> bytes:
    head = struct.pack("<4sIQI", kind, 0, len(content), number)
    check = crc32c(content, crc32c(head))
    return head + struct.pack("<I", check) + content + b"\0" * (-len(content) % 8)


def rebuilt(data: bytes, change: dict[int, bytes], extra: bytes = b"") -> bytes:
    """The recording with other contents of some chunks, and right check sums."""
    out, number = data[:HEADER], 0
    for number, item in enumerate(read_chunks(data).chunks):
        out += chunk(item.type, number, change.get(number, bytes(item.content)))
    return out + extra


def test_what_a_newer_dctx_adds_is_skipped(recorded: tuple[bytes, monitor.ThreadTree]) -> None:
    data, _ = recorded
    whole = parse(data)
    chunks = read_chunks(data).chunks
    again = bytes(chunks[-1].content)
    more = chunk(b"NEW ", len(chunks), b"?") + chunk(b"COMM", len(chunks) + 1, again)
    assert same(parse(rebuilt(data, {}, more)), whole)
    head = bytearray(data[:HEADER])
    struct.pack_into("<H", head, 10, 7)
    struct.pack_into("<I", head, 60, crc32c(bytes(head[:60])))
    assert parse(bytes(head) + data[HEADER:]).header.minor == 7
    struct.pack_into("<H", head, 8, 2)
    struct.pack_into("<I", head, 60, crc32c(bytes(head[:60])))
    with pytest.raises(FormatError, match=r"version 2\.7, this dctx reads up to 1"):
        parse(bytes(head) + data[HEADER:])


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_contents_that_cannot_be_are_refused(
    recorded: tuple[bytes, monitor.ThreadTree], seed: int
) -> None:
    """Damage that the check sums do not tell: the writer, or someone, got it wrong."""
    data, _ = recorded
    chance = random.Random(seed)
    chunks = read_chunks(data).chunks
    for _ in range(100):
        number = chance.randrange(len(chunks))
        content = bytearray(chunks[number].content)
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(min(len(content), 120))] = chance.choice((0, 1, 127, 255))
        with suppress(FormatError):
            parse(rebuilt(data, {number: bytes(content)}))


def test_a_table_of_zeros_takes_no_bytes() -> None:
    def table(rows: int) -> Table:
        content = struct.pack("<IIIHHBBBBI", rows, 0, 0, 1, 0, 0, 0, 0, 0, 0)
        return Table(Chunk(b"CODE", 0, memoryview(content)))

    assert table(500).integers(0).tolist() == table(500).integers(7).tolist() == [0] * 500
    with pytest.raises(FormatError, match="the CODE table at byte 0 is damaged"):
        table(2**31)


def test_a_recording_without_a_snapshot_is_told(
    recorded: tuple[bytes, monitor.ThreadTree], tmp_path: Path
) -> None:
    path = tmp_path / "cut.dctxrec"
    path.write_bytes(recorded[0][:100])
    with pytest.raises(TraceError, match=r"cut\.dctxrec: it holds no complete snapshot"):
        open_trace(path, cache=False)


def test_several_files_are_one_recording(
    recorded: tuple[bytes, monitor.ThreadTree], tmp_path: Path
) -> None:
    data = recorded[0]
    chunks = read_chunks(data).chunks
    for rank in (0, 1):
        meta = json.dumps({**META, "rank": rank}).encode()
        (tmp_path / f"run.{rank}.dctxrec").write_bytes(rebuilt(data, {0: meta}))
    assert chunks[0].type == b"META"
    with closing(open_trace(tmp_path, cache=False)) as store, store.cursor() as cursor:
        ranks = cursor.execute("SELECT rank FROM process ORDER BY 1").fetchall()
        [(events,)] = cursor.execute("SELECT sum(calls) FROM path_metric").fetchall()
    assert ranks == [(0,), (1,)]
    assert events == 36
