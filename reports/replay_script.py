"""A Python script that makes a recorded call again: our own text around literals of the trace.

Nothing from the trace stands in the text but as an ASCII literal of a Python value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .. import __version__
from .replay_template import TEMPLATE

if TYPE_CHECKING:
    from ..analyzers.replay_plan import Argument, Plan
    from .replay import Row

_FIELDS: Final = {
    "tensor": ("shape", "strides", "dtype", "init", "bound"),
    "tensorlist": ("shape", "strides", "dtype", "init", "bound"),
    "none": (),
}


def script(row: Row, plan: Plan, trace: str) -> str:
    """The text of the script; `trace` names the file it came from."""
    arguments = "".join(f"    {_literal(argument)},\n" for argument in plan.arguments)
    facts = {
        "VERSION": __version__,
        "TRACE": trace,
        "SHEET": row.sheet,
        "ROW": row.number,
        "UID": row.uid,
        "CALLS": row.count,
        "TRACE_MEAN_US": row.mean_us,
        "ASSUMED": plan.assumed,
        "OPERATOR": plan.op,
    }
    given = "".join(f"{name} = {value!a}\n" for name, value in facts.items())
    return TEMPLATE.replace("@FACTS@", f"{given}ARGUMENTS = [\n{arguments}]\n")


def _literal(of: Argument) -> str:
    fields: dict[str, Any] = {"kind": of.kind}
    for name in _FIELDS.get(of.kind, ("value",)):
        value = getattr(of, name)
        if name != "bound" or value is not None:
            fields[name] = value
    return ascii(fields)
