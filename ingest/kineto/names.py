"""Frames of the calling context tree, told by the names of events."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ...native import PathTree, StringPool
from ..arrays import I32
from ..model import Layer
from .recording import distinct

_PYTHON: Final = re.compile(r"(?s)(.*)\((\d+)\): (.*)")
_MODULE: Final = "nn.Module: "
_MOST_LINES: Final = 2**31 - 1


def named_frames(tree: PathTree, pool: StringPool, layer: Layer, names: I32) -> I32:
    """Frame of each operator, annotation or call: numbers that vary are taken out of its name."""
    texts, index = distinct(names)
    keys = pool.name_keys(np.array(texts, np.int32))
    return tree.frames(np.full(len(keys), layer, np.uint8), keys)[index]


def python_frames(tree: PathTree, pool: StringPool, names: I32) -> I32:
    """Frame of each Python function: `file.py(line): function` by function, file and line, modules
    in a layer of their own, and built-ins, whose names hold addresses: there may be many."""
    texts, index = distinct(names)
    name = np.array(texts, np.int32)
    layer = np.full(len(texts), Layer.PYTHON, np.uint8)
    file, line = (np.full(len(texts), -1, np.int32) for _ in range(2))
    built_in: list[int] = []
    for at, text in enumerate(map(pool.__getitem__, texts)):
        if text.startswith(_MODULE):
            layer[at] = Layer.MODULE
            name[at] = pool.intern(text.removeprefix(_MODULE))
        elif (match := _PYTHON.fullmatch(text)) is not None:
            path, number, function = match.groups()
            name[at], file[at] = pool.intern(function), pool.intern(path)
            line[at] = min(int(number), _MOST_LINES) if len(number) <= 10 else _MOST_LINES
        else:
            built_in.append(at)
    name[built_in] = pool.name_keys(name[built_in])
    return tree.frames(layer, name, file, line)[index]
