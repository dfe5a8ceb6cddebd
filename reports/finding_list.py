"""All findings about a trace, ranked, as text, Markdown and JSON: `dctx report --findings`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analyzers.verdict import Answer
from . import format as fmt
from .findings import findings_json, findings_markdown, findings_text, rounded
from .headline import headline
from .json_text import json_text
from .text_table import paragraph

if TYPE_CHECKING:
    from ..analyzers.findings import Finding
    from ..analyzers.host_overhead import HostOverhead
    from ..queries.paths import CallTree

SCHEMA = "findings/1"
NONE = "No findings: no analyzer's condition is met."
HEALTHY = "That is the normal result of a healthy trace."


@dataclass(frozen=True, slots=True)
class FindingList:
    """What is told."""

    inputs: tuple[str, ...]
    findings: Sequence[Finding]
    tree: CallTree
    """Of the whole trace: tells the call paths of evidence."""
    verdict: HostOverhead
    """Says whether a trace without findings is a healthy one."""


def findings_list_text(found: FindingList, *, width: int = 80) -> str:
    """Lines of at most `width` characters, with the call path of each first place."""
    if not found.findings:
        return "\n".join(paragraph(_none(found), width)) + "\n"
    lines: list[str] = []
    for finding in found.findings:
        one = list(findings_text([finding], width))[1:]
        names = _path(found, finding)
        if names:
            shown = [fmt.clean(name) or "(no name)" for name in names]
            one.append(f"     Path: {fmt.path(shown, width - 11)}")
        lines += [*one, ""]
    lines += paragraph(
        "Gains are upper bounds, and those of several findings overlap: do not add them up. "
        "docs/findings.md tells each condition and derivation.",
        width,
    )
    return "\n".join(["Findings, most to gain first", "", *lines]) + "\n"


def findings_list_markdown(found: FindingList) -> str:
    """A list for a comment on a pull request."""
    if not found.findings:
        return f"{_none(found)}\n"
    return "\n".join(findings_markdown(found.findings)) + "\n"


def findings_list_json(found: FindingList) -> str:
    """`{"schema", "inputs", "findings"}`: findings as in `docs/host.schema.json`; besides `gain`
    (null: not estimated), `no_gain` (why not) and `verify`, and in each row of evidence `kind` (of
    the GPU work that `name` names) and `path` (names of the contexts, from the outermost)."""
    rows: list[dict[str, Any]] = findings_json(found.findings)
    for row, finding in zip(rows, found.findings, strict=True):
        gain = finding.gain
        row["gain"] = None if gain is None else {
            "at_most_ns": gain.ns, "share": rounded(gain.share), "basis": gain.basis
        }  # fmt: skip
        row["no_gain"] = finding.no_gain or None
        row["verify"] = finding.verify or None
        for evidence, of in zip(row["evidence"], finding.evidence, strict=True):
            evidence["kind"] = None if of.kind is None else of.kind.name.lower()
            node: int | None = evidence["node"]
            known = node is not None and 0 <= node < found.tree.size
            evidence["path"] = list(found.tree.names(node)) if node is not None and known else None
    document = {"schema": SCHEMA, "inputs": list(found.inputs), "findings": rows}
    return json_text(document, indent=2) + "\n"


def _none(found: FindingList) -> str:
    if found.verdict.answer is Answer.NO:
        return f"{NONE} {HEALTHY}"
    says = headline(found.verdict)
    return f"{NONE} That does not make the trace a healthy one: {says} (dctx verdict tells more)."


def _path(found: FindingList, finding: Finding) -> tuple[str, ...]:
    for evidence in finding.evidence:
        if evidence.node is not None and 0 < evidence.node < found.tree.size:
            return found.tree.names(evidence.node)
    return ()
