"""Compiled operations (HLO of XLA): what one is, and what it was fused from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .trace import Trace


@dataclass(frozen=True, slots=True)
class FusedPart:
    """An instruction that became part of a fusion. Texts are empty where not recorded."""

    name: str
    opcode: str
    op_name: str
    """As the framework names it: scopes and transformations down to the primitive."""
    source: str
    """`train.py:12 loss_fn`."""


@dataclass(frozen=True, slots=True)
class CompiledOperation:
    """An HLO instruction that ran. Texts are empty where not recorded."""

    name: str
    opcode: str
    module: str
    op_name: str
    source: str
    parts: tuple[FusedPart, ...]
    """What it was fused from, in the compiler's order; empty when it is no fusion."""
    more_parts: int
    """Parts that are not listed."""


def compiled_operations(trace: Trace, node: int, limit: int = 100) -> list[CompiledOperation]:
    """The operations that ran at and below a context of the tree, by name.

    Reads events: NotReadyError while they are being loaded."""
    rows = trace.event_rows("operations.below", {"node": node, "limit": limit})
    return [_operation(json.loads(text)) for (text,) in rows]


def _operation(facts: dict[str, Any]) -> CompiledOperation:
    listed: list[dict[str, Any]] = facts.get("fused_from", [])
    return CompiledOperation(
        name=facts["hlo"],
        opcode=facts.get("opcode", ""),
        module=facts.get("module", ""),
        op_name=facts.get("op_name", ""),
        source=facts.get("source", ""),
        parts=tuple(
            FusedPart(
                name=part["hlo"],
                opcode=part.get("opcode", ""),
                op_name=part.get("op_name", ""),
                source=part.get("source", ""),
            )
            for part in listed
            if "hlo" in part
        ),
        more_parts=sum(part.get("more", 0) for part in listed),
    )
