"""What a recorded call needs to be made again: its arguments one by one, or why it cannot be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, cast

from .perf_models.call import parse_value

_CALLABLE: Final = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.\w+)?", re.ASCII)
_GENERATED: Final = re.compile(r"triton_|CompiledFxGraph|Torch-Compiled Region")
_SYNTHETIC: Final = "(Synthetic Op)"
_LISTS: Final = frozenset({"ScalarList"})
_TEXTS: Final = frozenset({"Device"})
_NO_TENSOR: Final = frozenset({"", "Scalar", "None", *_LISTS, *_TEXTS})
_NO_FLOATS: Final = frozenset(
    {"long int", "long", "int", "short int", "short", "signed char", "unsigned char", "bool",
     "unsigned short", "unsigned int", "unsigned long"}
)  # fmt: skip
_LIST_MARKS: Final = frozenset({"TensorList", "GenericList"})

# Tensors of whole numbers that point into another one: random numbers beyond it would be errors.
_INDEXED: Final[dict[str, tuple[int, int, int | None, int | None]]] = {
    # operator: (slot of the indices, slot of what they point into, dimension, slot of dimension)
    "aten::embedding": (1, 0, 0, None),
    "aten::index_select": (2, 0, None, 1),
    "aten::gather": (2, 0, None, 1),
    "aten::scatter_add_": (2, 0, None, 1),
    "aten::scatter_add": (2, 0, None, 1),
    "aten::index_add_": (2, 0, None, 1),
    "aten::nll_loss_forward": (1, 0, -1, None),
    "aten::nll_loss": (1, 0, -1, None),
    "aten::nll_loss_backward": (2, 1, -1, None),
    "aten::cross_entropy_loss": (1, 0, 1, None),
}
_EVEN: Final[dict[str, dict[int, int]]] = {
    # operator: {slot of the running sums of lengths: slot of the packed sequences}
    "aten::_flash_attention_forward": {3: 0, 4: 1},
    "flash_attn::_flash_attn_varlen_forward": {3: 0, 4: 1},
    "flash_attn::_flash_attn_varlen_backward": {9: 1, 10: 2},
}
_SHARES: Final = frozenset(
    {"aten::bernoulli", "aten::bernoulli_", "aten::multinomial", "aten::binary_cross_entropy",
     "aten::binary_cross_entropy_backward", "aten::poisson"}
)  # fmt: skip


class NotReplayableError(Exception):
    """The call cannot be rebuilt. The text is a sentence that tells why, and what helps."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, by its kind: what does not belong to the kind is empty.

    `init` tells what a tensor is filled with: `normal`, `share` (0 to 1), `zeros`, `index` (below
    `bound`), `even` (running sums of equal lengths up to `bound`).
    """

    kind: str
    """tensor, tensorlist, scalar, bool, list or none."""
    shape: tuple[Any, ...] = ()
    """Sizes; of a list of tensors, those of each."""
    strides: tuple[Any, ...] | None = None
    """None where they are not recorded: dense then."""
    dtype: str = ""
    """As the trace names it."""
    value: Any = None
    init: str = ""
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A call of an operator with all its arguments."""

    op: str
    arguments: tuple[Argument, ...]
    assumed: tuple[str, ...]
    """What the trace does not tell and is taken to be so: sentences."""


def plan(
    name: str,
    shapes: tuple[Any, ...],
    types: tuple[Any, ...],
    strides: tuple[Any, ...],
    values: tuple[Any, ...],
) -> Plan:
    """The call as recorded: arguments by slot. NotReplayableError."""
    _check_name(name)
    if not types:
        raise NotReplayableError(
            "The trace does not record its arguments: record again with record_shapes=True."
        )
    assumed: list[str] = []
    found = tuple(
        _argument(slot, str_or_list, _at(shapes, slot), _at(strides, slot), _at(values, slot))
        for slot, str_or_list in enumerate(types)
    )
    if any(a.kind in ("tensor", "tensorlist") and a.strides is None for a in found):
        assumed.append("strides are not recorded: tensors are dense")
    found = tuple(_typed(a, slot, found, assumed) for slot, a in enumerate(found))
    return Plan(
        name, tuple(_filled(name, a, i, found) for i, a in enumerate(found)), tuple(assumed)
    )


def _check_name(name: str) -> None:
    if name.endswith(_SYNTHETIC):
        raise NotReplayableError(
            "It is a kernel that no operator accounts for: there is no call to make again."
        )
    if name.startswith("autograd::"):
        raise NotReplayableError(
            "It is autograd's wrapper and not an operator: replay the operators below it."
        )
    if _GENERATED.match(name):
        raise NotReplayableError(
            "It is code that torch.compile generated: it exists only within the compiled program."
        )
    if not _CALLABLE.fullmatch(name):
        raise NotReplayableError(
            "Its name is not that of a registered operator (library::operator): there is no call "
            "to make again."
        )


