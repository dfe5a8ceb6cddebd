"""What contexts allocated: kept in the file, summed over what they called."""

from contextlib import closing
from pathlib import Path

import pytest

from dctx.ingest.recording.chunks import FormatError
from dctx.ingest.recording.content import parse
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, monitor
from dctx.queries.allocated import Allocated, allocated_below
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.tui.screens.details import of_node


def recorded(path: Path, *tables: list[list[int]]) -> None:
    """A scope in another one (nodes 1 and 2 of the thread); what they allocated, as told twice."""
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(path), "{}", interval_ns=10**12)
    try:
        with monitor.scope("outer"), monitor.scope("inner"):
            pass
        [thread] = monitor.tree()
        for table in tables:
            Recorder.attach("MEM ", Recorder.table(table, owner=thread.index))
    finally:
        Recorder.stop()
        monitor.finalize()


def test_contexts_tell_what_they_and_their_callees_allocated(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    # Columns: node, type of device (0: CPU), its index, allocations, bytes, given back, peak.
    before = [[1, 2], [0, 0], [-1, -1], [1, 9], [100, 900], [0, 0], [100, 1_000]]
    after = [[2, 2], [0, 1], [-1, 3], [10, 2], [1_000, 4_096], [700, 0], [1_200, 8_192]]
    recorded(path, before, after)
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        trace = Trace(store)
        tree = CallTree.load(trace)
        at = {tree.names(node)[-1]: node for node in range(1, len(tree.last))}
        inner, outer = at["inner"], at["outer"]
        on_gpu = Allocated(3, 2, 4_096, 0, 8_192)
        host = Allocated(None, 10, 1_000, 700, 1_200)
        assert allocated_below(trace, inner, int(tree.last[inner])) == [host, on_gpu]
        host = Allocated(None, 11, 1_100, 700, 1_200)
        assert allocated_below(trace, outer, int(tree.last[outer])) == [host, on_gpu]
        heading = of_node(node_detail(trace, tree, outer)).heading
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
    assert "host memory: 1.07 KiB in 11 allocations, 700 B given back" in heading
    assert "memory of GPU 3: 4.00 KiB in 2 allocations, 0 B given back" in heading
    assert "Memory and Call paths tell the sums" in facts["capability.memory"]


def test_memory_of_no_context_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    recorded(path, [[7], [0], [-1], [1], [1], [0], [1]])
    with pytest.raises(FormatError, match="MEM"):
        parse(path.read_bytes())
