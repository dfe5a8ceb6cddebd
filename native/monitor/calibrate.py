"""Where torch keeps three private fields of an event: its kind, sequence number, forward thread.

A small program with known answers runs on threads of its own while a probe copies the events; the
offset of a field is the one place that holds the right value in every event. A second program with
other values must then agree before anything is believed.
"""

import importlib
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._core import TorchIdle, TorchProbe

FUNCTION, BACKWARD, USER_SCOPE = 0, 1, 7
_ALL = 1 << FUNCTION | 1 << BACKWARD | 1 << USER_SCOPE
_SCOPE_NAME = "dctx::calib"
_ROUNDS, _MORE_ROUNDS = 3, 10
_FLOOR_ROUNDS, _FLOOR_CALLS = 12, 100
USUAL = (96, 200, 304)
"""Offsets seen with every torch tried so far; others are reported."""


@dataclass(frozen=True)
class Calibration:
    scope: int = -1
    sequence: int = -1
    forward_thread: int = -1
    reason: str = ""
    """Why an offset is not known; empty when all are."""
    seconds: float = 0.0
    floor_ns: float | None = None
    """What torch itself spends on telling of one event; None when it was not measured."""

    @property
    def level(self) -> str:
        """L0: everything; L1: operators without their backward counterparts."""
        known = min(self.scope, self.sequence, self.forward_thread) >= 0
        return "L0" if known else "L1"


@dataclass(frozen=True)
class _Expected:
    memory: bytes
    scope: int
    sequence: int | None = None
    forward_thread: int | None = None


class _RefusedError(Exception):
    """A prediction that did not hold; the text says which."""


Sample = tuple[str, int, bytes]


def on_fresh_thread(work: Callable[[], Any]) -> Any:
    """Result of `work` on a thread that inherits no mode of torch from the program's threads."""
    result: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="dctx-calibrate", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def _named(samples: Iterable[Sample], name: str) -> Sample:
    for sample in samples:
        if sample[0] == name:
            return sample
    raise _RefusedError(f"torch told no event {name}")


def _program(torch: Any, number: int, scopes: int = _ALL) -> tuple[list[Sample], int]:
    """Events of one round, and the sequence number that autograd gave to the product."""
    x = torch.ones(3, device="cpu", requires_grad=True)
    for _ in range(3 + 4 * number):  # so that the number is not that of another round
        x.mul(1.0)
    probe = TorchProbe(scopes)
    with torch.autograd.profiler.record_function(_SCOPE_NAME):
        y = x * 2.0
    sequence: int = y.grad_fn._sequence_nr()
    y.sum().backward()
    return probe.samples(), sequence


def _expected(samples: list[Sample], sequence: int) -> list[_Expected]:
    forward = _named(samples, "aten::mul")
    backward = _named(samples, "MulBackward0")
    scope = _named(samples, _SCOPE_NAME)
    return [
        _Expected(forward[2], FUNCTION, sequence, 0),
        _Expected(backward[2], BACKWARD, sequence, backward[1]),
        _Expected(scope[2], USER_SCOPE),
    ]


def _across(torch: Any, number: int) -> list[_Expected]:
    """A round whose backward pass runs on another thread, whose own number may lie near, too."""

    def forward() -> tuple[list[Sample], int, Any]:
        x = torch.ones(3, device="cpu", requires_grad=True)
        for _ in range(3 + 4 * number):
            x.mul(1.0)
        probe = TorchProbe(_ALL)
        y = x * 2.0
        return probe.samples(), y.grad_fn._sequence_nr(), y.sum()

    def backward(loss: Any) -> list[Sample]:
        probe = TorchProbe(_ALL)
        loss.backward()
        return probe.samples()

    samples, sequence, loss = on_fresh_thread(forward)
    made = _named(samples, "aten::mul")
    back = _named(on_fresh_thread(partial(backward, loss)), "MulBackward0")
    return [
        _Expected(made[2], FUNCTION, sequence, 0),
        _Expected(back[2], BACKWARD, sequence, made[1]),
    ]


def _places(format_: str, step: int, wanted: list[tuple[bytes, int]]) -> list[int]:
    size = struct.calcsize(format_)
    end = min(len(memory) for memory, _ in wanted) - size
    return [
        offset
        for offset in range(0, end + 1, step)
        if all(struct.unpack_from(format_, memory, offset)[0] == v for memory, v in wanted)
    ]


def _candidates(events: list[_Expected]) -> tuple[list[int], list[int], list[int]]:
    return (
        _places("<B", 1, [(e.memory, e.scope) for e in events]),
        _places("<q", 8, [(e.memory, e.sequence) for e in events if e.sequence is not None]),
        _places(
            "<Q",
            8,
            [(e.memory, e.forward_thread) for e in events if e.forward_thread is not None],
        ),
    )


def _check_masks(torch: Any) -> None:
    """A callback registered for one kind of event must see that kind alone: its layout is right."""
    scopes, _ = on_fresh_thread(lambda: _program(torch, 0, 1 << USER_SCOPE))
    if {name for name, _, _ in scopes} != {_SCOPE_NAME}:
        raise _RefusedError("a callback for user scopes alone was told other events")
    names = {name for name, _, _ in on_fresh_thread(lambda: _program(torch, 0, 1 << FUNCTION))[0]}
    if "aten::mul" not in names or _SCOPE_NAME in names or "MulBackward0" in names:
        raise _RefusedError("a callback for operators alone was told other events")


