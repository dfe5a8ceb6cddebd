"""A trace repeated to size: each copy holds what the source does, linked as it is there."""

import json
from pathlib import Path

from bench.kineto import DEMO, packed, repeat
from dctx.ingest.registry import open_trace
from tests.kineto_files import Opened

COUNTS = """SELECT (SELECT count(*) FROM gpu_op WHERE kind < 4),
                   (SELECT count(launch) FROM gpu_op WHERE kind < 4),
                   (SELECT count(op) FROM gpu_op WHERE kind < 4),
                   (SELECT count(*) FROM host_event),
                   (SELECT count(parent) FROM host_event),
                   (SELECT count(forward) FROM host_event),
                   (SELECT count(*) FROM memory_event),
                   (SELECT sum(self_ns) FROM host_event)"""


def test_copies_follow_each_other_and_are_linked_within_themselves(tmp_path: Path) -> None:
    target = tmp_path / "twice.json"
    events = repeat(DEMO, target, 2_000_000)
    assert events == len(json.loads(target.read_text())["traceEvents"])
    once, twice = (Opened(open_trace(path, cache=False)) for path in (DEMO, packed(target)))
    [single], [double] = once.rows(COUNTS), twice.rows(COUNTS)
    assert double == tuple(2 * count for count in single)
    # No copy overlaps another: the union of the GPU's work is twice that of one.
    busy = "SELECT busy_ns, kernel_count, kernel_sum_ns FROM device_busy"
    assert twice.rows(busy) == [tuple(2 * value for value in row) for row in once.rows(busy)]
    # Each operation was launched before it ran, within its own copy.
    spans = "SELECT max(o.start_ns - h.start_ns) FROM gpu_op o JOIN host_event h ON h.id = o.launch"
    assert twice.rows(spans) == once.rows(spans)
