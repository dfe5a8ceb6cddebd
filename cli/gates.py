"""Options of the gates, and what a command exits with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ..reports.exit_codes import ExitCode
from ..reports.failures import say
from ..reports.format import clean

if TYPE_CHECKING:
    from ..analyzers.gates import Gate
    from ..analyzers.host_overhead import HostOverhead

F = TypeVar("F", bound=Callable[..., Any])

NAMES = ("verdict", "regression", "unreliable")
_DETAIL = {
    "verdict": ExitCode.GATE_VERDICT,
    "regression": ExitCode.GATE_REGRESSION,
    "unreliable": ExitCode.GATE_UNRELIABLE,
}


class GateList(click.ParamType[tuple[str, ...]]):
    """`verdict,regression`: names of gates, each at most once."""

    name = "gates"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return cast("tuple[str, ...]", value)
        names = [name.strip() for name in str(value).split(",") if name.strip()]
        unknown = [name for name in names if name not in NAMES]
        if unknown or not names:
            self.fail(
                f"no gate is called {', '.join(map(repr, unknown)) or repr(value)}: choose from "
                f"{', '.join(NAMES)}.",
                param,
                ctx,
            )
        return tuple(dict.fromkeys(names))


def gate_options(function: F) -> F:
    """`--fail-on`, `--strict` and `--exit-detail`."""
    fail_on = click.option(
        "--fail-on",
        type=GateList(),
        default=(),
        metavar="GATES",
        help="Exit with 1 when one of these holds: verdict, regression, unreliable "
        "(separated by commas).",
    )
    strict = click.option(
        "--strict", is_flag=True, help="Exit with 2 when there is too little to judge or compare."
    )
    detail = click.option(
        "--exit-detail",
        is_flag=True,
        help="Tell failed gates apart: exit with 10 verdict, 11 regression, 12 unreliable "
        "(the highest).",
    )
    return fail_on(strict(detail(function)))


def leave(gates: Sequence[Gate], lacking: str | None, *, strict: bool, detail: bool) -> None:
    """End the command as its gates say. `lacking`: why there is too little data, if so."""
    failed = [gate for gate in gates if gate.failed]
    for gate in failed:
        _warn(f"gate {gate.name.value} failed: {gate.sentence}")
    if lacking is not None and strict:
        _warn(f"error: {lacking} (--strict)")
        sys.exit(ExitCode.USAGE)
    if lacking is not None and gates and not failed:
        _warn(
            f"warning: gates pass though they could not be checked: {lacking} "
            "(--strict: exit with 2)"
        )
    if failed:
        sys.exit(max(_DETAIL[g.name.value] for g in failed) if detail else ExitCode.GATE)


def _warn(text: str) -> None:
    """One line on standard error. The exit code says it too, should nobody take the line."""
    say(sys.stderr, clean(f"dctx: {text}") + "\n")


def too_little(result: HostOverhead) -> str | None:
    """Why there is too little data for a verdict; None where there is enough."""
    if result.window is None or result.answer.value == "N/A":
        return "the trace has too little GPU work for a verdict"
    return next((c.text for c in result.reliability.conditions if c.code == "R3"), None)
