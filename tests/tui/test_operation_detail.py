"""The detail pane of a compiled operation: what it was fused from."""

from pathlib import Path

from dctx.ingest.model import Layer
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.tui.screens.details import of_node
from tests.ingest.test_jax_recordings import gpu_recording, opened


def test_a_fusion_lists_the_lines_it_was_fused_from(tmp_path: Path) -> None:
    with opened(tmp_path, gpu_recording()) as store:
        trace = Trace(store)
        tree = CallTree.load(trace)
        nodes = [i for i in range(len(tree.last)) if tree.layer(i) is Layer.HLO]
        fused = next(i for i in nodes if tree.names(i)[-1] == "fusion.1")
        dot = next(i for i in nodes if tree.names(i)[-1] == "dot.2")
        shown = of_node(node_detail(trace, tree, fused))
        assert "fusion · jit(train_step)/jvp()/add" in shown.heading
        section = shown.lists[0]
        assert section.title == "Fused from"
        assert [row.label for row in section.rows] == [
            "train.py:12 loss_fn",
            "train.py:20 train_step",
        ]
        assert "Fused from" not in [
            section.title for section in of_node(node_detail(trace, tree, dot)).lists
        ]
