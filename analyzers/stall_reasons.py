"""What warps wait for: the reasons that samples name, what each means and what usually helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..ingest.stall_names import SELECTED


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence each."""

    means: str
    helps: str


REASONS: Final = {
    "long_scoreboard": Reason(
        "waits for data from global or local memory, or a texture",
        "load earlier (more stages, prefetch), load wider and in order, keep reused data close",
    ),
    "short_scoreboard": Reason(
        "waits for shared memory or a special function",
        "avoid bank conflicts, use wider accesses, fewer special functions",
    ),
    "barrier": Reason(
        "waits for other warps of its block at a barrier",
        "fewer barriers, even work among the warps, smaller blocks",
    ),
    "membar": Reason(
        "waits for a memory fence", "fewer or narrower fences, fewer stores right before one"
    ),
    "lg_throttle": Reason(
        "the queue of global and local memory accesses is full",
        "fewer and wider accesses; look for registers spilled to local memory",
    ),
    "mio_throttle": Reason(
        "the queue of shared memory and special functions is full",
        "fewer and wider shared memory accesses, spread special functions",
    ),
    "tex_throttle": Reason("the queue of the texture unit is full", "fewer texture accesses"),
    "math_pipe_throttle": Reason(
        "the unit that computes this instruction is busy",
        "good if it is the tensor cores; else mix other instructions or smaller types",
    ),
    "wait": Reason(
        "a fixed pause between dependent instructions",
        "more independent work in each thread (unrolling), more warps",
    ),
    "not_selected": Reason(
        "ready, but another warp went first", "nothing: there are warps enough, fewer would do"
    ),
    "no_instruction": Reason(
        "the next instruction is not fetched yet", "shorter code: less unrolling, fewer branches"
    ),
    "branch_resolving": Reason("waits for the target of a branch", "fewer branches in the loop"),
    "imc_miss": Reason(
        "a constant is not in its cache", "keep constants in registers, read them uniformly"
    ),
    "dispatch_stall": Reason("the dispatcher holds back", "seldom the cause: look at the others"),
    "drain": Reason("ends, but stores are still on their way", "store wider and in order"),
    "sleeping": Reason("sleeps or yields as told", "shorter sleeps, fewer polls"),
    "misc": Reason("another reason of the hardware", "look at the others first"),
    "waitcnt": Reason("waits for memory (s_waitcnt)", "load earlier, wider and in order"),
    "alu_dependency": Reason(
        "waits for the result of an instruction", "more independent work in each thread"
    ),
    "arbiter_win_ex_stall": Reason("chosen, but the unit was busy", "mix other instructions"),
    "other_wait": Reason("another wait", "look at the others first"),
    "internal_instruction": Reason("an internal instruction", "nothing"),
}


@dataclass(frozen=True, slots=True)
class Stall:
    """One reason in the samples of a kernel."""

    reason: str
    samples: int
    share: float
    """Of the stalled samples: all but the selected."""


def stalls_of(samples: Mapping[str, int]) -> tuple[int, tuple[Stall, ...]]:
    """All samples, and the reasons of the stalled ones, most first: their shares sum to 1."""
    stalled = sum(n for reason, n in samples.items() if reason != SELECTED)
    found = [
        Stall(reason, n, n / stalled) for reason, n in samples.items() if n and reason != SELECTED
    ]
    return sum(samples.values()), tuple(sorted(found, key=lambda one: (-one.samples, one.reason)))


def words(reason: str) -> str:
    """`long scoreboard`."""
    return reason.replace("_", " ")
