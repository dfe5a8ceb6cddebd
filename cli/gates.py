"""Options of the gates, and what a command exits with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..reports.exit_codes import ExitCode
from ..reports.failures import say
from ..reports.format import clean

if TYPE_CHECKING:
    from ..analyzers.compare_figures import RuleGate
    from ..analyzers.gate_rules import GateRule
    from ..analyzers.gates import Gate
    from ..analyzers.host_overhead import HostOverhead

F = TypeVar("F", bound=Callable[..., Any])

NAMES = ("verdict", "regression", "unreliable")
_DETAIL = {
    "verdict": ExitCode.GATE_VERDICT,
    "regression": ExitCode.GATE_REGRESSION,
    "unreliable": ExitCode.GATE_UNRELIABLE,
}


@dataclass(frozen=True, slots=True)
class Gates:
    """What `--fail-on` asks for."""

    names: tuple[str, ...] = ()
    rules: tuple[GateRule, ...] = ()


class GateList(click.ParamType[Gates]):
    """`verdict,regression`: names of gates, each at most once; of comparisons also rules such as
    `kernel_time>+3%`."""

    name = "gates"

    def __init__(self, *, rules: bool) -> None:
        self._rules = rules

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Gates:
        if isinstance(value, Gates):
            return value
        from ..analyzers.errors import RequestError
        from ..analyzers.gate_rules import is_rule, parse_rule

        asked = list(dict.fromkeys(part.strip() for part in str(value).split(",") if part.strip()))
        rules = [text for text in asked if self._rules and is_rule(text)]
        names = [text for text in asked if text not in rules]
        unknown = [name for name in names if name not in NAMES]
        if unknown or not asked:
            choice = f"{', '.join(NAMES)}{', or a rule such as kernel_time>+3%' * self._rules}"
            self.fail(
                f"no gate is called {', '.join(map(repr, unknown)) or repr(value)}: choose from "
                f"{choice}.",
                param,
                ctx,
            )
        try:
            return Gates(tuple(names), tuple(map(parse_rule, rules)))
        except RequestError as error:
            self.fail(str(error), param, ctx)


def gate_options(*, rules: bool = False) -> Callable[[F], F]:
    """`--fail-on`, `--strict` and `--exit-detail`; `rules`: with rules about figures."""
    told = "; also rules about figures, as in kernel_time>+3%,gap_time>+50us" if rules else ""
    fail_on = click.option(
        "--fail-on",
        type=GateList(rules=rules),
        default=Gates(),
        metavar="GATES",
        help="Exit with 1 when one of these holds: verdict, regression, unreliable "
        f"(separated by commas){told}.",
    )
    strict = click.option(
        "--strict", is_flag=True, help="Exit with 2 when there is too little to judge or compare."
    )
    detail = click.option(
        "--exit-detail",
        is_flag=True,
        help="Tell failed gates apart: exit with 10 verdict, 11 regression, 12 unreliable"
        f"{', 13 a rule' * rules} (the highest).",
    )
    return lambda function: fail_on(strict(detail(function)))


def leave(
    gates: Sequence[Gate],
    lacking: str | None,
    *,
    strict: bool,
    detail: bool,
    rules: Sequence[RuleGate] = (),
) -> None:
    """End the command as its gates say. `lacking`: why there is too little data, if so. A rule
    that could not be checked never passes."""
    from ..reports.rule_gates import rule_sentence

    failed = [gate for gate in gates if gate.failed]
    for gate in failed:
        _warn(f"gate {gate.name.value} failed: {gate.sentence}")
    broken = [gate for gate in rules if gate.failed]
    for rule in broken:
        _warn(f"gate failed: {rule_sentence(rule)}")
    for rule in (gate for gate in rules if gate.by_chance):
        _warn(f"gate holds, the change is within what steps vary by chance: {rule_sentence(rule)}")
    unknown = [gate for gate in rules if gate.unknown is not None]
    for rule in unknown:
        _warn(f"error: gate not checked: {rule_sentence(rule)}")
    if lacking is not None and strict:
        _warn(f"error: {lacking} (--strict)")
        sys.exit(ExitCode.USAGE)
    if lacking is not None and gates and not failed:
        _warn(
            f"warning: gates pass though they could not be checked: {lacking} "
            "(--strict: exit with 2)"
        )
    if failed or broken:
        codes = [_DETAIL[gate.name.value] for gate in failed]
        codes += [ExitCode.GATE_RULE] if broken else []
        sys.exit(max(codes) if detail else ExitCode.GATE)
    if unknown:
        sys.exit(ExitCode.USAGE)


def _warn(text: str) -> None:
    """One line on standard error. The exit code says it too, should nobody take the line."""
    say(sys.stderr, clean(f"dctx: {text}") + "\n")


def too_little(result: HostOverhead) -> str | None:
    """Why there is too little data for a verdict; None where there is enough."""
    if result.window is None or result.answer.value == "N/A":
        return "the trace has too little GPU work for a verdict"
    return next((c.text for c in result.reliability.conditions if c.code == "R3"), None)
