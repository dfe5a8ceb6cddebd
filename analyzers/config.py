"""Settings of the analyses: thresholds and patterns, from TOML and from options.

The defaults, with their meaning, are in `default.toml` beside this module.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from .change import CompareLimits
from .errors import RequestError
from .finding_limits import Limits, default_finding_limits, finding_limits, override
from .steps import StepOptions
from .text_pattern import text_pattern

_PHASES = ("context", "generation", "step")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits of the metrics, as ratios. Beyond is crossed, equal is not."""

    gpu_idle_ratio: float
    launch_overhead_ratio: float
    host_prep_exposed_ratio: float
    host_prep_perf_impact: float
    host_prep_idle_attribution: float
    gpu_utilization: float
    """The only lower limit."""
    nccl_ratio: float


THRESHOLD_NAMES = tuple(f.name for f in fields(Thresholds))
COMPARE_NAMES = tuple(f.name for f in fields(CompareLimits))


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Settings in force. Phases without limits of their own use those of the whole."""

    thresholds: Thresholds
    phase_thresholds: Mapping[str, Thresholds]
    """By phase: context, generation, step."""
    steps: StepOptions = field(default_factory=StepOptions)
    compare: CompareLimits = field(default_factory=CompareLimits)
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """Source function by text of a range."""
    findings: Limits = field(default_factory=default_finding_limits)
    """Conditions of the analyzers of findings."""

    def of_phase(self, phase: str) -> Thresholds:
        return self.phase_thresholds.get(phase, self.thresholds)

    def override(self, setting: str) -> HostConfig:
        """With one limit changed: `name=value`, for one phase `phase.name=value`.

        A limit given without a phase holds for all of them. RequestError for what is none.
        """
        name, equals, text = setting.partition("=")
        phase, dot, metric = name.strip().rpartition(".")
        if not equals:
            raise RequestError(f"the threshold {setting!r} lacks its value: write name=value.")
        if phase.partition(".")[0] == "findings":
            changed_limits = override(self.findings, name.strip().partition(".")[2], text)
            return replace(self, findings=changed_limits)
        if phase == "compare":
            return replace(
                self, compare=_compare_limits(self.compare, {metric: text}, "--threshold")
            )
        try:
            value = float(text)
        except ValueError:
            raise RequestError(f"the value of the threshold {setting!r} is no number.") from None
        limit = {metric: _limit(metric, value, "--threshold")}
        if dot:
            _check_phase(phase)
            changed = {**self.phase_thresholds, phase: replace(self.of_phase(phase), **limit)}
            return replace(self, phase_thresholds=changed)
        return replace(
            self,
            thresholds=replace(self.thresholds, **limit),
            phase_thresholds={
                key: replace(limits, **limit) for key, limits in self.phase_thresholds.items()
            },
        )


@cache
def default_config() -> HostConfig:
    """The documented defaults."""
    text = (files("dctx.analyzers") / "default.toml").read_text(encoding="utf-8")
    table = _content(text, "default.toml")["host"]["thresholds"]
    whole = {name: float(table[name]) for name in THRESHOLD_NAMES}
    base = HostConfig(Thresholds(**whole), {})
    return _with_thresholds(base, table, "default.toml")


def parse_config(text: str, source: str) -> HostConfig:
    """Settings of a TOML file named `source`, on top of the defaults. RequestError when it cannot
    be read or holds something that is no setting."""
    content = _content(text, source)
    host = _table(content, "host", source)
    unknown = set(host) - {"thresholds", "steps", "sources", "compare"}
    if unknown:
        raise RequestError(f"{source}: [host] has no {', '.join(sorted(unknown))}.")
    config = _with_thresholds(default_config(), _table(host, "thresholds", source), source)
    sources = _table(host, "sources", source)
    if not all(isinstance(value, str) for value in sources.values()):
        raise RequestError(f"{source}: [host.sources] maps texts to texts.")
    steps = _step_options(_table(host, "steps", source), source)
    compare = _compare_limits(config.compare, _table(host, "compare", source), source)
    limits = finding_limits(content.get("findings", {}), source)
    return replace(config, steps=steps, sources=dict(sources), compare=compare, findings=limits)


def _compare_limits(limits: CompareLimits, given: Mapping[str, Any], source: str) -> CompareLimits:
    for name, value in given.items():
        if name not in COMPARE_NAMES:
            raise RequestError(
                f"{source}: no limit of a comparison is called {name!r}. There are: "
                f"{', '.join(COMPARE_NAMES)}."
            )
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if isinstance(value, bool) or not 0 <= number < float("inf"):
            raise RequestError(f"{source}: compare.{name} is a number from 0 on, not {value!r}.")
        changed: dict[str, Any] = {name: int(number) if name == "steps" else number}
        limits = replace(limits, **changed)
    return limits


def _content(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{source} is no TOML file ({error}).") from error


def _table(content: Mapping[str, Any], name: str, source: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise RequestError(f"{source}: {name} is no table.")
    return cast("dict[str, Any]", value)


def _with_thresholds(config: HostConfig, table: Mapping[str, Any], source: str) -> HostConfig:
    whole = {k: _limit(k, v, source) for k, v in table.items() if not isinstance(v, dict)}
    thresholds = replace(config.thresholds, **whole)
    phases = {name: replace(limits, **whole) for name, limits in config.phase_thresholds.items()}
    for phase, value in table.items():
        if isinstance(value, dict):
            _check_phase(phase)
            given = cast("dict[str, Any]", value)
            own = {k: _limit(k, v, source) for k, v in given.items()}
            phases[phase] = replace(phases.get(phase, thresholds), **own)
    return replace(config, thresholds=thresholds, phase_thresholds=phases)


def _limit(name: str, value: object, source: str) -> float:
    if name not in THRESHOLD_NAMES:
        known = ", ".join(THRESHOLD_NAMES)
        raise RequestError(f"{source}: no threshold is called {name!r}. There are: {known}.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise RequestError(f"{source}: {name} is a ratio from 0 to 1, not {value!r}.")
    return float(value)


def _check_phase(phase: str) -> None:
    if phase not in _PHASES:
        raise RequestError(f"no phase is called {phase!r}. There are: {', '.join(_PHASES)}.")


def _step_options(table: Mapping[str, Any], source: str) -> StepOptions:
    unknown = set(table) - {"step_regex", "prep_regex"}
    if unknown or not all(isinstance(value, str) for value in table.values()):
        raise RequestError(f"{source}: [host.steps] holds step_regex and prep_regex, both texts.")
    options = StepOptions(table.get("step_regex"), table.get("prep_regex"))
    text_pattern(options.step_regex, "step")
    text_pattern(options.prep_regex, "preparation")
    return options
