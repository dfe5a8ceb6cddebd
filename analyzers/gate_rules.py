"""Rules such as `kernel_time>+3%`: a figure of a comparison, and the limit it must keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from .errors import RequestError


class Unit(StrEnum):
    """What a figure is measured in."""

    TIME = "ns"
    BYTES = "bytes"
    NUMBER = "1"


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A figure that a comparison has, and a rule can name. Per step where the steps of both traces
    can be compared, else of the whole run."""

    name: str
    unit: Unit
    title: str
    """What it is of, to be read behind its name."""

    @property
    def label(self) -> str:
        """The name for people: `GPU time`."""
        return self.name.replace("_", " ").replace("gpu", "GPU").replace("api", "API")


KINDS = {
    kind.name: kind
    for kind in (
        FigureKind("wall_time", Unit.TIME, "a step and the gap after it"),
        FigureKind("step_time", Unit.TIME, "a step, without the gap after it"),
        FigureKind("gap_time", Unit.TIME, "between two steps"),
        FigureKind("gpu_time", Unit.TIME, "all GPU work, overlapping or not"),
        FigureKind("kernel_time", Unit.TIME, "kernels and graph replays"),
        FigureKind("copy_time", Unit.TIME, "copies and memsets on the GPU"),
        FigureKind("comm_time", Unit.TIME, "communication kernels"),
        FigureKind("host_time", Unit.TIME, "calls, operators and ranges on threads"),
        FigureKind("api_time", Unit.TIME, "inside API calls (CUDA, HIP, system)"),
        FigureKind("kernels", Unit.NUMBER, "executed"),
        FigureKind("launches", Unit.NUMBER, "of kernels and graphs"),
        FigureKind("api_calls", Unit.NUMBER, "CUDA, HIP, system"),
        FigureKind("samples", Unit.NUMBER, "of the CPU"),
        FigureKind("copy_bytes", Unit.BYTES, "copied or set"),
    )
}

_SCALES = {
    Unit.TIME: {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9},
    Unit.BYTES: {
        "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    },
    Unit.NUMBER: {"": 1},
}  # fmt: skip
_RULE = re.compile(
    r"(?P<name>[a-z_]+)\s*(?P<than>[<>])\s*(?P<sign>[+-]?)(?P<number>\d+(?:\.\d+)?)\s*"
    r"(?P<unit>%|[A-Za-zµ]*)\Z"
)
_FORM = "write a figure, > or <, and a limit: kernel_time>+3%, gap_time>+50us, launches>400"


class Against(StrEnum):
    """What is held against the limit."""

    PERCENT = "change in % of the base"
    CHANGE = "change"
    VALUE = "value of the target"


@dataclass(frozen=True, slots=True)
class GateRule:
    """One rule. The gate fails when the value is beyond the limit; equal to it is not."""

    text: str
    """As it was written."""
    kind: FigureKind
    against: Against
    above: bool
    """True: fails above the limit, else below it."""
    limit: float
    """%, ns, bytes or a number."""

    def crossed(self, value: float) -> bool:
        return value > self.limit if self.above else value < self.limit


def is_rule(text: str) -> bool:
    """Whether a gate is one of these, not one with a name of its own."""
    return "<" in text or ">" in text


def parse_rule(text: str) -> GateRule:
    """RequestError for what is no rule, an unknown figure, or a unit that does not fit it."""
    found = _RULE.match(text.strip())
    if found is None:
        raise RequestError(f"{text!r} is no rule: {_FORM}.")
    kind = KINDS.get(found["name"])
    if kind is None:
        raise RequestError(
            f"no figure of a comparison is called {found['name']!r}. There are: {', '.join(KINDS)}."
        )
    number, unit, sign = float(found["number"]), found["unit"], found["sign"]
    limit = -number if sign == "-" else number
    above = found["than"] == ">"
    if unit == "%":
        if not sign:
            raise RequestError(f"{text!r}: a limit in % is one of the change: write its sign.")
        return GateRule(text.strip(), kind, Against.PERCENT, above, limit)
    scales = _SCALES[kind.unit]
    if unit not in scales:
        units = ", ".join(scales) if kind.unit is not Unit.NUMBER else "no unit"
        raise RequestError(f"{text!r}: a limit of {kind.name} has {units} or, with a sign, %.")
    against = Against.CHANGE if sign else Against.VALUE
    return GateRule(text.strip(), kind, against, above, limit * scales[unit])
