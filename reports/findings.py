"""Findings as text, Markdown and JSON: the one way that every analysis shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analyzers.findings import Evidence, Finding, Side, Weight
from . import format as fmt
from .markdown import cell, plain
from .text_table import paragraph, table

_SIGNS = {Weight.HINT: "i", Weight.WARNING: "!", Weight.SEVERE: "!!"}


def findings_text(findings: Sequence[Finding], width: int) -> Iterator[str]:
    """Each with its evidence and what to try; nothing where there is none."""
    if not findings:
        return
    yield "Findings"
    for finding in findings:
        yield from _indented(f"{_SIGNS[finding.weight]:<2} {finding.id}: {finding.sentence}", width)
        if finding.evidence:
            compared = any(e.baseline is not None for e in finding.evidence)
            rows = [_row(evidence, compared=compared) for evidence in finding.evidence]
            headings = ("", "base", "target", "") if compared else ("", "", "")
            lines = list(table(headings, rows, width, indent="       ", left=(len(headings) - 1,)))
            yield from lines if compared else lines[1:]
        yield from _indented(f"   Try: {finding.remedy}", width)
        for title, text in (("Gain", gain_text(finding)), ("Check", finding.verify)):
            if text:
                yield from _indented(f"   {title}: {text}", width)


def findings_markdown(findings: Sequence[Finding]) -> Iterator[str]:
    """A list for a comment on a pull request."""
    if not findings:
        return
    yield "**Findings**"
    yield ""
    for finding in findings:
        gain = gain_text(finding)
        yield f"- **{finding.id}**: {plain(finding.sentence)} _{plain(finding.remedy)}_"
        if gain:
            yield f"  - Gain: {plain(gain)}"
        for evidence in finding.evidence:
            figures = [_figure(evidence.value, evidence.unit), evidence.unit]
            if evidence.baseline is not None:
                figures = [_figure(evidence.baseline, evidence.unit), "→", *figures]
            yield f"  - {cell(evidence.what)}: {' '.join(figures)}"


def findings_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """As described in `docs/host.schema.json`."""
    return [
        {
            "id": finding.id,
            "severity": finding.weight.name.lower(),
            "sentence": finding.sentence,
            "remedy": finding.remedy,
            "evidence": [
                {
                    "what": e.what,
                    "unit": e.unit,
                    "value": rounded(e.value),
                    "baseline": rounded(e.baseline),
                    "name": e.name,
                    "node": e.node,
                    "trace": None if e.side is Side.ONLY else e.side.name.lower(),
                }
                for e in finding.evidence
            ],
        }
        for finding in findings
    ]


def gain_text(finding: Finding) -> str:
    """`at most 12.3 % of the time (34.5 ms): how it is derived`; why there is none; or nothing."""
    gain = finding.gain
    if gain is None:
        return f"n/a: {finding.no_gain}." if finding.no_gain else ""
    return f"at most {fmt.share(gain.share)} of the time ({fmt.duration(gain.ns)}): {gain.basis}."


def _indented(text: str, width: int) -> list[str]:
    return [f"  {line}" for line in paragraph(text, width - 2, indent="   ")]


def _row(evidence: Evidence, *, compared: bool) -> tuple[str, ...]:
    value = _figure(evidence.value, evidence.unit)
    if not compared:
        return (evidence.what, value, evidence.unit)
    before = "-" if evidence.baseline is None else _figure(evidence.baseline, evidence.unit)
    return (evidence.what, before, value, evidence.unit)


def _figure(value: float | None, unit: str) -> str:
    """Calls are counted, all else is measured."""
    counted = unit == "calls" and value is not None and float(value).is_integer()
    return fmt.number(value, 0) if counted else fmt.evidence_number(value)


def rounded(value: float | None) -> float | None:
    """Four decimals, as in all documents."""
    return None if value is None else round(value, 4)
