"""Calls as the profiler records them."""

from typing import Any

from dctx.analyzers.perf_models.call import Call
from dctx.analyzers.perf_models.perf import Perf
from dctx.analyzers.perf_models.registry import find

BF16, HALF, FLOAT, LONG, BOOL = "c10::BFloat16", "c10::Half", "float", "long int", "bool"
FP8 = "c10::Float8_e4m3fn"


Argument = tuple[tuple[int, ...], str, str]
"""Shape, type and text."""


def tensor(*shape: int, dtype: str = BF16) -> Argument:
    """An argument that is a tensor: its shape, type and text."""
    return shape, dtype, ""


def scalar(value: Any) -> Argument:
    """An argument that is a number or a truth value."""
    return (), "Scalar", str(value)


def numbers(*values: Any) -> Argument:
    """An argument that is a list."""
    return (), "ScalarList", str(list(values))


NONE: Argument = ((), "", "")


def call(name: str, *arguments: Argument, **more: Any) -> Call:
    """A call with these arguments."""
    shapes, types, values = zip(*arguments, strict=True) if arguments else ((), (), ())
    return Call(name, shapes, types, (), values, **more)


def perf(name: str, *arguments: Argument, **more: Any) -> Perf:
    """What the model of the operator says of the call."""
    model = find(name)
    assert model is not None, name
    found = model.work(call(name, *arguments, **more))
    assert found is not None
    return found
