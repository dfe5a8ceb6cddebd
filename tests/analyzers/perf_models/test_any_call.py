"""Whatever is recorded, a model answers with figures that make sense or says why it cannot."""

from ast import literal_eval
from math import isfinite
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dctx.analyzers.compat_ids import COMPAT_IDS
from dctx.analyzers.perf_figures import figures
from dctx.analyzers.perf_models import registry
from dctx.analyzers.perf_models.call import Call, as_tuples, parse_list, parse_value

NAMES = [
    *sorted(registry.names()),
    "triton_red_fused_add_mul_3",
    "triton_poi_fused_gelu_0",
    "primus_turbo::grouped_gemm_backward",
    "primus_turbo::hipblaslt_gemm_fp4",
]
TYPES = st.sampled_from(
    ["", "float", "c10::BFloat16", "c10::Half", "long int", "bool", "Scalar", "ScalarList",
     "c10::Float8_e4m3fn", "c10::Float4_e2m1fn_x2", "unsigned char", "TensorList", "c10::Odd"]
)  # fmt: skip
SHAPES = st.one_of(
    st.lists(st.integers(0, 9), max_size=5),
    st.lists(st.lists(st.integers(1, 4), max_size=3), max_size=3),
)
VALUES = st.sampled_from(
    ["", "True", "False", "0", "1", "-1", "7", "0.5", "[]", "[1, 1]", "[True, False, True]", "None",
     "[0]", "[2., 2.]", "nonsense", "[[1], 2]"]
)  # fmt: skip
ARGUMENT = st.tuples(SHAPES, TYPES, VALUES)


@settings(max_examples=300)
@given(
    name=st.sampled_from(NAMES), arguments=st.lists(ARGUMENT, max_size=19), cut=st.integers(0, 3),
    tracelens=st.booleans(), backward=st.booleans(),
)  # fmt: skip
def test_no_arguments_break_a_model(
    name: str, arguments: list[tuple[Any, str, str]], cut: int, tracelens: bool, backward: bool
) -> None:
    shapes = tuple(as_tuples(shape) for shape, _, _ in arguments)
    types = tuple(kind for _, kind, _ in arguments)
    values = tuple(value for _, _, value in arguments)
    lists = [shapes, types, values]
    if cut:  # one of the lists is not recorded
        lists[cut - 1] = ()
    model = registry.find(name, tracelens=tracelens)
    if model is None:
        return
    compat = frozenset(COMPAT_IDS) if tracelens else frozenset[str]()
    call = Call(name, lists[0], lists[1], (), lists[2], ("ampere_tf32_gemm",), "", compat)
    found = figures(model, call, backward=backward)
    assert found.flops is None or (isfinite(found.flops) and found.flops >= 0), name
    assert found.bytes is None or (isfinite(found.bytes) and found.bytes >= 0), name
    assert found.note or None not in (found.flops, found.bytes), name
    assert literal_eval(repr(dict(found.params))) is not None


@given(st.text(max_size=30))
def test_any_text_is_a_value(text: str) -> None:
    parse_value(text)
    parse_list(text)


def test_values_of_recorded_texts() -> None:
    texts = ["", "None", "True", "12", "1e-5", "[1, -1]", "(2,2)", "[[1, 2], []]", "[True, False]"]
    assert [parse_value(text) for text in texts] == [
        None, None, True, 12, 1e-5, (1, -1), (2, 2), ((1, 2), ()), (True, False),
    ]  # fmt: skip
    assert parse_list('[[1, 2], "a"]') == ((1, 2), "a")
    assert parse_list('{"a": 1}') == parse_list("[1,") == parse_list(None) == ()
