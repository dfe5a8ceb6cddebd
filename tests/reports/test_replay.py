"""Scripts that make recorded calls again: what stands in them, and that torch runs them."""

import argparse
import ast
from collections.abc import Callable
from typing import Any

import pytest

from dctx.analyzers.replay_plan import NotReplayableError, plan
from dctx.reports.replay import Row, replay_info, rows_of
from dctx.reports.replay_script import script
from dctx.reports.sheets import Column, Sheet

Call = tuple[str, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]

F, B, I = "float", "c10::BFloat16", "long int"  # noqa: E741
FAMILIES: dict[str, Call] = {
    "GEMM": (
        "aten::addmm",
        ((4,), (8, 16), (16, 4), (), ()),
        (F, F, F, "Scalar", "Scalar"),
        ((1,), (16, 1), (1, 16), (), ()),
        ("", "", "", "1", "1"),
    ),
    "batched GEMM": ("aten::bmm", ((2, 3, 4), (2, 4, 5)), (B, B), ((12, 4, 1), (20, 5, 1)), ()),
    "CONV_fwd": (
        "aten::convolution",
        ((1, 4, 8, 8), (6, 2, 3, 3), (6,), (), (), (), (), (), ()),
        (F, F, F, *["ScalarList"] * 3, "Scalar", "ScalarList", "Scalar"),
        ((256, 64, 8, 1), (18, 9, 3, 1), (1,), (), (), (), (), (), ()),
        ("", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"),
    ),
    "CONV_bwd": (
        "aten::convolution_backward",
        ((1, 6, 8, 8), (1, 4, 8, 8), (6, 4, 3, 3), *[()] * 8),
        (F, F, F, *["ScalarList"] * 4, "Scalar", "ScalarList", "Scalar", "ScalarList"),
        ((384, 64, 8, 1), (256, 64, 8, 1), (36, 9, 3, 1), *[()] * 8),
        ("", "", "", "[6]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
         "[True, True, True]"),
    ),
    "SDPA_fwd": (
        "aten::scaled_dot_product_attention",
        ((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16), (), (), (), (), ()),
        (F, F, F, "", "Scalar", "Scalar", "", "Scalar"),
        ((256, 16, 32, 1),) * 3 + ((),) * 5,
        ("", "", "", "", "0.", "True", "", "False"),
    ),
    "UnaryElementwise": ("aten::silu", ((4, 6),), (B,), ((1, 4),), ("",)),
    "BinaryElementwise": (
        "aten::add", ((4, 6), (6,), ()), (F, F, "Scalar"), ((6, 1), (1,), ()), ("", "", "1")
    ),
    "scalar operand": (
        "aten::mul", ((4, 6), ()), (F, "double"), ((6, 1), ()), ("", "")
    ),
    "expanded": (
        "aten::copy_", ((4, 6), (4, 6), ()), (F, F, "Scalar"), ((6, 1), (0, 1), ()),
        ("", "", "False"),
    ),
    "Normalization": (
        "aten::native_layer_norm", ((4, 8), (), (8,), (8,), ()),
        (F, "ScalarList", F, F, "Scalar"), ((8, 1), (), (1,), (1,), ()),
        ("", "[8]", "", "", "1e-05"),
    ),
    "batch norm": (
        "aten::native_batch_norm", ((2, 3, 4, 4), (3,), (3,), (3,), (3,), (), (), ()),
        (F, F, F, F, F, "Scalar", "Scalar", "Scalar"),
        ((48, 16, 4, 1), (1,), (1,), (1,), (1,), (), (), ()),
        ("", "", "", "", "", "True", "0.1", "1e-05"),
    ),
    "Reduce_fwd": (
        "aten::sum", ((4, 6), (), (), ()), (F, "ScalarList", "Scalar", ""),
        ((6, 1), (), (), ()), ("", "[-1]", "True", ""),
    ),
    "softmax": (
        "aten::_softmax", ((4, 6), (), ()), (F, "Scalar", "Scalar"), ((6, 1), (), ()),
        ("", "-1", "False"),
    ),
    "list of tensors": (
        "aten::cat", (((2, 3), (4, 3)), ()), ("TensorList", "Scalar"), (((3, 1), (3, 1)), ()),
        ("", "0"),
    ),
    "indices": (
        "aten::embedding", ((10, 4), (2, 3), (), (), ()), (F, I, "Scalar", "Scalar", "Scalar"),
        ((4, 1), (3, 1), (), (), ()), ("", "", "-1", "False", "False"),
    ),
    "indices along a dimension": (
        "aten::gather", ((2, 5), (), (2, 3), ()), (F, "Scalar", I, "Scalar"),
        ((5, 1), (), (3, 1), ()), ("", "1", "", "False"),
    ),
    "type and device": (
        "aten::empty", ((), (), (), (), (), ()),
        ("ScalarList", "Scalar", "Scalar", "Device", "Scalar", ""), ((),) * 6,
        ("[4, 3]", "15", "0", "cuda:3", "False", ""),
    ),
    "infinity": ("aten::full_like", ((2, 2), (), (), (), (), (), ()),
        (F, "Scalar", "", "", "", "Scalar", ""), ((2, 1), *[()] * 6),
        ("", "-inf", "", "", "", "False", "")),
}  # fmt: skip


def row(name: str, *lists: tuple[Any, ...]) -> Row:
    """As a report's sheet has it."""
    heads = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    columns = [Column("name", [name])]
    columns += [Column(head, [repr(value)]) for head, value in zip(heads, lists, strict=True)]
    columns += [
        Column("operation_count", [4]),
        Column("total_subtree_kernel_time_sum", [10.0]),
        Column("ex_UID", [7]),
    ]
    [found] = rows_of(Sheet("ops_unique_args", columns))
    return found


def facts(text: str) -> dict[str, Any]:
    """The literals of a script."""
    return {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_a_script_holds_what_was_recorded(family: str) -> None:
    name, shapes, types, strides, values = FAMILIES[family]
    one = row(*FAMILIES[family])
    text = script(one, one.plan(), "run.json")
    compile(text, "script", "exec")
    found = facts(text)
    assert (found["OPERATOR"], found["TRACE"], found["UID"], found["CALLS"]) == (
        name, "run.json", 7, 4,
    )  # fmt: skip
    assert found["TRACE_MEAN_US"] == 2.5
    arguments = found["ARGUMENTS"]
    assert len(arguments) == len(types)
    for slot, argument in enumerate(arguments):
        if argument["kind"] == "tensor":
            assert argument["shape"] == shapes[slot]
            assert argument["strides"] == strides[slot]
            assert argument["dtype"] == types[slot]
        elif argument["kind"] == "tensorlist":
            assert argument["shape"] == shapes[slot]
        elif argument["kind"] == "none":
            assert (types[slot], values[slot]) == ("", "")
        else:
            told: Any = argument["value"]
            told = list(told) if argument["kind"] == "list" else told
            recorded = values[slot]
            assert str(told) == recorded or float(str(told)) == float(recorded)


@pytest.mark.frameworks
@pytest.mark.parametrize("family", FAMILIES)
def test_torch_makes_the_call_with_the_recorded_shapes(family: str) -> None:
    pytest.importorskip("torch")
    name, shapes, types, strides, _ = FAMILIES[family]
    one = row(*FAMILIES[family])
    space: dict[str, Any] = {"__name__": "replayed"}
    exec(compile(script(one, one.plan(), "run.json"), "script", "exec"), space)
    replay: Callable[[Any], dict[str, Any]] = space["replay"]
    options = argparse.Namespace(device="cpu", repeat=2, modules=[])
    found = replay(options)
    assert found["operator"].startswith(name.replace("::", "."))
    assert (found["device"], found["calls"], found["trace_mean_us"]) == ("cpu", 2, 2.5)
    assert 0 < found["min_us"] <= found["median_us"] <= found["max_us"]
    names = {F: "float32", B: "bfloat16", I: "int64", "double": "float64"}
    for slot, made in enumerate(found["arguments"]):
        if types[slot] in names:
            assert tuple(made["shape"]) == shapes[slot]
            assert tuple(made["strides"]) == strides[slot]
            assert made["dtype"] == names[types[slot]]
        elif types[slot] == "TensorList":
            assert [tuple(each["shape"]) for each in made] == list(shapes[slot])
    if family == "type and device":
        assert found["result"] == {"shape": [4, 3], "strides": [3, 1], "dtype": "bfloat16"}


@pytest.mark.parametrize(
    ("name", "types", "shapes", "reason"),
    [
        ("aten::mm", (), (), "record_shapes"),
        ("aten::index", (F, "GenericList"), ((2, 2), ()), "does not record"),
        ("aten::_foreach_add_", ("TensorList", "Scalar"), ((), ()), "list of tensors"),
        ("aten::add", (F, F, "Scalar"), ((2,), (2,), ()), "argument 2"),
        ("aten::mm->gemm (Synthetic Op)", (F,), ((2,),), "no operator"),
        ("autograd::engine::evaluate_function: MmBackward0", (F,), ((2,),), "wrapper"),
        ("triton_poi_fused_add_0", (F,), ((2,),), "torch.compile"),
        ("cudaLaunchKernel", (F,), ((2,),), "not that of a registered operator"),
        ("aten::mm'); import os  #", (F,), ((2,),), "not that of a registered operator"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused_in_a_sentence(
    name: str, types: tuple[str, ...], shapes: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(NotReplayableError, match=reason) as refused:
        plan(name, shapes, types, (), ())
    assert str(refused.value).endswith(".")
    [told] = replay_info([row(name, shapes, types, (), ())], "run.json")
    assert told["replayable"] is False
    assert told["reason"] == str(refused.value)


def test_texts_of_a_trace_stay_texts() -> None:
    hostile = '"""\n@FACTS@\nraise SystemExit(1)  #\u202e\x1b[2J'
    one = row("aten::to", ((2,), ()), (F, "Device"), ((1,), ()), ("", hostile))
    text = script(one, one.plan(), hostile)
    assert text.isascii()
    found = facts(text)
    assert found["TRACE"] == hostile
    assert found["ARGUMENTS"][1]["value"] == hostile
    before = facts(script(one, one.plan(), "x"))
    assert len(ast.parse(text).body) == len(ast.parse(script(one, one.plan(), "x")).body)
    assert found.keys() == before.keys()


def test_what_is_not_recorded_is_said() -> None:
    made = plan("aten::cat", (((2, 3),), ()), ("TensorList", "Scalar"), (), ("", "0"))
    assert made.assumed == (
        "strides are not recorded: tensors are dense",
        "the type of the tensors in argument 0 is not recorded: float",
    )
    assert made.arguments[0].strides is None


def test_tensors_of_whole_numbers_point_into_what_they_index() -> None:
    def init(name: str, slot: int) -> tuple[str, int | None]:
        found = row(*FAMILIES[name]).plan().arguments[slot]
        return found.init, found.bound

    assert init("indices", 1) == ("index", 10)
    assert init("indices along a dimension", 2) == ("index", 5)
    assert init("GEMM", 0) == ("normal", None)


def test_the_information_rebuilds_every_argument() -> None:
    [told] = replay_info([row(*FAMILIES["CONV_fwd"])], "run.json")
    assert told["replayable"]
    assert (told["op"], told["count"], told["total_us"], told["ex_UID"]) == (
        "aten::convolution", 4, 10.0, 7,
    )  # fmt: skip
    assert [a["kind"] for a in told["args"]] == [
        "tensor", "tensor", "tensor", "list", "list", "list", "bool", "list", "scalar",
    ]  # fmt: skip
    assert told["args"][1] == {
        "pos": 1,
        "kind": "tensor",
        "shape": (6, 2, 3, 3),
        "strides": (18, 9, 3, 1),
        "dtype": F,
        "init": "normal",
    }
    assert told["args"][8] == {"pos": 8, "kind": "scalar", "value": 2}
