"""Generated code that a recording keeps: its text, and what its lines were made from."""

from contextlib import closing
from pathlib import Path

import pytest

from dctx.ingest.recording.chunks import FormatError
from dctx.ingest.recording.content import parse
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, monitor
from dctx.native._core import Operator
from dctx.queries.generated import Origin, kept_source, origin_at
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.source_lines import SourceLines, kept_lines
from dctx.tui.screens.details import of_node

FILE = "/tmp/inductor/ab/cab.py"
CODE = "def call(op):\n    with op('first'):\n        pass\n    with op('fused'):\n        pass\n"


def recorded(path: Path, lines: list[list[int] | list[str]]) -> None:
    """A program whose function `call` is generated code."""
    names: dict[str, object] = {}
    exec(compile(CODE, FILE, "exec"), names)
    monitor.init(monitor.Source.PYTHON | monitor.Source.SCOPE)
    assert Recorder.start(str(path), "{}", interval_ns=10**12)
    try:
        call = names["call"]
        assert callable(call)
        call(Operator)
        Recorder.attach("SRC ", Recorder.table([[FILE, "/other.py"], [CODE, ""]]))
        Recorder.attach("LMAP", Recorder.table(lines))
    finally:
        Recorder.stop()
        monitor.finalize()


def test_the_store_keeps_texts_and_origins(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    recorded(path, [[0, 1], [4, 9], ["y, z", "w"], ["aten.relu, aten.add", "aten.mm"]])
    with closing(open_trace(path, cache=False)) as store:
        trace = Trace(store)
        assert kept_source(trace, FILE) == CODE
        assert kept_source(trace, "/other.py") is None
        tree = CallTree.load(trace)
        at = {tree.names(node)[-1]: node for node in range(1, len(tree.last))}
        made = Origin("y, z", "aten.relu, aten.add")
        assert origin_at(trace, tree, at["fused"]) == made
        assert origin_at(trace, tree, int(tree.table.parent[at["fused"]])) == made
        assert origin_at(trace, tree, at["first"]) is None
        heading = of_node(node_detail(trace, tree, at["fused"])).heading
    assert "compiled from aten.relu, aten.add · nodes y, z" in heading


def test_kept_text_is_shown_around_the_line() -> None:
    assert kept_lines(CODE, 4, around=1) == SourceLines(
        4, 3, ("        pass", "    with op('fused'):", "        pass"), changed=False
    )
    assert kept_lines(CODE, 9) == "no line 9 in the file that the trace keeps"
    assert kept_lines(CODE, None) == "the line was not recorded"


def test_a_line_of_no_file_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    recorded(path, [[2], [1], [""], [""]])
    with pytest.raises(FormatError, match="LMAP"):
        parse(path.read_bytes())
