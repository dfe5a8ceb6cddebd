"""The options of `dctx record` that tell what to record: one of `live.options.Options` each, by its
name, but for those that are read as one."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

import click

from ..live.options import DEFAULT_SOURCES, SOURCES, Options
from ..native._core import Monitor

F = TypeVar("F", bound=Callable[..., Any])

_LIGHT: Final = ("op", "gpu")


class _Sources(click.ParamType[tuple[str, ...]]):
    name = "LIST"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return cast("tuple[str, ...]", value)
        parts = tuple(part.strip() for part in str(value).split(",") if part.strip())
        unknown = [part for part in parts if part not in SOURCES]
        if unknown or not parts:
            self.fail(f"a list of {', '.join(SOURCES)} is needed, not {value}", param, ctx)
        return parts


class _Counters(click.ParamType[tuple[str, ...]]):
    name = "perf:LIST"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return cast("tuple[str, ...]", value)
        head, _, names = str(value).partition(":")
        found = tuple(name.strip() for name in names.split(",") if name.strip())
        known = Monitor.known_counters()
        unknown = [name for name in found if name not in known]
        if head != "perf" or not found or len(found) > _MOST_COUNTERS or unknown:
            self.fail(
                f"perf: and up to {_MOST_COUNTERS} of {', '.join(known)} are needed, not {value}",
                param,
                ctx,
            )
        return found


_MOST_COUNTERS: Final = 4


class _Ranks(click.ParamType[tuple[int, ...]]):
    name = "LIST"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return cast("tuple[int, ...]", value)
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() for part in parts):
            self.fail(f"{value} is no list of ranks such as 0,3", param, ctx)
        return tuple(int(part) for part in parts)


class _Signal(click.ParamType[int]):
    name = "SIGNAL"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        text = str(value).upper().removeprefix("SIG")
        number = getattr(signal, f"SIG{text}", None)
        if text not in _TOGGLES or number is None:
            self.fail(f"{value} is none of {', '.join(_TOGGLES)}", param, ctx)
        return int(number)


_TOGGLES = ("USR1", "USR2", "HUP", "WINCH", "RTMIN", "RTMAX")
"""Signals that no part of a program needs for something else."""


class _Amount(click.FloatRange):
    """FloatRange lets nan pass, and infinity where an end is open."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


_MOST_SECONDS: Final = 1e9
"""As nanoseconds they fit into 64 bits."""
_SECONDS: Final = _Amount(min=0, max=_MOST_SECONDS)

