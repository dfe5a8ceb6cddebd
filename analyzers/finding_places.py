"""Where the evidence of findings lies in the tree of call paths, so that a view can jump there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..native import name_key
from ..queries.paths import heaviest_nodes
from .findings import Evidence, Finding, Side

if TYPE_CHECKING:
    from ..queries.trace import Trace


def placed(trace: Trace, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, their named rows of evidence with the heaviest context of that name. Rows that
    have a place, or are of another trace, stay as they are. Reads summary tables."""
    names = {key for f in findings for e in f.evidence if (key := _wanted(e)) is not None}
    nodes = heaviest_nodes(trace, names)
    return [
        replace(
            finding,
            evidence=tuple(
                replace(row, node=nodes[key])
                if (key := _wanted(row)) is not None and key in nodes
                else row
                for row in finding.evidence
            ),
        )
        for finding in findings
    ]


def _wanted(row: Evidence) -> str | None:
    if row.name is None or (row.node is not None and row.node >= 0) or row.side is not Side.ONLY:
        return None
    return name_key(row.name)
