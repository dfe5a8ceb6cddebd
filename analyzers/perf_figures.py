"""The figures of a performance model for a call as recorded, whatever the model does with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from .perf_models.model import MATRIX
from .perf_models.perf import NotKnownError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .perf_models.call import Call
    from .perf_models.model import Model, ModelFunction

_TF32_KERNELS = ("tf32", "s1688")
_REASON = "the recorded arguments do not fit the model"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one call. None: not known."""

    family: str
    """Name of the sheet; empty: of none."""
    flops: float | None = None
    bytes: float | None = None
    spec: str | None = None
    """The rate that bounds its computations: matrix_bf16, vector_fp32, …"""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""


def figures(model: Model, call: Call, *, backward: bool = False) -> Figures:
    """What the model says of a call; blank with a note where it says nothing. `backward`: of the
    gradients, by the forward call. No error of a model comes through."""
    work: ModelFunction | None = model.backward if backward else model.work
    family = _backward_family(model.family) if backward else model.family
    if work is None:
        return Figures(family, note="no model of the gradients")
    try:
        found = work(call)
    except NotKnownError as error:
        return Figures(family, note=str(error))
    except Exception as error:  # a model of the user's own may fail in any way
        return Figures(family, note=f"{_REASON} ({type(error).__name__}: {error})")
    if found is None:
        return Figures(family, note="the model knows no such call")
    if any(v is not None and not 0 <= v < inf for v in (found.flops, found.bytes)):
        return Figures(family, note=_REASON)
    unit = found.unit or model.unit
    precision = found.precision
    if precision == "fp32" and unit == MATRIX and not call.like("D31") and _is_tf32(call.kernels):
        precision = "tf32"
    spec = f"{unit}_{precision}" if precision else None
    return Figures(found.family or family, found.flops, found.bytes, spec, found.params, found.note)


def _is_tf32(kernels: tuple[str, ...]) -> bool:
    return any(word in kernel for kernel in kernels for word in _TF32_KERNELS)


def _backward_family(family: str) -> str:
    return f"{family.removesuffix('_fwd')}_bwd" if family.endswith("_fwd") else family
