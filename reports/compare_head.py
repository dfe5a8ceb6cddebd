"""What two traces say at first sight: the lines above their trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import format as fmt
from .compare import cause_sentences

if TYPE_CHECKING:
    from ..analyzers.change import Change
    from ..analyzers.pairing import Compared

_WEIGHTS = {3: "!!", 2: "!", 1: "·"}
_REMEDY = (
    "The whole runs are compared. Record the same work with 20 or more steady steps on both sides, "
    "or name the steps with --step-regex."
)


@dataclass(frozen=True, slots=True)
class CompareHead:
    """The lines, the most important first."""

    change: str
    """`+19.9 % per step (3,317.4 → 3,977.7 µs, …)   base → target`."""
    verdict: str
    """Where it comes from, in a sentence."""
    reasons: tuple[str, ...]
    """The causes in order, then the conclusion's other sentences and the cautions."""


def compare_head(compared: Compared, base: str, target: str) -> CompareHead:
    """`compared` in the direction of the names."""
    names = f"{base} → {target}"
    comparison, conclusion = compared.comparison, compared.conclusion
    if comparison is None or conclusion is None:
        why = f"Not comparable per step: {compared.not_comparable}."
        return CompareHead(f"whole runs   {names}", why, (_REMEDY,))
    first, *others = conclusion.sentences
    causes = [
        f"{_WEIGHTS[int(finding.weight)]:2} {finding.sentence}" for finding in compared.findings
    ]
    cautions = [f"!  {caution}" for caution in compared.cautions]
    change = f"{_change(comparison.wall)}   {names}"
    operations, *better = [*cause_sentences(comparison, conclusion), "", ""][:2]
    reasons = (operations, *causes, *others, *better, *cautions)
    return CompareHead(change, first, tuple(filter(None, reasons)))


def _change(wall: Change) -> str:
    """`+19.9 % per step (3,317.4 → 3,977.7 µs, ±0.6 %)`."""
    percent = fmt.NA if wall.percent is None else f"{fmt.change_percent(wall.percent)} %"
    column = fmt.time_column(max(wall.baseline, wall.target))
    old, new = (
        f"{value / column.divisor:,.{min(1, column.decimals)}f}"
        for value in (wall.baseline, wall.target)
    )
    spread = ""
    if wall.noise is not None and wall.baseline:
        spread = f", chance ±{100 * wall.noise / wall.baseline:.1f} %"
    return f"{percent} per step ({old} → {new} {column.unit}{spread})"
