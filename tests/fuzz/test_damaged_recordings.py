"""JAX recordings with random damage open as far as they are sound, or are refused in a sentence;
what is shown adds up."""

import os
import random
from pathlib import Path

import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store
from tests.ingest.test_jax_recordings import gpu_recording

ROUNDS = int(os.environ.get("DCTX_FUZZ_ROUNDS", "24"))
SUMS = (
    ("SELECT sum(gpu_ns) FROM path_metric", "SELECT sum(dur_ns) FROM gpu_op WHERE kind < 4"),
    ("SELECT sum(host_ns) FROM path_metric", "SELECT sum(self_ns) FROM host_event"),
    ("SELECT count(*) FROM gpu_op WHERE args >= 0", "SELECT count(args) FROM gpu_op"),
)


def damaged(data: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(10, len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                changed[at] = (changed[at] + chance.choice((-1, 1))) % 256
            case 2:
                del changed[at : at + chance.randint(1, 4)]
            case _:
                changed[at:at] = chance.randbytes(chance.randint(1, 5))
    return bytes(changed)


def check(store: Store) -> None:
    with store.cursor() as cursor:
        for stored, direct in SUMS:
            found, expected = (cursor.execute(sql).fetchone() for sql in (stored, direct))
            assert found is not None
            assert expected is not None
            assert (found[0] or 0) == (expected[0] or 0), stored


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_damage_is_survived(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(damaged(gpu_recording(), seed))
    try:
        store = open_trace(path, cache=False)
    except TraceError:
        return  # its first bytes are hit: it is no recording any more
    try:
        check(store)
    finally:
        store.close()
