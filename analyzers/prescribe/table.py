"""All analyzers of findings, in one table, and the list of what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ..findings import Finding, ordered
from ..user_analyzer import UserAnalyzer
from . import (
    backward,
    compiled,
    cpu_latency,
    data_loader,
    duplicates,
    elementwise,
    exposed_comm,
    fp32_matmul,
    fusion,
    hotspot,
    launch_bound,
    matrix_shapes,
    memory_churn,
    moves,
    rank_imbalance,
    stall,
    sync,
    warm_up,
)
from .superseding import superseded

if TYPE_CHECKING:
    from .facts import Facts

L = TypeVar("L")
R = TypeVar("R")

FindingLimits = Mapping[str, Mapping[str, float]]
"""By analyzer and name, as in `default.toml`."""


@dataclass(frozen=True, slots=True)
class Analyzer(Generic[L, R]):
    """One row of the table."""

    id: str
    """Also of its findings, and of its table of limits."""
    limits: type[L]
    analyze: Callable[[Facts, L], R]
    findings: Callable[[R, Facts], list[Finding]]

    def run(self, facts: Facts, limits: Mapping[str, float]) -> list[Finding]:
        """What it finds under these limits, which must be complete."""
        names = {field.name for field in fields(self.limits)}  # type: ignore[arg-type]
        given = self.limits(**{name: limits[name] for name in names})
        return self.findings(self.analyze(facts, given), facts)


ANALYZERS: Final[tuple[Analyzer[Any, Any], ...]] = (
    Analyzer("hotspot", hotspot.Limits, hotspot.analyze, hotspot.findings),
    Analyzer("kernel-fusion", fusion.Limits, fusion.analyze, fusion.findings),
    Analyzer("elementwise-chain", elementwise.Limits, elementwise.analyze, elementwise.findings),
    Analyzer("cpu-latency", cpu_latency.Limits, cpu_latency.analyze, cpu_latency.findings),
    Analyzer("launch-bound", launch_bound.Limits, launch_bound.analyze, launch_bound.findings),
    Analyzer("backward-imbalance", backward.Limits, backward.analyze, backward.findings),
    Analyzer("layout-conversion", moves.Limits, moves.analyze_layout, moves.layout_findings),
    Analyzer("type-casts", moves.Limits, moves.analyze_casts, moves.cast_findings),
    Analyzer("sync", sync.Limits, sync.analyze, sync.findings),
    Analyzer("torch-compile", compiled.Limits, compiled.analyze, compiled.findings),
    Analyzer("data-loader", data_loader.Limits, data_loader.analyze, data_loader.findings),
    Analyzer("matrix-shapes", matrix_shapes.Limits, matrix_shapes.analyze, matrix_shapes.findings),
    Analyzer("fp32-matmul", fp32_matmul.Limits, fp32_matmul.analyze, fp32_matmul.findings),
    Analyzer(
        "exposed-communication", exposed_comm.Limits, exposed_comm.analyze, exposed_comm.findings
    ),
    Analyzer("memory-churn", memory_churn.Limits, memory_churn.analyze, memory_churn.findings),
    Analyzer("duplicated-work", duplicates.Limits, duplicates.analyze, duplicates.findings),
    Analyzer("warm-up", warm_up.Limits, warm_up.analyze, warm_up.findings),
    Analyzer(
        "rank-imbalance", rank_imbalance.Limits, rank_imbalance.analyze, rank_imbalance.findings
    ),
    Analyzer("stall", stall.Limits, stall.analyze, stall.findings),
)


def prescriptions(
    facts: Facts, limits: FindingLimits, own: Sequence[UserAnalyzer] = ()
) -> tuple[Finding, ...]:
    """What all analyzers find, most to gain first. An analyzer of the user's that fails says so.
    Reads events."""
    found = [f for one in ANALYZERS for f in one.run(facts, limits[one.id])]
    for analyzer in own:
        found += analyzer(facts)
    return ordered(found)


def one_list(verdict: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of the verdict and of the analyzers as one list, each cause once."""
    gone = superseded([finding.id for finding in found])
    return ordered([*(f for f in verdict if f.id not in gone), *found])
