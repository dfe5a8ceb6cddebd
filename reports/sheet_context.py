"""What all sheets of a report need: the device at hand, texts, units."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..analyzers.architecture import detected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.architecture import Architecture
    from ..analyzers.op_report import DeviceReport, OpReport
    from ..analyzers.report_rules import Rules
    from ..queries.scope import TimeScope
    from ..queries.trace import Trace


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """What the sheets leave open."""

    rules: Rules
    tracelens: bool = False
    """Leave out the columns that TraceLens does not have."""
    micro_idle_ns: int = 0
    """Tell gaps shorter than this apart; 0: do not."""
    short_ns: int = 10_000
    """Kernels shorter than this are short."""
    top_short: int | None = None
    """Rows of short kernels; None: all."""
    architecture: Architecture | None = None
    """Of all devices; None: by the name of each."""
    own_architectures: tuple[Architecture, ...] = ()
    """The user's, to find that of a device among."""
    by_module: bool = False
    """Operators of different modules are different rows, as in the next two."""
    by_num_kernels: bool = False
    """Of different numbers of kernels."""
    overlap: bool = False
    """Sheets of operators once more, by what ran beside them on other streams."""
    stacks: bool = False
    """Where operators were called from."""
    recompute: bool = False
    """Of the recomputation of a checkpoint, and its part of the timeline."""
    scope: TimeScope | None = None
    """The part of the trace; None: all of it."""
    capture: Trace | None = None
    """The capture of the graphs that are replayed."""
    workbook: bool = False
    """Tell what a workbook of the sheets cuts."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """One device of a report."""

    report: OpReport
    device: DeviceReport
    options: SheetOptions
    overlap: bool = False
    """Tell rows apart by what ran beside them."""

    @property
    def architecture(self) -> Architecture | None:
        """What the device can do; None where that is not known."""
        options = self.options
        if options.architecture is not None or options.tracelens:
            return options.architecture
        return detected(self.device.name, list(options.own_architectures))

    def text(self, string: int) -> str | None:
        return None if string < 0 else self.report.texts[string]

    @cache  # noqa: B019 (a context lives as long as its report)
    def literal(self, string: int) -> str | None:
        """Arguments as a Python literal: nested tuples."""
        text = self.text(string)
        return None if text is None else repr(_tuples(json.loads(text)))

    def arguments(self, launcher: NDArray[np.int32], field: str) -> NDArray[np.int32]:
        """`string.id` of an argument list by launcher, -1 where it is missing."""
        args = np.append(self.report.host.args, np.int32(-1))[launcher]
        return np.append(getattr(self.report.arguments, field), np.int32(-1))[args]

    def lane(self, launcher: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.append(self.report.host.lane, np.int32(-1))[launcher]

    def thread(self, lane: int) -> str | None:
        return None if lane < 0 else self.report.lanes[lane].name

    def process(self, lane: int) -> str | None:
        process = None if lane < 0 else self.report.lanes[lane].process
        return None if process is None else self.report.processes[process].name


def _tuples(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(map(_tuples, cast("list[object]", value)))


ARGUMENTS: Final = (
    ("Input Dims", "shapes"),
    ("Input type", "types"),
    ("Input Strides", "strides"),
    ("Concrete Inputs", "concrete"),
)


def as_us(values: NDArray[Any]) -> list[float | None]:
    """Microseconds of ns; NaN is blank."""
    return [None if v != v else v / 1000 for v in values.tolist()]


def as_ms(values: NDArray[Any]) -> list[float]:
    return [v / 1_000_000 for v in values.tolist()]


def as_percent(values: NDArray[np.int64], whole: int) -> list[float | None]:
    return [100 * v / whole if whole else None for v in values.tolist()]
