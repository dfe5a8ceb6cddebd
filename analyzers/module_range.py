"""Modules of the model in a part of a trace: calls that begin in it, and the work counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..queries.report_events import ModuleNode, module_calls, work_nodes

if TYPE_CHECKING:
    from ..queries.report_events import Work
    from ..queries.scope import TimeScope
    from ..queries.trace import Trace


def modules_within(
    trace: Trace, modules: Sequence[ModuleNode], scope: TimeScope | None
) -> list[ModuleNode]:
    """The modules with the calls that begin in the scope; None: all. Reads events."""
    if scope is None:
        return list(modules)
    from ..queries.scope import inside  # brings the tree along

    calls = module_calls(trace)
    kept = inside(trace, scope, calls.lane, calls.start_ns)
    node, dur = calls.node[kept], calls.dur_ns[kept]
    size = max((module.last for module in modules), default=0) + 1
    count, total = np.bincount(node, minlength=size), np.zeros(size, np.int64)
    np.add.at(total, node, dur)
    return [
        replace(module, calls=int(count[module.node]), host_ns=int(total[module.node]))
        for module in modules
    ]


def gpu_ns_within(trace: Trace, modules: Sequence[ModuleNode], work: Work) -> dict[int, int]:
    """GPU time of this work below each module, by path node. Reads events."""
    node = work_nodes(trace)[work.id]
    size = max((module.last for module in modules), default=0) + 1
    known = (node >= 0) & (node < size)
    of_node = np.zeros(size + 1, np.int64)
    np.add.at(of_node, node[known] + 1, (work.end_ns - work.start_ns)[known])
    until = np.cumsum(of_node)
    return {module.node: int(until[module.last + 1] - until[module.node]) for module in modules}
