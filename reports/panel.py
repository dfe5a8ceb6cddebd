"""Titled tables of lines, each with the place it leads to, and the figures in them."""

from __future__ import annotations

from dataclasses import dataclass

from . import format as fmt
from .verdict_card import Lead

LISTED = 15
"""Lines of a table; the rest is summed up."""


@dataclass(frozen=True, slots=True)
class PanelLine:
    """One line, and where it leads."""

    label: str
    figures: str
    lead: Lead | None = None
    names: tuple[str, ...] = ()
    """A context of the first of these names that there is one of is where it leads."""
    dim: bool = False
    share: float | None = None
    """Drawn as a bar in front of the label."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled table; `heading` names the figures."""

    id: str
    title: str
    heading: str
    lines: tuple[PanelLine, ...]


def node_lead(node: int) -> Lead:
    return Lead("paths", node if node >= 0 else None)


def unknown_line(text: str) -> PanelLine:
    return PanelLine(text, "", dim=True)


def time_cell(ns: float | None) -> str:
    return f"{fmt.duration(ns):>9}"


def us_cell(ns: float) -> str:
    return fmt.number(ns / 1000)


def share_cell(ns: int, total: int) -> str:
    return f"{fmt.share(ns / total if total else None):>8}"
