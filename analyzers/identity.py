"""What stays of a name when only numbers, sizes and versions of one thing differ."""

from __future__ import annotations

import re
from enum import IntEnum

from ..ingest.api_names import base_name
from ..ingest.model import Layer
from ..native import name_key

_ARCHITECTURE = re.compile(r"^(?:ampere|hopper|turing|volta|maxwell|sm\d+)_(?=\w)")
_TILE = re.compile(
    r"_(?:(?:MT|tilesize|warpgroupsize|warpsize|stage|stages|align|sliced)?\d+(?:x\d+)*"
    r"|[nt][nt]n?|align\d+|execute_\w+?_kernel_\w+)(?=_|$)"
)
_WORK = re.compile(r"\b\w+(?:Functor\w*|Ops?|_kernel_cuda|_kernel_impl|_kernel(?=\())\b")
"""Template arguments that say what an otherwise general kernel computes."""
_SAME_CALL = {
    "hipModuleLaunchKernel": "cuLaunchKernel",
    "hipExtModuleLaunchKernel": "cuLaunchKernelEx",
}
"""Calls of the two makers that do the same under different names."""
_SPACES = re.compile(r"(?:(?:\w+|\(anonymous namespace\))::)+(?=\w)")
_RUNTIME = re.compile(r"^(?:cuda|hip)(?=[A-Z])")


class NodeKind(IntEnum):
    """What tells that a context goes on under another name; numbered as in tree/align.hpp."""

    PROGRAM = 0
    LIBRARY = 1
    OPERATOR = 2
    CALL = 3
    KERNEL = 4
    FIXED = 5


_KINDS = {
    Layer.THREAD: NodeKind.PROGRAM,
    Layer.NATIVE: NodeKind.PROGRAM,
    Layer.PYTHON: NodeKind.PROGRAM,
    Layer.MODULE: NodeKind.PROGRAM,
    Layer.SOURCE_LINE: NodeKind.PROGRAM,
    Layer.ANNOTATION: NodeKind.LIBRARY,
    Layer.OP: NodeKind.OPERATOR,
    Layer.HLO: NodeKind.OPERATOR,
    Layer.API: NodeKind.CALL,
    Layer.KERNEL: NodeKind.KERNEL,
    Layer.GRAPH: NodeKind.KERNEL,
}


def node_kind(layer: Layer) -> NodeKind:
    """What tells that a context of this layer goes on under another name."""
    return _KINDS.get(layer, NodeKind.FIXED)


def identity(name: str, *, layer: Layer = Layer.OP) -> str:
    """The name without template arguments, parameters, tiles of kernels, numbers and addresses.

    Of an API call without version and without the maker's prefix, so that cudaMalloc and
    hipMalloc are one; of kernels without namespaces and of copies in small letters, as profilers
    write them their own way. A name that is nothing but brackets only has its numbers taken out.
    """
    if layer is Layer.API:
        base = base_name(name)
        return _RUNTIME.sub("", _SAME_CALL.get(base, base))
    on_gpu = layer in (Layer.KERNEL, Layer.GRAPH)
    text = outside_brackets(without_namespaces(name) if on_gpu else name)
    if layer in (Layer.MEMCPY, Layer.MEMSET):
        text = text.lower()
    if not text.strip():
        return name_key(name)
    work = work_words(name, text)
    text = _TILE.sub("", _ARCHITECTURE.sub("", text.removeprefix("void ")))
    return name_key(" ".join([text.strip(), *work]))


def without_namespaces(kernel: str) -> str:
    """`flash_fwd_kernel<Traits>` of `flash::flash_fwd_kernel<flash::Traits>`."""
    return _SPACES.sub("", kernel)


def work_words(name: str, outside: str) -> list[str]:
    """What an otherwise general kernel computes, by its template arguments; `outside`: the name
    without these."""
    return sorted(word for word in set(_WORK.findall(name)) if word not in outside)


def outside_brackets(text: str) -> str:
    """Without `<…>` and `(…)`, nested or not; brackets that are never closed stay."""
    kept: list[str] = []
    opened: list[tuple[str, int]] = []
    for letter in text:
        if letter in "<(":
            opened.append((letter, len(kept)))
        kept.append(letter)
        if letter in ">)" and opened and opened[-1][0] == ("<" if letter == ">" else "("):
            _, at = opened.pop()
            del kept[at:]
    return "".join(kept)
