"""Time by module of the model: what its calls take on the host, and the GPU work they lead to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..queries.report_events import ModuleNode

_PREFIX: Final = re.compile(r"^nn\.Module: ")


@dataclass(frozen=True, slots=True)
class ModuleTime:
    """A module by instance, at one place in the model."""

    path: tuple[str, ...]
    """Names from the outermost module to this one."""
    calls: int
    host_ns: int
    gpu_ns: int
    """Of all work below it; backward work is that of its forward operator's module."""
    self_gpu_ns: int
    """The same without the modules within."""


def module_times(nodes: Sequence[ModuleNode], gpu_ns: Mapping[int, int]) -> list[ModuleTime]:
    """Modules in the order of the model, outer ones before inner ones. `gpu_ns` by path node.

    One module that is called from several lines of code is one row.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    around: list[ModuleNode] = []
    paths: dict[int, tuple[str, ...]] = {}
    for node in nodes:
        while around and around[-1].last < node.node:
            around.pop()
        outer = paths[around[-1].node] if around else ()
        path = (*outer, _PREFIX.sub("", node.name))
        paths[node.node] = path
        spent = gpu_ns.get(node.node, 0)
        row = found.setdefault(path, [0, 0, 0, 0])
        for i, value in enumerate((node.calls, node.host_ns, spent, spent)):
            row[i] += value
        if outer:
            found[outer][3] -= spent
        around.append(node)
    return [ModuleTime(path, *row) for path, row in found.items()]