def _validate(torch: Any, found: Calibration) -> None:
    """Predicts another program: nested operators, one without gradient, backward elsewhere."""

    def forward() -> tuple[list[Sample], int, Any]:
        weight = torch.ones(4, 3, device="cpu", requires_grad=True)
        bias = torch.ones(4, device="cpu", requires_grad=True)
        for _ in range(41):
            weight.mul(1.0)
        probe = TorchProbe(_ALL)
        out = torch.nn.functional.linear(torch.ones(2, 3, device="cpu"), weight, bias)
        with torch.no_grad():
            weight.neg()
        return probe.samples(), out.grad_fn._sequence_nr(), out.sum()

    def backward(loss: Any) -> list[Sample]:
        probe = TorchProbe(_ALL)
        loss.backward()
        return probe.samples()

    samples, sequence, loss = on_fresh_thread(forward)
    inner = _named(samples, "aten::addmm")
    outer = _named(samples, "aten::linear")
    silent = _named(samples, "aten::neg")
    back = _named(on_fresh_thread(lambda: backward(loss)), "AddmmBackward0")
    if inner[1] == back[1]:
        raise _RefusedError("two threads have one number")
    for sample, scope in ((inner, 0), (outer, 0), (silent, 0), (back, 1)):
        if sample[2][found.scope] != scope:
            raise _RefusedError(f"the kind of {sample[0]} was not as predicted")
    if found.sequence >= 0:
        for sample, number in ((inner, sequence), (silent, -1), (back, sequence)):
            if struct.unpack_from("<q", sample[2], found.sequence)[0] != number:
                raise _RefusedError(f"the sequence number of {sample[0]} was not as predicted")
    if found.forward_thread >= 0:
        for sample, thread in ((inner, 0), (back, inner[1])):
            if struct.unpack_from("<Q", sample[2], found.forward_thread)[0] != thread:
                raise _RefusedError(f"the forward thread of {sample[0]} was not as predicted")


def refused_arguments() -> str:
    """Why what operators are called with cannot be noted; empty when a program with known
    arguments was read as it is. RuntimeError when torch is not loaded."""
    torch = importlib.import_module("torch")

    def program() -> list[tuple[str, str]]:
        left, right = torch.ones(2, 3, device="cpu"), torch.ones(3, device="cpu")
        probe = TorchProbe(1 << FUNCTION, arguments=True)
        torch.mul(left, right)
        return probe.arguments()

    told = dict(on_fresh_thread(program)).get("aten::mul", "")
    if not told:
        return "this torch has no function that tells them"
    shapes, _, types = told.partition("\n")
    good = shapes == "[[2, 3], [3]]" and types in ('["float", "float"]', "")
    return "" if good else f"they were not read as predicted: {shapes} {types}"


def calibrate() -> Calibration:
    """Finds the offsets in the torch that is loaded. Takes about 50 ms; registers nothing that
    stays. RuntimeError when torch is not loaded or lacks a function that is needed."""
    began = time.perf_counter()
    torch = importlib.import_module("torch")
    events: list[_Expected] = []
    places: tuple[list[int], list[int], list[int]] = ([], [], [])
    try:
        for number in range(_ROUNDS + _MORE_ROUNDS):
            if number < _ROUNDS:
                events += _expected(*on_fresh_thread(partial(_program, torch, number)))
            else:
                events += _across(torch, number)
            if number + 1 < _ROUNDS:
                continue
            places = _candidates(events)
            if all(len(found) <= 1 for found in places):
                break
        _check_masks(torch)
        scope, sequence, thread = (found[0] if len(found) == 1 else -1 for found in places)
        if scope < 0:
            raise _RefusedError("the kind of an event was not found")
        lacking = [
            text
            for text, offset in (("sequence number", sequence), ("forward thread", thread))
            if offset < 0
        ]
        reason = f"no place holds the {' and the '.join(lacking)}" if lacking else ""
        found = Calibration(scope, sequence, thread, reason)
        _validate(torch, found)
    except _RefusedError as refused:
        found = Calibration(reason=str(refused))
    return Calibration(
        found.scope,
        found.sequence,
        found.forward_thread,
        found.reason,
        time.perf_counter() - began,
        on_fresh_thread(lambda: _floor_ns(torch)),
    )


def _floor_ns(torch: Any) -> float:
    """An operator with a callback that does nothing against one without any: the least of several
    rounds each, as the others were interrupted. Takes about 2 ms."""
    x = torch.ones(1, device="cpu")
    probe = TorchProbe(1 << FUNCTION)
    x.neg_()
    events = len(probe.samples())
    del probe

    def timed() -> int:
        begin_ns = time.perf_counter_ns()
        for _ in range(_FLOOR_CALLS):
            x.neg_()
        return time.perf_counter_ns() - begin_ns

    bare: list[int] = []
    told: list[int] = []
    for _ in range(_FLOOR_ROUNDS):
        bare.append(timed())
        idle = TorchIdle()
        told.append(timed())
        del idle
    return max(0.0, (min(told) - min(bare)) / (_FLOOR_CALLS * max(events, 1)))
