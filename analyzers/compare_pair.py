"""A target compared with its base in all that was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .judging import judge_pair

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .compare_figures import Figure, RuleGate
    from .compare_parts import Part
    from .config import HostConfig
    from .gate_rules import GateRule
    from .judging import Judged
    from .pairing import Compared


@dataclass(frozen=True, slots=True)
class PairResult:
    """What is known of a target and its base."""

    compared: Compared
    judged: Judged
    """Of the target."""
    figures: Mapping[str, Figure] = field(default_factory=dict[str, "Figure"])
    """By name; empty where neither these nor parts or rules were asked for."""
    parts: Mapping[str, Part] = field(default_factory=dict[str, "Part"])
    """By title: the tables that were asked for."""
    rules: tuple[RuleGate, ...] = ()


def compare_pair(
    baseline: Trace,
    target: Trace,
    config: HostConfig,
    *,
    window: str = "auto",
    titles: Collection[str] = (),
    rules: tuple[GateRule, ...] = (),
    with_figures: bool = False,
) -> PairResult:
    """Judge the target and compare it with its base; `titles`: of the parts to work out.
    RequestError for a window or a pattern that cannot be used."""
    compared, judged = judge_pair(baseline, target, config, window=window)
    if not (titles or rules or with_figures):
        return PairResult(compared, judged)
    # Costs that few ask for, and a tenth of the modules.
    from .compare import compare_costs
    from .compare_figures import check_rules, figures
    from .compare_parts import chosen_parts

    found = compare_costs(baseline, target, compared, config.compare)
    of_all = figures(compared, found)
    return PairResult(
        compared=compared,
        judged=judged,
        figures=of_all,
        parts=chosen_parts(baseline, target, found, titles),
        rules=check_rules(rules, of_all),
    )
