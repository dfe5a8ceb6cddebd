"""Compiled operations below a context, from the recorded JAX training."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from dctx.ingest.model import Layer
from dctx.ingest.registry import open_trace
from dctx.queries.node_detail import node_detail
from dctx.queries.operations import compiled_operations
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from tests.ingest.test_jax_recordings import gpu_recording, opened

RECORDING = Path(str(files("dctx.demo_data"))) / "jax-cpu-train.xplane.pb.gz"


@pytest.fixture(scope="module")
def trace() -> Iterator[Trace]:
    store = open_trace(RECORDING, cache=False)
    try:
        yield Trace(store)
    finally:
        store.close()


def node_of(trace: Trace, name: str, layer: str) -> int:
    with trace.store.cursor() as cursor:
        row = cursor.execute(
            "SELECT id FROM paths WHERE name = ? AND layer = ? ORDER BY host_ns DESC, id LIMIT 1",
            [name, layer],
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_operations_below_a_line_name_it_or_a_line_inside(trace: Trace) -> None:
    found = compiled_operations(trace, node_of(trace, "attention", "python"))
    assert found
    assert len({item.name for item in found}) == len(found)
    inside = ("attention", "linear")
    assert all(item.source.rpartition(" ")[2] in inside for item in found)
    assert all(item.module == "jit_train_step" for item in found)


def test_a_fusion_lists_parts_and_their_lines(trace: Trace) -> None:
    found = compiled_operations(trace, 0, limit=1_000)
    fusions = [item for item in found if item.opcode == "fusion"]
    assert fusions
    assert all(item.parts for item in fusions)
    lines = [{part.source for part in item.parts if part.source} for item in fusions]
    assert any(len(sources) > 1 for sources in lines)  # several lines became one operation
    assert all(not item.parts for item in found if item.opcode != "fusion")


def test_the_detail_of_an_operation_names_it(trace: Trace) -> None:
    tree = CallTree.load(trace)
    found = [node for node in range(len(tree.last)) if tree.layer(node) is Layer.HLO]
    assert found
    for node in found[:20]:
        detail = node_detail(trace, tree, node)
        assert detail.operation is not None
        assert detail.operation.name == detail.names[-1]
    line = node_of(trace, "attention", "python")
    assert node_detail(trace, tree, line).operation is None


def test_work_of_a_gpu_tells_its_operation(tmp_path: Path) -> None:
    with opened(tmp_path, gpu_recording()) as store:
        found = compiled_operations(Trace(store), 0)
    assert [(item.name, item.opcode, item.source) for item in found] == [
        ("dot.2", "dot", "train.py:12 loss_fn"),
        ("fusion.1", "fusion", "train.py:20 train_step"),
    ]
    assert [part.name for part in found[1].parts] == ["mul.1", "add.1"]
