"""The recorded arguments of a call, ready for the models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from .dtypes import element_bytes, precision
from .perf import NotKnownError

Shape = tuple[int, ...]

_NO_TENSOR = frozenset({"", "Scalar", "ScalarList", "GenericList", "None"})


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments by slot, as recorded; empty where the trace does not keep them."""

    name: str
    shapes: tuple[Any, ...] = ()
    types: tuple[str, ...] = ()
    strides: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()
    """Texts of the arguments that are no tensors."""
    kernels: tuple[str, ...] = ()
    """Names of the kernels that such calls launch."""
    step: str = ""
    """The annotation of the serving step around it."""
    compat: frozenset[str] = frozenset()
    """What of TraceLens is reproduced, right or wrong: ids of `compat_ids`."""

    @property
    def tracelens(self) -> bool:
        """Something is: names and forms of parameters are TraceLens' too."""
        return bool(self.compat)

    def like(self, what: str) -> bool:
        """This is reproduced."""
        return what in self.compat

    def dims(self, slot: int) -> Shape:
        """Sizes of the tensor in a slot. NotKnownError where there is none."""
        found = self.maybe(slot)
        if found is None and _at(self.shapes, slot) == () and self.is_tensor(slot):
            return ()  # a tensor without dimensions
        if found is None:
            raise NotKnownError(f"the shape of argument {slot} is not recorded")
        return found

    def maybe(self, slot: int) -> Shape | None:
        """Sizes of the tensor in a slot; None where it is absent or has no dimensions."""
        shape = _at(self.shapes, slot)
        if not isinstance(shape, tuple) or not shape or _at(self.types, slot) == "":
            return None
        sizes = cast("tuple[object, ...]", shape)
        return cast("Shape", sizes) if all(type(size) is int for size in sizes) else None

    def is_tensor(self, slot: int) -> bool:
        """A tensor, with or without dimensions."""
        return (_at(self.types, slot) or "") not in _NO_TENSOR

    def count(self, slot: int) -> int:
        """Elements of the tensor in a slot."""
        return prod(self.dims(slot))

    def dtype(self, slot: int) -> str | None:
        """Element type in a slot; None where it is absent."""
        found = _at(self.types, slot)
        return found if isinstance(found, str) and found else None

    def size(self, slot: int) -> float:
        """Bytes of an element in a slot. NotKnownError."""
        return element_bytes(self.dtype(slot), few=self.like("D25"))

    def precision(self, slot: int, *, bytes_are_fp8: bool = False) -> str | None:
        """Precision of computations with a slot's type, see `dtypes.precision`."""
        name = self.dtype(slot)
        if self.like("D25") and name in ("signed char", "c10::Float8_e5m2"):
            return None
        return precision(name, bytes_are_fp8=bytes_are_fp8 or self.like("D25"))

    def stride(self, slot: int) -> Shape | None:
        """Strides of the tensor in a slot; None where they are not recorded."""
        found = _at(self.strides, slot)
        return cast("Shape", found) if isinstance(found, tuple) else None

    def value(self, slot: int) -> Any:
        """The argument in a slot as a bool, number, tuple or text; None where it is absent."""
        return parse_value(_at(self.values, slot))

    def flag(self, slot: int, default: bool) -> bool:
        """A truth value in a slot."""
        found = self.value(slot)
        return found if isinstance(found, bool) else default

    def numbers(self, slot: int) -> Shape | None:
        """A list of whole numbers in a slot; None where there is none."""
        found = self.value(slot)
        if isinstance(found, int) and not isinstance(found, bool):
            return (found,)
        if not isinstance(found, tuple):
            return None
        items = cast("tuple[object, ...]", found)
        return tuple(int(item) for item in items if isinstance(item, int | float))

    def reals(self, slot: int) -> tuple[float, ...] | None:
        """A list of numbers in a slot; None where there is none."""
        found = self.value(slot)
        if not isinstance(found, tuple):
            return None
        items = cast("tuple[object, ...]", found)
        return tuple(float(item) for item in items if isinstance(item, int | float))

    def listed(self, slot: int) -> list[tuple[Shape, str]]:
        """Shapes and types of a list of tensors. NotKnownError where they are not recorded."""
        shapes = _at(self.shapes, slot)
        if not isinstance(shapes, tuple) or not shapes:
            raise NotKnownError("the shapes of the list of tensors are not recorded")
        of_each = cast("tuple[Shape, ...]", shapes)
        kinds: object = _at(self.types, slot)
        names = cast("tuple[object, ...]", kinds) if isinstance(kinds, tuple) else (kinds,)
        names = names if len(names) == len(of_each) else names[:1] * len(of_each)
        return [(shape, str(name)) for shape, name in zip(of_each, names, strict=True)]

    def flags(self, slot: int) -> tuple[bool, ...] | None:
        """A list of truth values in a slot; None where there is none."""
        found = self.value(slot)
        if not isinstance(found, tuple):
            return None
        return tuple(bool(item) for item in cast("tuple[object, ...]", found))

    @property
    def tensors(self) -> list[int]:
        """Slots of tensors with recorded sizes."""
        return [i for i in range(len(self.shapes)) if self.maybe(i) and self.is_tensor(i)]


def _at(values: Sequence[Any], slot: int) -> Any:
    return values[slot] if 0 <= slot < len(values) else None


def parse_value(text: Any) -> Any:
    """A recorded text as a value: `''` and `None` are absent, `[1, 1]` and `(1, 1)` tuples."""
    if not isinstance(text, str):
        return as_tuples(text)
    text = text.strip()
    if text in ("", "None"):
        return None
    if text in ("True", "False"):
        return text == "True"
    if text[0] in "[(" and text[-1] in ")]":
        inner = text[1:-1].strip().rstrip(",")
        return tuple(parse_value(part) for part in _split(inner)) if inner else ()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _split(text: str) -> list[str]:
    """Parts between the commas outside of brackets."""
    parts, depth, begin = list[str](), 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [*parts, text[begin:]]


def as_tuples(value: Any) -> Any:
    """Nested lists as nested tuples."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(as_tuples(item) for item in cast("Sequence[object]", value))


def parse_list(text: str | None) -> tuple[Any, ...]:
    """A recorded JSON list as a tuple; empty where there is none or it is no list."""
    if not text:
        return ()
    try:
        found = json.loads(text)
    except ValueError:
        return ()
    return as_tuples(found) if isinstance(found, list) else ()
