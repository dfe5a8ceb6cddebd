"""Conditions of the analyzers of findings: the defaults, and what a file of the user's changes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

from .errors import RequestError

Limits = dict[str, dict[str, float]]
"""By analyzer and name."""


@cache
def _defaults() -> Limits:
    text = (files("dctx.analyzers") / "default.toml").read_text(encoding="utf-8")
    table: dict[str, dict[str, float]] = tomllib.loads(text)["findings"]
    return {key: {k: float(v) for k, v in of.items()} for key, of in table.items()}


def default_finding_limits() -> Limits:
    """The documented defaults."""
    return {key: dict(of) for key, of in _defaults().items()}


def finding_limits(table: object, source: str) -> Limits:
    """The table `findings` of a file named `source`, on top of the defaults. RequestError for what
    is no limit."""
    limits = default_finding_limits()
    for key, of in _table(table, "findings", source).items():
        if key not in limits:
            raise RequestError(
                f"{source}: no analyzer is called {key!r}. There are: {', '.join(limits)}."
            )
        for name, value in _table(of, f"findings.{key}", source).items():
            limits[key] = {**limits[key], name: _limit(limits, key, name, value, source)}
    return limits


def override(limits: Limits, name: str, text: str) -> Limits:
    """With `analyzer.limit` changed to the number in `text`. RequestError."""
    key, _, limit = name.partition(".")
    try:
        value: object = float(text)
    except ValueError:
        value = text
    return finding_limits({**limits, key: {**limits.get(key, {}), limit: value}}, "--threshold")


def _table(content: object, name: str, source: str) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise RequestError(f"{source}: {name} is no table.")
    return cast("dict[str, Any]", content)


def _limit(limits: Limits, key: str, name: str, value: object, source: str) -> float:
    if name not in limits[key]:
        known = ", ".join(limits[key])
        raise RequestError(f"{source}: {key} has no limit {name!r}. It has: {known}.")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= float(cast("float", value)) < float("inf"):
        raise RequestError(f"{source}: {key}.{name} is a number from 0 on, not {value!r}.")
    return float(cast("float", value))
