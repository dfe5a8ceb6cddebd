"""A program that trains a model and prints one line of JSON about it: what the checks record."""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from .models import NAMES, built

torch: Any = importlib.import_module("torch")


def main() -> None:
    """Times of steps in ns, and what torch's profiler found where it was asked to look."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=NAMES)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--profiler", choices=["off", "plain", "with_stack"], default="off")
    parser.add_argument("--compiled", action="store_true")
    given = parser.parse_args()
    step = stepper(given.model, given.device, small=given.small, compiled=given.compiled)
    wait = waiter(given.device)
    for _ in range(given.warm):
        step()
    wait()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    profiler = profiled(given.profiler, given.device)
    took: list[int] = []
    with profiler:
        for _ in range(given.steps):
            begin = time.perf_counter_ns()
            step()
            wait()
            took.append(time.perf_counter_ns() - begin)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "step_ns": took,
                "rss_growth_kib": after - before,
                "kernels": kernels_of(profiler) if given.profiler != "off" else {},
            }
        )
    )


def stepper(
    name: str, device: str, *, small: bool = False, compiled: bool = False
) -> Callable[[], None]:
    """What does one training step."""
    model, loss = built(name, device, small=small)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    mixed: Callable[[], Any] = nullcontext
    if name in ("resnet50", "gpt", "unet") and device == "cuda":

        def mixed() -> Any:
            return torch.autocast("cuda", torch.bfloat16)

    if compiled:
        model.compile()

    def step() -> None:
        optimizer.zero_grad()
        with mixed():
            value = loss()
        value.backward()
        optimizer.step()

    return step


def profiled(which: str, device: str) -> Any:
    """torch's profiler, or nothing."""
    if which == "off":
        return nullcontext()
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities, with_stack=which == "with_stack")


def kernels_of(profiler: Any) -> dict[str, tuple[int, int]]:
    """Count and ns of each kernel that the profiler saw."""
    found: dict[str, tuple[int, int]] = {}
    for event in profiler.events():
        if str(event.device_type).endswith("CUDA") and not event.name.startswith(("Mem", "mem")):
            count, ns = found.get(event.name, (0, 0))
            took = int(1000 * (event.time_range.end - event.time_range.start))
            found[event.name] = (count + 1, ns + took)
    return found


def waiter(device: str) -> Callable[[], None]:
    """What waits until the device has done its work."""
    return torch.cuda.synchronize if device == "cuda" else _nothing


def _nothing() -> None:
    """Nothing to wait for."""


if __name__ == "__main__":
    main()
