"""Operators of a hand-made PyTorch step: what they launched, and what they were called with."""

from collections.abc import Generator
from pathlib import Path

import pytest

from dctx.ingest.model import Layer
from dctx.ingest.registry import open_trace
from dctx.queries.operators import arguments_at, top_operators, usual_arguments
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.arguments import arguments_text, tensor_note
from tests.kineto_files import MAIN, backward, call, forward, kernel, op, write_json
from tests.torch_step import GPU_NS, write_step


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Generator[Trace]:
    store = open_trace(write_step(tmp_path_factory.mktemp("ops") / "step.json"), cache=False)
    yield Trace(store)
    store.close()


def test_operators_by_the_work_they_launch_themselves(trace: Trace) -> None:
    found = top_operators(trace, 10)
    assert [(o.name, o.gpu_ns, o.calls) for o in found] == [
        ("aten::mm", 70_000, 2),
        ("aten::add", 7_000, 2),
        ("aten::relu", 5_000, 1),
    ]
    assert sum(o.gpu_ns or 0 for o in found) == GPU_NS
    assert [round(o.share, 4) for o in found] == [0.8537, 0.0854, 0.061]
    tree = CallTree.load(trace)
    assert tree.names(found[1].node)[-2:] == ("first", "aten::add")
    assert top_operators(trace, 1) == found[:1]


def test_arguments_with_their_work(trace: Trace) -> None:
    tree = CallTree.load(trace)
    [linear] = [n for n in range(tree.size) if tree.name(n) == "aten::linear"]
    found = arguments_at(trace, linear, int(tree.last[linear]))
    assert [(arguments_text(a), a.calls, a.host_ns, a.gpu_ns) for a in found] == [
        ("bf16[8,4], bf16[4,4] strides (1,4), 1", 1, 70_000, 60_000),
        ("bf16[2,4], bf16[4,4] strides (1,4), 1", 1, 80_000, 10_000),
    ]
    assert arguments_at(trace, linear, int(tree.last[linear]), device=7)[0].gpu_ns == 0
    [relu] = [n for n in range(tree.size) if tree.name(n) == "aten::relu"]
    assert arguments_at(trace, relu, int(tree.last[relu])) == []


def test_backward_work_is_that_of_the_forward_call(tmp_path: Path) -> None:
    dims = {"Input Dims": [[8]], "Input type": ["float"]}
    events = [
        forward("aten::exp", 0, 10, 5),
        backward("ExpBackward0", 50, 20, 5),
        call("cudaLaunchKernel", 55, 5, 1, tid=200),
        kernel("exp_bw", 80, 7, 1),
    ]
    events[0]["args"] |= dims
    store = open_trace(write_json(tmp_path / "t.json", events), cache=False)
    trace = Trace(store)
    tree = CallTree.load(trace)
    [node] = [n for n in range(tree.size) if tree.name(n) == "aten::exp"]
    [found] = arguments_at(trace, node, int(tree.last[node]))
    assert (arguments_text(found), found.gpu_ns) == ("f32[8]", 7000)
    store.close()


def test_a_trace_without_gpu_work_ranks_by_host_time(tmp_path: Path) -> None:
    events = [op("aten::outer", 0, 100, MAIN), op("aten::inner", 10, 80, MAIN)]
    store = open_trace(write_json(tmp_path / "t.json", events), cache=False)
    found = top_operators(Trace(store), 10)
    assert [(o.name, o.gpu_ns, o.host_ns) for o in found] == [
        ("aten::inner", None, 80_000),
        ("aten::outer", None, 20_000),
    ]
    store.close()


def test_every_operator_of_a_tree_names_its_layer(trace: Trace) -> None:
    tree = CallTree.load(trace)
    assert all(tree.layer(o.node) is Layer.OP for o in top_operators(trace, 10))


def test_rows_say_the_usual_shape(trace: Trace) -> None:
    tree = CallTree.load(trace)
    said = {tree.name(one.node): (one.sets, tensor_note(one)) for one in usual_arguments(trace)}
    assert said == {"aten::linear": (2, "bf16[8,4] …"), "aten::mm": (2, "bf16[8,4] …")}
