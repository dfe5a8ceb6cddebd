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
    """Frame of each Python event: function, file and line; modules are a layer of their own."""
    texts, index = distinct(names)
    frames = [python_frame(tree, pool, text) for text in texts]
    return np.array(frames, np.int32)[index]


def python_frame(tree: PathTree, pool: StringPool, name: int) -> int:
    """Frame of a Python function `file.py(line): function`, a module or a built-in."""
    text = pool[name]
    if text.startswith(_MODULE):
        return tree.frame(Layer.MODULE, pool.intern(text.removeprefix(_MODULE)))
    if (match := _PYTHON.fullmatch(text)) is not None:
        file, line, function = match.groups()
        number = int(line) if len(line) <= 10 else _MOST_LINES
        return tree.frame(
            Layer.PYTHON, pool.intern(function), pool.intern(file), min(number, _MOST_LINES)
        )
    # A built-in: its name holds addresses.
    [key] = pool.name_keys(np.array([name], np.int32)).tolist()
    return tree.frame(Layer.PYTHON, key)
