"""How the sheets of a report count: as dctx does, or as TraceLens does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..ingest.comm import is_communication
from .compat_ids import COMPAT_IDS
from .op_category import category, legacy_category
from .perf_models.registry import find

if TYPE_CHECKING:
    from .extension import Extension
    from .perf_models.model import Model

_TRACELENS_COMMUNICATION: Final = re.compile("nccl|rccl|cross_device_reduce", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between the two. The defaults are those of dctx."""

    linked_only: bool = False
    """Leave out GPU work whose launch is not in the trace."""
    all_kernels: bool = False
    """The kernel sheets keep such work all the same."""
    few_patterns: bool = False
    """Only names with nccl, rccl or cross_device_reduce are communication."""
    by_thread: bool = False
    """The same operator on two threads is two rows of unique arguments."""
    call_as_op: bool = False
    """Kernels launched outside operators belong to their call, not to one row per kernel name."""
    plain_categories: bool = False
    """Categories by the registry and by at::native kernels only."""
    legacy_categories: bool = False
    """Batch norms are BN_fwd and BN_bwd."""
    shapes_only: bool = False
    """Short kernels of operators without recorded shapes, strides or scalars are left out."""

    flows: bool = False
    """Linked is only what an arrow of the recording leads to, and the kernels of graph launches."""
    all_instances: bool = False
    """The sheets of a family of operators list those within others too."""
    clip_overrun: bool = False
    """Work that doubtfully runs on when the next on its stream begins ends there."""
    compat: frozenset[str] = frozenset()
    """What of TraceLens is reproduced, right or wrong: ids of `compat_ids`."""
    apart: frozenset[str] = frozenset()
    """Operators whose pieces have rows of their own in unified_perf_summary, though they launch
    work themselves."""
    extension: Extension | None = None
    """The user's own models and categories."""

    def category(self, name: str, first_kernel: str, longest_kernel: str) -> str:
        """Category of an operator from its name, the kernel it launched first and its longest."""
        own = self.extension.category(name) if self.extension is not None else None
        if own is not None:
            return own
        found = category(name, first_kernel, longest_kernel, plain=self.plain_categories)
        return legacy_category(name, found) if self.legacy_categories else found

    def model(self, name: str) -> Model | None:
        """The performance model of an operator."""
        own = self.extension.model(name) if self.extension is not None else None
        return own if own is not None else find(name, tracelens=bool(self.compat))

    def own_collective(self, kernel_name: str) -> str | None:
        """The collective that the user's file tells of a kernel."""
        return None if self.extension is None else self.extension.collective(kernel_name)

    def is_communication(self, kernel_name: str) -> bool:
        if self.own_collective(kernel_name) is not None:
            return True
        if self.few_patterns:
            return _TRACELENS_COMMUNICATION.search(kernel_name) is not None
        return is_communication(kernel_name)


DCTX: Final = Rules()

INFERENCE_APART: Final = frozenset({"vllm::moe_forward"})
"""What TraceLens' report of inference, the one with captures of graphs, takes apart."""


def tracelens(but: frozenset[str] = frozenset()) -> Rules:
    """The rules of TraceLens, without some ids of `compat_ids`."""
    of = frozenset(COMPAT_IDS) - but
    return Rules(
        linked_only="D1" in of,
        all_kernels="D1" in of,
        few_patterns="D5" in of,
        by_thread="D11" in of,
        call_as_op="D10" in of,
        plain_categories=True,
        shapes_only="D35" in of,
        flows="D2" in of,
        all_instances="D30" in of,
        compat=of,
    )


TRACELENS: Final = tracelens()
