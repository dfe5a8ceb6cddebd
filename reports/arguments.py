"""What an operator was called with, in one line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..queries.operators import Arguments, UsualArguments

_TYPES = {
    "c10::BFloat16": "bf16",
    "c10::Half": "f16",
    "float": "f32",
    "double": "f64",
    "c10::Float8_e4m3fn": "f8e4m3",
    "c10::Float8_e5m2": "f8e5m2",
    "long int": "i64",
    "long": "i64",
    "int": "i32",
    "short int": "i16",
    "signed char": "i8",
    "unsigned char": "u8",
    "c10::complex<float>": "c64",
    "c10::complex<double>": "c128",
}
"""PyTorch's names of element types, as people write them."""
_NO_TENSOR = frozenset({"Scalar", "ScalarList", "GenericList", ""})


def arguments_text(arguments: Arguments) -> str:
    """`bf16[16,559,1024], bf16[1024,2816] strides (1,1024), 1`: tensors by type and shape, with
    their strides where they are not dense in order; other arguments by value.

    Texts that are no JSON lists are shown as recorded."""
    texts = (arguments.shapes, arguments.types, arguments.strides, arguments.concrete)
    lists = [_list(text) for text in texts]
    if any(text and found is None for text, found in zip(texts, lists, strict=True)):
        return " ".join(text for text in texts if text)
    return listed_arguments(*(found or [] for found in lists))


def listed_arguments(
    shapes: Sequence[object],
    types: Sequence[object],
    strides: Sequence[object],
    values: Sequence[object],
) -> str:
    """The same of lists that are read already, each by argument; empty without any."""
    count = max(len(shapes), len(types), len(values))
    parts = [
        _argument(_at(shapes, i), _at(types, i), _at(strides, i), _at(values, i))
        for i in range(count)
    ]
    while parts and not parts[-1]:
        parts.pop()
    return ", ".join(part or "-" for part in parts)


def short_type(name: str) -> str:
    """`bf16` for `c10::BFloat16` and for `BFloat16`, as collectives have it; other names as they
    are."""
    for known in (name, f"c10::{name}", name.lower()):
        if known in _TYPES:
            return _TYPES[known]
    return name


def tensor_note(usual: UsualArguments) -> str:
    """`bf16[16,559,1024] …`: the first tensor, and whether there is more to tell."""
    shapes, types = _list(usual.shapes) or [], _list(usual.types) or []
    for place, shape in enumerate(shapes):
        if _sizes(shape):
            text = _argument(shape, _at(types, place), None, None)
            more = usual.sets > 1 or sum(bool(_sizes(other)) for other in shapes) > 1
            return f"{text} …" if more else text
    return ""


def _argument(shape: object, kind: object, strides: object, value: object) -> str:
    """One argument; empty where nothing is known of it."""
    name = kind if isinstance(kind, str) else ""
    short = short_type(name)
    sizes = _sizes(shape)
    if isinstance(shape, list | tuple) and shape and sizes is None:
        inner = cast("Sequence[object]", shape)
        return f"{short}[{', '.join(_shape(_sizes(one)) for one in inner)}]"
    if sizes and name not in _NO_TENSOR:
        steps = _sizes(strides)
        dense = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
        odd = steps is not None and len(steps) == len(sizes) and steps != dense
        return short + _shape(sizes) + (f" strides ({','.join(map(str, steps or ()))})" * odd)
    if sizes:
        return _shape(sizes)
    text = "" if value is None or value == "" else str(value)
    if text or name in _NO_TENSOR:
        return text
    return f"{short}[]"  # a tensor of one element without dimensions


def _shape(sizes: Sequence[int] | None) -> str:
    return "?" if sizes is None else f"[{','.join(map(str, sizes))}]"


def _sizes(value: object) -> list[int] | None:
    if not isinstance(value, list | tuple):
        return None
    items = cast("Sequence[object]", value)
    return [i for i in items if isinstance(i, int)] if all(type(i) is int for i in items) else None


def _at(values: Sequence[object], place: int) -> object:
    return values[place] if place < len(values) else None


def _list(text: str | None) -> list[object] | None:
    if not text:
        return None
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return cast("list[object]", found) if isinstance(found, list) else None
