"""Layers of a hand-made PyTorch step folded away: every sum stays, and every context has a row."""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dctx.ingest.model import Layer
from dctx.ingest.registry import open_trace
from dctx.queries.layers import LayerGroup, folded, layer_counts
from dctx.queries.metric import Metric
from dctx.queries.paths import CallTree, CostTree
from dctx.queries.trace import Trace
from tests.torch_step import GPU_NS, write_step

GROUPS = st.frozensets(st.sampled_from(list(LayerGroup)))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Generator[CallTree]:
    path = write_step(tmp_path_factory.mktemp("layers") / "step.json")
    store = open_trace(path, cache=False)
    yield CallTree.load(Trace(store))
    store.close()


def names_of(tree: CostTree) -> list[str]:
    """All rows, indented by depth, the tree fully unfolded."""
    view = tree.top_down()
    view.expand_all()
    return [f"{'  ' * row.depth}{row.name}" for row in view.rows(0, view.row_count())]


def test_counts(tree: CallTree) -> None:
    assert layer_counts(tree) == {
        LayerGroup.PYTHON: 4,
        LayerGroup.MODULES: 1,
        LayerGroup.OPERATORS: 5,
        LayerGroup.API: 4,
        LayerGroup.GPU: 4,
    }


def test_nothing_hidden_is_the_tree_itself(tree: CallTree) -> None:
    assert folded(tree, frozenset()) is tree


def test_modules_operators_and_kernels(tree: CallTree) -> None:
    hidden = frozenset(LayerGroup) - {LayerGroup.MODULES, LayerGroup.OPERATORS, LayerGroup.GPU}
    assert names_of(folded(tree, hidden))[2:] == [
        "    main thread 100",
        "      Net_0",
        "        aten::linear",
        "          aten::mm",
        "            gemm",
        "        aten::relu",
        "          relu",
        "      aten::add",
        "        add",
    ]


def test_contexts_of_one_frame_become_one_row(tree: CallTree) -> None:
    view = folded(tree, frozenset({LayerGroup.PYTHON})).top_down()
    view.expand_all()
    [add] = [row for row in view.rows(0, view.row_count()) if row.name == "aten::add"]
    assert (add.members, add.gpu_ns, add.calls) == (2, 7000, 2)
    # Details are asked by the heavier one.
    assert tree.names(add.source)[-2:] == ("first", "aten::add")
    assert view.find(add.source) == add.node


def test_costs_of_hidden_contexts_are_their_callers(tree: CallTree) -> None:
    both = folded(tree, frozenset({LayerGroup.API, LayerGroup.GPU}))
    view = both.top_down()
    view.expand_all()
    rows = {row.name: row for row in view.rows(0, view.row_count())}
    assert rows["aten::relu"].gpu_self_ns == 5000
    assert rows["aten::relu"].host_self_ns == 20_000  # 15 us of its own, 5 us of the launch
    assert rows["aten::relu"].calls == 1  # a launch is no call of the operator
    assert rows["aten::relu"].launches == 1


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(hidden=GROUPS)
def test_sums_stay(tree: CallTree, hidden: frozenset[LayerGroup]) -> None:
    less = folded(tree, hidden)
    for metric, own in tree.own.items():
        if metric is not Metric.CALLS:
            assert int(less.own[metric].sum()) == int(own.sum())
            assert int(less.table.values[metric][0]) == int(tree.values(metric)[0])
    gone = {layer for group in hidden for layer in group.layers}
    layers = less.table.frames.layers
    assert gone.isdisjoint(layers[int(frame)] for frame in less.table.frame)
    # Every context has a row, and it is that of a shown ancestor or of itself.
    view = less.top_down()
    for node in range(tree.size):
        row = view.find(node)
        assert row >= 0
        if tree.layer(node) not in gone:
            assert less.table.frame[row] == tree.table.frame[node]


def test_one_subtree_alone(tree: CallTree) -> None:
    [module] = [node for node in range(tree.size) if tree.layer(node) is Layer.MODULE]
    part = folded(tree, frozenset(), [(module, int(tree.last[module]))])
    assert int(tree.values(Metric.GPU)[0]) == GPU_NS
    # What holds the subtree is not part of it: it stands below the root no more.
    assert len(part.table) == 1
    whole = folded(tree, frozenset(), [(1, int(tree.last[1]))])
    assert int(whole.table.values[Metric.GPU][0]) == GPU_NS
    assert names_of(whole) == names_of(tree)


def test_turned_over_without_a_layer(tree: CallTree) -> None:
    view = folded(tree, frozenset({LayerGroup.API})).bottom_up()
    heaviest = view.rows(0, 1)[0]
    assert (heaviest.name, heaviest.gpu_ns) == ("gemm", 70_000)
    view.expand(heaviest.node)
    assert view.rows(1, 1)[0].name == "aten::mm"
    assert tree.names(heaviest.source)[-1] == "gemm"