_OPTIONS: Final = (
    click.option(
        "--sources",
        type=_Sources(),
        default=",".join(DEFAULT_SOURCES),
        show_default=True,
        help="What to capture: python frames, op(erators of torch), native frames, gpu work. "
        "Scopes always are.",
    ),
    click.option("--light", is_flag=True, help="Operators and GPU work without Python frames."),
    click.option("--full", is_flag=True, help="All sources."),
    click.option(
        "--gpu",
        type=click.Choice(["auto", "off", "require", "yield", "cupti", "rocprofiler"]),
        default="auto",
        show_default=True,
        help="GPU work: where there is a GPU, never, or the program does not start; yield leaves "
        "it to torch.profiler when the program starts that; rocprofiler is for AMD, untested.",
    ),
    click.option(
        "--graphs",
        type=click.Choice(["node", "launch"]),
        default="node",
        show_default=True,
        help="Work in CUDA graphs: each node at its capture, or one piece of work a replay.",
    ),
    click.option(
        "--pc",
        "samples",
        type=click.Choice(["off", "continuous", "serialized", "per-launch"]),
        default="off",
        show_default=True,
        help="Sample what the instructions of kernels wait for: of each kernel; of each launch, "
        "one kernel at a time; of one launch in ten.",
    ),
    click.option(
        "--pc-period",
        "sample_period",
        type=click.IntRange(5, 31),
        default=18,
        show_default=True,
        metavar="N",
        help="A sample every 2^N cycles.",
    ),
    click.option(
        "--shapes", is_flag=True, help="Also the shapes and types operators are called with."
    ),
    click.option("--memory", is_flag=True, help="Also what torch allocates in each context."),
    click.option(
        "--slow-ok",
        is_flag=True,
        help="Where this torch cannot be attached to, record its operators all the same, at "
        "several times their cost.",
    ),
    click.option(
        "--jax-steps",
        type=click.IntRange(min=0),
        default=5,
        show_default=True,
        metavar="K",
        help="Record the operations of K steps of a JAX program, 0 for none. dctx.step() ends "
        "steps; without it two seconds after compiling stand for them.",
    ),
    click.option(
        "--jax-route",
        type=click.Choice(["window", "kernels"]),
        default="window",
        show_default=True,
        help="Who records GPU work of JAX: XLA's profiler, for these steps, or dctx, all along, by "
        "the names of kernels.",
    ),
    click.option(
        "--native",
        type=click.Choice(["cached", "exact", "launch", "full"]),
        help="C and C++ frames: of each operator when its context is first met; of every one, "
        "which costs more; of GPU launches alone; every one, and Python's where they were called.",
    ),
    click.option(
        "--cpu",
        "counters",
        type=_Counters(),
        default=(),
        metavar="perf:LIST",
        help="Counters to read at the begin and end of scopes: perf:cycles,instructions,llc-misses "
        "and others that perf_event_open(2) has.",
    ),
    click.option(
        "--cpu-sample",
        "cpu_sample_hz",
        type=click.IntRange(min=0, max=1000),
        default=0,
        metavar="HZ",
        help="Look at each recorded thread HZ times a second of its CPU time: the context and the "
        "C or C++ function that runs.",
    ),
    click.option(
        "--snapshot",
        "snapshot_s",
        type=_Amount(min=0.01, max=_MOST_SECONDS),
        default=5.0,
        show_default=True,
        metavar="S",
        help="Seconds between snapshots: a killed process loses at most so much.",
    ),
    click.option("--fsync", is_flag=True, help="Also survive a crash of the machine."),
    click.option(
        "--delay", "delay_s", type=_SECONDS, default=0.0, metavar="S", help="Begin after S seconds."
    ),
    click.option(
        "--duration", "duration_s", type=_SECONDS, metavar="S", help="Record for S seconds."
    ),
    click.option(
        "--start-step",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Pass over N steps first. Optimizer.step and dctx.step() end steps.",
    ),
    click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Record N steps."),
    click.option(
        "--every", type=click.IntRange(min=1), default=1, metavar="N", help="Record one step in N."
    ),
    click.option(
        "--step-marker",
        default="",
        metavar="SCOPE",
        help="The scope that ends steps, in place of optimizers and dctx.step().",
    ),
    click.option(
        "--paused", is_flag=True, help="Record nothing before the signal, --control or resume()."
    ),
    click.option(
        "--toggle-signal",
        type=_Signal(),
        default=0,
        metavar="SIG",
        help="Turn recording on and off by this signal, as USR2.",
    ),
    click.option(
        "--control", is_flag=True, help="Listen for `dctx control`: start, stop, snapshot, status."
    ),
    click.option(
        "--max-nodes",
        type=click.IntRange(min=1),
        default=2_000_000,
        show_default=True,
        metavar="N",
        help="Contexts of a process; more are folded into [other].",
    ),
    click.option(
        "--max-mb",
        type=_Amount(min=0, min_open=True, max=1e6),
        default=256.0,
        show_default=True,
        metavar="MB",
        help="Memory for the contexts of a process; more are folded into [other].",
    ),
    click.option(
        "--children",
        type=click.Choice(["all", "fork", "none"]),
        default="all",
        show_default=True,
        help="Which child processes to record.",
    ),
    click.option("--ranks", type=_Ranks(), default=(), help="Record only these, as 0,3."),
    click.option("--quiet", is_flag=True, help="Print nothing."),
)


def record_options(function: F) -> F:
    """All of them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def asked_options(asked: Mapping[str, Any], **more: Any) -> Options:
    """What was asked for: of the options by their names, and `more` fields of Options."""
    fields = dict(asked)
    light, full, native = (fields.pop(name) for name in ("light", "full", "native"))
    if light and full:
        raise click.UsageError("--light and --full say the opposite of each other.")
    if light or full:
        fields["sources"] = _LIGHT if light else SOURCES
    if native:
        fields["native"] = native
        fields["sources"] = tuple(dict.fromkeys([*fields["sources"], "native"]))
    needed = {"op", "gpu"} <= set(fields["sources"]) and fields["gpu"] != "off"
    if fields["jax_route"] == "kernels" and not needed:
        raise click.UsageError("--jax-route kernels needs the sources op and gpu, not --gpu off.")
    return Options(**fields, **more)
