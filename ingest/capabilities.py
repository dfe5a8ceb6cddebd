"""What a trace can show, and why it lacks the rest: written by the readers, shown to the user."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

PREFIX: Final = "capability."
"""Of the facts in the store: `capability.<name>` = why it is lacking, empty when it is there."""


class Capability(StrEnum):
    """Something that views need and that a recording may lack, in order of importance."""

    GPU_WORK = "gpu_work"
    LAUNCHES = "launches"
    CPU_OPERATORS = "cpu_operators"
    PYTHON_FRAMES = "python_frames"
    MODULES = "modules"
    ANNOTATIONS = "annotations"
    STEPS = "steps"
    SHAPES = "shapes"
    MEMORY = "memory"
    COLLECTIVES = "collectives"
    EVENTS = "events"


LABELS: Final[Mapping[Capability, str]] = {
    Capability.GPU_WORK: "GPU work",
    Capability.LAUNCHES: "launches",
    Capability.CPU_OPERATORS: "CPU operators",
    Capability.PYTHON_FRAMES: "Python frames",
    Capability.MODULES: "modules",
    Capability.ANNOTATIONS: "annotations",
    Capability.STEPS: "steps",
    Capability.SHAPES: "operator shapes",
    Capability.MEMORY: "memory events",
    Capability.COLLECTIVES: "collectives",
    Capability.EVENTS: "single events",
}
"""For people: "No {label}: {reason}"."""


def capability_facts(reasons: Mapping[Capability, str]) -> dict[str, str]:
    """Facts for the store. A reason is the rest of the sentence "No Python frames: …" and ends
    with a full stop; empty when the trace has it. What makes no sense for a format is left out."""
    return {PREFIX + capability.value: reason for capability, reason in reasons.items()}


def lacking(facts: Mapping[str, str]) -> list[tuple[Capability, str]]:
    """What a store says is lacking and why, most important first."""
    return [
        (capability, reason)
        for capability in Capability
        if (reason := facts.get(PREFIX + capability.value))
    ]
