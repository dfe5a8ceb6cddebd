"""Kernels that compute nothing: they change the layout or the type of tensors."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ...ingest.model import Layer
from ...queries.operators import usual_arguments
from ..findings import Evidence, Finding
from ..kernel_traits import changes_layout, is_matrix
from ..perf_models.call import parse_list
from ..quantities import share
from .facts import Facts
from .places import nearest
from .wording import gained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I64 = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_CAST: Final = re.compile(r"^aten::(?:_to_copy|to)\b|^aten::_autocast_to")
_COPY: Final = re.compile(r"^aten::(?:contiguous|clone|copy_|reshape|_reshape_copy|cudnn_.*nhwc)\b")

_TORCH_LAYOUT: Final = (
    "Keep one layout: for convolutions memory_format=torch.channels_last for the model and its "
    "input (look at the norm layers, too); else avoid transpose(...).contiguous() and reshape of "
    "views before each use."
)
_JAX_LAYOUT: Final = (
    "Keep one layout: give convolutions dimension_numbers with the channels last (NHWC, HWIO), and "
    "leave out jnp.transpose and einsum orders that put another axis last before each use."
)


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of all GPU time in such kernels, at least."""


@dataclass(frozen=True, slots=True)
class Result:
    total_ns: int
    rows: list[int]
    """Contexts around, the one with most of it first."""
    own_ns: list[int]
    operators: list[int]
    """Of each context the operator with most of it; -1: none is known."""
    kernels: list[Evidence]


NOTHING: Final = Result(0, [], [], [], [])


def _operators(facts: Facts, pattern: re.Pattern[str]) -> Mask:
    named = facts.named(pattern)
    found: Mask = named & np.isin(facts.layer, [int(Layer.OP), int(Layer.ANNOTATION)])
    return found


def _kernels(facts: Facts) -> Mask:
    """Rows of moving work: kernels, where the trace has GPU work; else operators themselves."""
    if facts.on_gpu:
        return facts.is_kernel & ~facts.where(is_matrix)
    found: Mask = facts.layer == Layer.OP
    return found


def _around(facts: Facts, moving: Mask) -> Result:
    """Moving work by the context around the operators that move."""
    rows = np.flatnonzero(moving)
    cost = facts.own_cost
    mover = _operators(facts, _CAST) | _operators(facts, _COPY) | moving
    outside = nearest(facts.parent, facts.is_code & ~mover)
    alone = facts.outermost(facts.is_code & mover)  # nothing of the program is around it
    place = np.where(outside >= 0, outside, alone)[rows]
    total = np.zeros(len(facts.parent), np.int64)
    np.add.at(total, place[place >= 0], cost[rows[place >= 0]])
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    operator = nearest(facts.parent, facts.layer == Layer.OP)[rows]
    most = np.full(len(facts.parent), -1, np.int32)
    of_operator = np.bincount(operator + 1, cost[rows], len(facts.parent) + 1)[1:]
    least_first = np.argsort(np.append(of_operator, 0)[operator], kind="stable")
    most[place[least_first]] = operator[least_first]
    kernels = facts.kernel_evidence(moving & facts.is_kernel, 2)
    return Result(
        int(cost[rows].sum()), order.tolist(), total[order].tolist(), most[order].tolist(), kernels
    )


def analyze_layout(facts: Facts, limits: Limits) -> Result:
    """Copies into another order, and kernels whose name says so; no conversions of type."""
    cast = nearest(facts.parent, _operators(facts, _CAST)) >= 0
    copied = nearest(facts.parent, _operators(facts, _COPY)) >= 0
    moving = _kernels(facts) & ~cast & copied
    moving |= facts.is_kernel & facts.where(changes_layout)
    found = _around(facts, moving)
    return found if found.total_ns >= limits.share * max(facts.total_ns, 1) else NOTHING


def analyze_casts(facts: Facts, limits: Limits) -> Result:
    """Conversions of type on the device; those of a CPU cost little beside the work around."""
    if not facts.on_gpu:
        return NOTHING
    moving = _kernels(facts) & (nearest(facts.parent, _operators(facts, _CAST)) >= 0)
    found = _around(facts, moving)
    return found if found.total_ns >= limits.share * max(facts.total_ns, 1) else NOTHING


def _finding(
    result: Result, facts: Facts, key: str, what: str, remedy: str, verify: str
) -> list[Finding]:
    if not result.total_ns:
        return []
    evidence = facts.evidence(result.rows, [ns / 1e6 for ns in result.own_ns], "ms")
    most = f", most in {evidence[0].what}" if evidence else ""
    shapes = _shapes(result, facts)
    evidence = [
        replace(row, what=row.what + shapes[row.node]) if row.node in shapes else row
        for row in evidence
    ]
    work = "kernels" if facts.on_gpu else "operators"
    return [
        gained(
            key,
            f"{what} {share(result.total_ns / facts.total_ns)} of the {facts.cost_name}{most}.",
            remedy, verify, [*evidence, *result.kernels],
            facts.gain(result.total_ns, f"all time of these {work}"),
        )
    ]  # fmt: skip


def _first_tensor(shapes: tuple[Any, ...]) -> tuple[int, ...]:
    """Its sizes; empty where there is none."""
    for shape in shapes:
        if isinstance(shape, tuple) and shape:
            sizes = cast("tuple[object, ...]", shape)
            return tuple(size for size in sizes if isinstance(size, int))
    return ()


def _shapes(result: Result, facts: Facts) -> dict[int | None, str]:
    """By node of evidence the sizes of the first tensor that its operator is usually called with,
    where they are recorded."""
    usual: dict[int, tuple[int, ...]] = {}
    for one in usual_arguments(facts.trace):
        sizes = _first_tensor(parse_list(one.shapes))
        if sizes:
            usual.setdefault(int(facts.place[one.node]), sizes)
    source = facts.tree.table.source
    return {
        int(source[row]): f"{'' if row == operator else f', {facts.name(operator)}'} of "
        f"{' x '.join(map(str, usual[operator]))}"
        for row, operator in zip(result.rows, result.operators, strict=True)
        if operator in usual
    }


def layout_findings(result: Result, facts: Facts) -> list[Finding]:
    return _finding(
        result, facts, "layout-conversion",
        "Copies into another memory layout take",
        _JAX_LAYOUT if (facts.layer == Layer.HLO).any() else _TORCH_LAYOUT,
        "The copies are gone from these contexts (Call paths).",
    )  # fmt: skip


def cast_findings(result: Result, facts: Facts) -> list[Finding]:
    return _finding(
        result, facts, "type-casts",
        "Conversions between element types take",
        "Keep weights and activations in the type they are used in: cast parameters once, let "
        "autocast keep its cache, and leave out .to(...) and .float() on the way.",
        "Fewer aten::_to_copy in these contexts (Call paths).",
    )  # fmt: skip
