"""What a recording says of the JAX program that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from .content import Recording

_STAGES: Final = {"trace": "tracing", "lower": "lowering", "xla": "compiling"}


@dataclass(frozen=True, slots=True)
class JaxWindow:
    """The part of the run whose operations were recorded."""

    ns: int
    steps: int | None
    """None: nothing told of steps."""


def jax_window(recording: Recording) -> JaxWindow | None:
    """None without one."""
    facts = _mapping(recording.meta.get("jax"))
    ns, steps = facts.get("window_ns"), facts.get("window_steps")
    if not recording.window or not isinstance(ns, int):
        return None
    return JaxWindow(ns, steps if isinstance(steps, int) else None)


def compilations(recording: Recording) -> list[tuple[str, int, int]]:
    """What was done, how many times, ns in all: the stages of compiling, in their order."""
    told = _mapping(_mapping(recording.meta.get("jax")).get("compile"))
    found: list[tuple[str, int, int]] = []
    for stage, verb in _STAGES.items():
        match told.get(stage):
            case [int(count), int(ns)]:
                found.append((verb, count, ns))
            case _:
                pass
    return found


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
