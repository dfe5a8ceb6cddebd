"""A program that trains a model with and without recording by turns, in one process, and prints one
line of JSON: what each mode costs a step."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any, Final

from .models import NAMES
from .train import profiled, stepper, waiter

MODES: Final[dict[str, dict[str, str]]] = {
    "dctx": {},
    "dctx, kernels alone": {"sources": "op,gpu"},
    "dctx +native cached": {"native": "cached"},
    "dctx +native launch": {"native": "launch"},
}
"""Arguments of dctx.record beside the file."""
PROFILERS: Final = ("plain", "with_stack")
"""After the rounds: torch's profiler keeps CUPTI for itself once it has run."""
_WARM: Final = 5


class Blocks:
    """Blocks of training steps of one model."""

    def __init__(self, model: str, device: str, steps: int, *, small: bool) -> None:
        self._step, self._wait = stepper(model, device, small=small), waiter(device)
        self._steps = steps
        self.run(_WARM)

    def run(self, steps: int = 0) -> float:
        """ns of the median step."""
        took: list[int] = []
        for _ in range(steps or self._steps):
            begin = time.perf_counter_ns()
            self._step()
            self._wait()
            took.append(time.perf_counter_ns() - begin)
        return float(median(took))

    def inside(self, around: AbstractContextManager[Any]) -> float:
        """The same, within `around`; to enter and to leave it is not in the time."""
        with around:
            self.run(1)
            return self.run()


def measured(blocks: Blocks, folder: Path, rounds: int, end: float) -> dict[str, Any]:
    """Ratios of each mode to the bases around its round; not more than `rounds`, and no further
    one begins after `end`, a time of time.monotonic()."""
    record: Any = importlib.import_module("dctx").record
    first = blocks.run()  # before anything was attached
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    bases, events = [first], 0
    for number in range(rounds):
        if number and time.monotonic() > end:
            break
        found: dict[str, float] = {}
        before = blocks.run()
        for mode, options in MODES.items():
            recording = record(folder / f"{mode.replace(' ', '-')}.dctxrec", **options)
            found[mode] = blocks.inside(recording)
            if not events:
                events = sum(n.count for tree in recording.tree() for n in tree.root.walk())
        after = blocks.run()
        bases += [before, after]
        for mode, ns in found.items():
            ratios[mode].append(2 * ns / (before + after))
    return {
        "base_ns": median(bases),
        "base_unattached_ns": first,
        "events": events,
        "modes": {
            mode: {"ratio": median(values), "least": min(values), "rounds": len(values)}
            for mode, values in ratios.items()
        },
    }


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=NAMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    blocks = Blocks(given.model, given.device, given.steps, small=given.small)
    found = measured(blocks, given.folder, given.rounds, time.monotonic() + given.seconds)
    for which in PROFILERS:
        before = blocks.run()
        ns = blocks.inside(profiled(which, given.device))
        ratio = 2 * ns / (before + blocks.run())
        found["modes"][f"torch.profiler {which}"] = {"ratio": ratio, "least": ratio, "rounds": 1}
    per_step = found["events"] / (given.steps + 1)
    for mode in MODES:
        added = (found["modes"][mode]["ratio"] - 1) * found["base_ns"]
        found["modes"][mode]["ns_per_event"] = added / per_step if per_step else None
    print(json.dumps(found))


if __name__ == "__main__":
    main()
