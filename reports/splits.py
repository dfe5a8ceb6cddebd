"""What tells rows of operators apart beside their name and arguments, when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..analyzers.op_phase import Phase, contexts
from .sheets import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .sheet_context import Context

_INSTANCE: Final = re.compile(r"_\d+$")
MODULE: Final = "parent_module"
KERNELS: Final = "num_kernels"
RECOMPUTE: Final = "is_recompute"


@dataclass(frozen=True, slots=True)
class Split:
    """One more key of rows."""

    name: str
    ids: NDArray[Any]
    """By row of the table."""
    value: Callable[[int], Any]
    """Of an id, as the sheet shows it."""


def splits(context: Context, host: NDArray[np.int32], count: NDArray[np.int64]) -> list[Split]:
    """The keys asked for, of rows by host event and their number of kernels."""
    options, found = context.options, list[Split]()
    if options.by_module or options.recompute:
        of = contexts(context.report.host, host, context.report.context_names)
        if options.by_module:
            names = [module_name(context.report.context_names.get(i)) for i in of.module.tolist()]
            distinct = list(dict.fromkeys(names))
            number = {name: i for i, name in enumerate(distinct)}
            ids = np.array([number[name] for name in names], np.int32)
            found.append(Split(MODULE, ids, distinct.__getitem__))
        if options.recompute:
            ids = (of.phase == Phase.RECOMPUTE).astype(np.int32)
            found.append(Split(RECOMPUTE, ids, bool))
    if options.by_num_kernels:
        found.append(Split(KERNELS, count.astype(np.int64), int))
    return found


def split_columns(
    found: Sequence[Split], rows: NDArray[Any], *names: str, tail: str = ""
) -> list[Column]:
    """Those of these names that were asked for, in this order, for some rows of the table."""
    by_name = {split.name: split for split in found}
    return [
        Column(f"{name}{tail}", [split.value(i) for i in split.ids[rows].tolist()])
        for name in names
        if (split := by_name.get(name)) is not None
    ]


def module_name(text: str | None) -> str | None:
    """Without the number of the instance."""
    return None if text is None else _INSTANCE.sub("", text.removeprefix("nn.Module: "))
