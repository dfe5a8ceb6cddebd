"""Analyzers of findings that are the user's own: whatever they do, the list goes on.

One that raises, ends the program, gives something else than findings or takes too long becomes one
finding that says so.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final, cast

from .findings import Evidence, Finding, Gain, Weight

LONGEST_S: Final = 60.0
"""An analyzer is given so long."""
GRACE_S: Final = 1.0
"""And so long to stop when it was told to."""
GROUP: Final = "dctx.analyzers"
"""Entry points of installed packages: name = function of the facts."""


class TooLongError(Exception):
    """Raised inside an analyzer that takes too long."""


@dataclass(frozen=True, slots=True)
class UserAnalyzer:
    """An analyzer of findings."""

    id: str
    source: str
    """The file that it is in, or the entry point."""
    find: Callable[[Any], object]
    longest_s: float = LONGEST_S

    def __call__(self, facts: object) -> list[Finding]:
        """What it finds of `prescribe.facts.Facts`; one finding that says so where it fails."""
        answer = _Answer(self.find, facts)
        # Daemon: one that cannot be stopped must not keep the program from ending.
        thread = threading.Thread(target=answer.run, name=f"analyzer {self.id}", daemon=True)
        with redirect_stdout(sys.stderr):  # the output may be JSON
            thread.start()
            thread.join(self.longest_s)
            if thread.is_alive() and thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident), ctypes.py_object(TooLongError)
                )
                thread.join(GRACE_S)
        if thread.is_alive() or isinstance(answer.error, TooLongError):
            return [self._failed(f" after {self.longest_s:g} s: it takes too long")]
        try:
            if answer.error is not None:
                raise answer.error
            return _checked(answer.found)
        except BaseException as error:
            where = _line(error, self.source)
            text = " ".join(str(error).split())
            return [self._failed(f"{where}: {type(error).__name__}: {text:.300}")]

    def _failed(self, how: str) -> Finding:
        return Finding(
            id=self.id,
            weight=Weight.HINT,
            sentence=f"The analyzer {self.id} of {self.source} failed{how}.",
            remedy="Mend it, or leave it out.",
        )


def unusable(key: str, source: str, why: str) -> UserAnalyzer:
    """Stands for a file that holds none: it says why."""
    told = Finding(key, Weight.HINT, why, "Mend the file, or take it out of the folder.")
    return UserAnalyzer(key, source, lambda _: [told])


class _Answer:
    """Of one run, on a thread of its own."""

    def __init__(self, find: Callable[[Any], object], facts: object) -> None:
        self._find, self._facts = find, facts
        self.found: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.found = self._find(self._facts)
        except SystemExit as error:
            ended = RuntimeError(f"it ends the program (exit {error.code})")
            self.error = ended.with_traceback(error.__traceback__)  # it has the line
        except BaseException as error:
            self.error = error


def _line(error: BaseException, source: str) -> str:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == source]
    return f" (line {lines[-1]})" if lines else ""


def _checked(found: object) -> list[Finding]:
    """Findings as the reports need them. TypeError or ValueError naming what does not fit."""
    if not isinstance(found, list | tuple):
        raise TypeError(f"a list of findings is expected, not {type(found).__name__}")
    return [_finding(item) for item in cast("Sequence[object]", found)]


def _finding(item: object) -> Finding:
    if not isinstance(item, Finding):
        raise TypeError(f"a Finding is expected, not {type(item).__name__}")
    for name in ("id", "sentence", "remedy", "no_gain", "verify"):
        _fits(f"Finding.{name}", getattr(item, name), str)
    _fits("Finding.weight", item.weight, Weight)
    if item.gain is not None:
        _fits("Finding.gain", item.gain, Gain)
        _fits("Gain.ns", item.gain.ns, int)
        _fits("Gain.basis", item.gain.basis, str)
        _number("Gain.share", item.gain.share)
    evidence = cast("object", item.evidence)
    if not isinstance(evidence, list | tuple):
        raise TypeError(f"Finding.evidence is {type(evidence).__name__}, not a tuple")
    return replace(item, evidence=tuple(_evidence(row) for row in cast("list[object]", evidence)))


def _evidence(row: object) -> Evidence:
    if not isinstance(row, Evidence):
        raise TypeError(f"an Evidence is expected, not {type(row).__name__}")
    _fits("Evidence.what", row.what, str)
    _fits("Evidence.unit", row.unit, str)
    for name in ("value", "baseline"):
        if getattr(row, name) is not None:
            _number(f"Evidence.{name}", getattr(row, name))
    if row.name is not None:
        _fits("Evidence.name", row.name, str)
    # NumPy's whole numbers are what arrays give.
    return row if row.node is None else replace(row, node=int(row.node))


def _fits(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{name} is {value!r:.60}, not of type {wanted.__name__}")


def _number(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise TypeError(f"{name} is {value!r:.60}, no finite number")


def installed_analyzers() -> list[UserAnalyzer]:
    """Those that installed packages offer as entry points; each is imported when it is asked."""
    from importlib.metadata import entry_points

    return [
        UserAnalyzer(point.name, f"the entry point {point.value}", _Loaded(point.load))
        for point in entry_points(group=GROUP)
    ]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A function that is imported when it is called."""

    load: Callable[[], Any]

    def __call__(self, facts: object) -> object:
        find = self.load()
        if not callable(find):
            raise TypeError(f"a function of the facts is expected, not {type(find).__name__}")
        return find(facts)
