"""What stays of a name when only numbers, sizes and versions of one thing differ."""

from __future__ import annotations

import re

from ..ingest.api_names import base_name
from ..native import name_key

_ARCHITECTURE = re.compile(r"^(?:ampere|hopper|turing|volta|maxwell|sm\d+)_(?=\w)")
_TILE = re.compile(
    r"_(?:(?:MT|tilesize|warpgroupsize|warpsize|stage|stages|align|sliced)?\d+(?:x\d+)*"
    r"|[nt][nt]n?|align\d+|execute_\w+?_kernel_\w+)(?=_|$)"
)
_WORK = re.compile(r"\b\w+(?:Functor|Ops?|_kernel_cuda|_kernel_impl)\b")
"""Template arguments that say what an otherwise general kernel computes."""
_SAME_CALL = {
    "hipModuleLaunchKernel": "cuLaunchKernel",
    "hipExtModuleLaunchKernel": "cuLaunchKernelEx",
}
"""Calls of the two makers that do the same under different names."""
_RUNTIME = re.compile(r"^(?:cuda|hip)(?=[A-Z])")


def identity(name: str, *, call: bool = False) -> str:
    """The name without template arguments, parameters, tiles of kernels, numbers and addresses.

    Of an API call (`call`) without version and without the maker's prefix, so that cudaMalloc and
    hipMalloc are one. A name that is nothing but brackets only has its numbers taken out.
    """
    if call:
        base = base_name(name)
        return _RUNTIME.sub("", _SAME_CALL.get(base, base))
    text = _outside_brackets(name)
    if not text.strip():
        return name_key(name)
    work = sorted(set(_WORK.findall(name)) - set(_WORK.findall(text)))
    text = _TILE.sub("", _ARCHITECTURE.sub("", text.removeprefix("void ")))
    return name_key(" ".join([text.strip(), *work]))


def _outside_brackets(text: str) -> str:
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