def _argument(slot: int, type_: object, shape: object, strides: object, value: object) -> Argument:
    if _is(type_) or type_ == "TensorList":
        return _tensor_list(slot, type_, shape, strides)
    if type_ == "GenericList":
        raise NotReplayableError(
            f"Argument {slot} is a list whose contents the trace does not record."
        )
    if not isinstance(type_, str):
        raise NotReplayableError(f"The type of argument {slot} is not recorded as a name.")
    if type_ in _NO_TENSOR:
        return _plain(slot, type_, value)
    sizes = _sizes(shape)
    if sizes is None:
        raise NotReplayableError(f"The shape of argument {slot} is not recorded.")
    return Argument("tensor", sizes, _steps(strides, len(sizes)), type_)


def _plain(slot: int, type_: str, text: object) -> Argument:
    value = text if type_ in _TEXTS else parse_value(text)
    if value is None or value == "":
        if type_ in ("", "None"):
            return Argument("none")
        if type_ in _LISTS and isinstance(text, str) and text.strip() in ("[]", "()"):
            return Argument("list", value=())
        raise NotReplayableError(
            f"The value of argument {slot} ({type_}) is not recorded: PyTorch 2.0 and newer keep "
            "it with record_shapes=True."
        )
    if isinstance(value, bool):
        return Argument("bool", value=value)
    if isinstance(value, tuple):
        return Argument("list", value=cast("tuple[object, ...]", value))
    if isinstance(value, float) and not isfinite(value):  # not finite: no literal tells it
        return Argument("scalar", value=str(value))
    return Argument("scalar", value=value)


def _tensor_list(slot: int, type_: object, shape: object, strides: object) -> Argument:
    shapes = [_sizes(one) for one in cast("tuple[object, ...]", shape)] if _is(shape) else []
    if not shapes or None in shapes:
        raise NotReplayableError(
            f"Argument {slot} is a list of tensors whose shapes the trace does not record."
        )
    steps = cast("tuple[object, ...]", strides) if _is(strides) else ()
    each = [_steps(one, len(s or ())) for one, s in zip(steps, shapes, strict=False)]
    known = tuple(each) if len(each) == len(shapes) and None not in each else None
    names = cast("tuple[object, ...]", type_) if _is(type_) else ()
    distinct = {str(name) for name in names} - _LIST_MARKS
    if len(distinct) > 1:
        raise NotReplayableError(f"Argument {slot} is a list of tensors of several types.")
    return Argument("tensorlist", tuple(shapes), known, next(iter(distinct), ""))


def _typed(of: Argument, slot: int, among: tuple[Argument, ...], assumed: list[str]) -> Argument:
    """A list of tensors with their type, where only those of the others are recorded."""
    if of.kind != "tensorlist" or of.dtype:
        return of
    like = next((a.dtype for a in among if a.kind == "tensor" and a.shape), "float")
    assumed.append(f"the type of the tensors in argument {slot} is not recorded: {like}")
    return Argument(of.kind, of.shape, of.strides, like)


def _filled(name: str, of: Argument, slot: int, among: tuple[Argument, ...]) -> Argument:
    if of.kind not in ("tensor", "tensorlist"):
        return of
    init, bound = "normal", None
    if of.dtype in _NO_FLOATS:
        init, bound = _whole_numbers(name, slot, among)
    elif name in _SHARES:
        init = "share"
    return Argument(of.kind, of.shape, of.strides, of.dtype, None, init, bound)


def _whole_numbers(name: str, slot: int, among: tuple[Argument, ...]) -> tuple[str, int | None]:
    packed = _EVEN.get(name, {}).get(slot)
    if packed is not None and packed < len(among) and among[packed].shape:
        return "even", int(among[packed].shape[0])
    rule = _INDEXED.get(name)
    if rule is None or rule[0] != slot:
        return "zeros", None
    _, target, dimension, told = rule
    if dimension is None and told is not None:
        value = among[told].value if told < len(among) else None
        dimension = value if isinstance(value, int) else 0
    sizes = among[target].shape if target < len(among) else ()
    at = dimension or 0
    if not -len(sizes) <= at < len(sizes):
        return "zeros", None
    return "index", int(sizes[at])


def _at(values: tuple[Any, ...], slot: int) -> object:
    return values[slot] if slot < len(values) else None


def _is(value: object) -> bool:
    return isinstance(value, tuple) and bool(cast("tuple[object, ...]", value))


def _sizes(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, tuple):
        return None
    items = cast("tuple[object, ...]", value)
    if not all(type(item) is int and item >= 0 for item in items):
        return None
    return cast("tuple[int, ...]", items)


def _steps(value: object, dimensions: int) -> tuple[int, ...] | None:
    found = _sizes(value)
    return found if found is not None and len(found) == dimensions else None
