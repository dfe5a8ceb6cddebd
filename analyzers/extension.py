"""Models, categories, names of communication and analyzers of the user's own, from a Python file.

    from dctx.analyzers.extension import PerfResult

    def scaled_add(call):                       # call: dctx.analyzers.perf_models.call.Call
        n = call.count(0)
        return PerfResult(flops=2 * n, bytes=3 * n * call.size(0), precision="bf16")

    MODELS = {"mylib::scaled_add": scaled_add}  # names, or regular expressions of whole names
    CATEGORIES = {"mylib::.*": "elementwise"}
    COMMUNICATION = {"my_ring": "allreduce"}    # a part of a kernel's name: the collective
    ANALYZERS = {"my-finding": find}            # facts: dctx.analyzers.prescribe.facts.Facts

    def find(facts):                            # gives findings: dctx.analyzers.findings.Finding
        return []

The file is run with the user's rights. A model that fails leaves its figures blank, with a note.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from .perf_models.call import Call
from .perf_models.model import MATRIX, VECTOR, Model
from .perf_models.perf import Perf
from .user_analyzer import UserAnalyzer

_FAMILY: Final = "Custom"
_UNITS: Final = (MATRIX, VECTOR)


class ExtensionError(ValueError):
    """A file that is no extension; the text is for people."""


@dataclass(frozen=True, slots=True)
class PerfResult:
    """What a model of the user's says of one call."""

    flops: float | None
    bytes: float | None
    """Read and written."""
    unit: str = VECTOR
    """matrix or vector: the part of the hardware that does the work."""
    precision: str | None = None
    """bf16, fp32, …"""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    family: str = _FAMILY
    """Name of the sheet."""
    backward: PerfResult | None = None
    """The gradients."""
    note: str = ""


_T = TypeVar("_T")
_UserModel = Callable[[Call], object]


@dataclass(frozen=True)
class Extension:
    """What a file defines."""

    path: Path
    models: Mapping[str, _UserModel]
    categories: Mapping[str, str]
    communication: Mapping[str, str] = field(default_factory=dict[str, str])
    analyzers: tuple[UserAnalyzer, ...] = ()

    def model(self, name: str) -> Model | None:
        """The model of an operator; None where the file has none."""
        work = _named(self.models, self._model_patterns, name)
        if work is None:
            return None
        category = self.category(name) or _FAMILY
        return Model(category, _FAMILY, VECTOR, _Adapted(work), _Adapted(work, backward=True))

    def category(self, name: str) -> str | None:
        """The category of an operator; None where the file tells none."""
        return _named(self.categories, self._category_patterns, name)

    def collective(self, kernel: str) -> str | None:
        """The collective of a communication kernel; None where the file tells none."""
        patterns = self._communication_patterns.items()
        return next((name for pattern, name in patterns if pattern.search(kernel)), None)

    @cached_property
    def _communication_patterns(self) -> dict[re.Pattern[str], str]:
        return {re.compile(text, re.IGNORECASE): name for text, name in self.communication.items()}

    @cached_property
    def _model_patterns(self) -> dict[str, re.Pattern[str]]:
        return {text: re.compile(text) for text in self.models}

    @cached_property
    def _category_patterns(self) -> dict[str, re.Pattern[str]]:
        return {text: re.compile(text) for text in self.categories}


def _named(of: Mapping[str, _T], patterns: Mapping[str, re.Pattern[str]], name: str) -> _T | None:
    found = of.get(name)
    if found is not None:
        return found
    return next((of[text] for text, pattern in patterns.items() if pattern.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class _Adapted:
    """A model of the user's as one of ours."""

    work: _UserModel
    backward: bool = False

    def __call__(self, call: Call) -> Perf | None:
        with _guarded():
            found = self.work(call)
        if self.backward and isinstance(found, PerfResult):
            found = found.backward
        if found is None:
            return None
        if not isinstance(found, PerfResult):
            raise TypeError(f"a PerfResult or None is expected, not {type(found).__name__}")
        if found.unit not in _UNITS:
            raise ValueError(f"unit is {found.unit!r}, not matrix or vector")
        return Perf(
            found.flops, found.bytes, found.precision, dict(found.params), found.note,
            found.unit, found.family,
        )  # fmt: skip


@contextmanager
def _guarded() -> Generator[None]:
    """What the user's code prints goes to standard error: the output may be JSON. It does not end
    the program either. RuntimeError where it tries to."""
    with redirect_stdout(sys.stderr):
        try:
            yield
        except SystemExit as error:
            ended = RuntimeError(f"it ends the program (exit {error.code})")
            raise ended.with_traceback(error.__traceback__) from error  # it has the line


def load(path: Path) -> Extension:
    """Run the file. ExtensionError naming the file, the line and what to mend."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ExtensionError(f"{path} cannot be read: {reason}.") from error
    space: dict[str, Any] = {"__name__": "dctx_extension", "__file__": str(path)}
    try:
        with _guarded():
            exec(compile(text, str(path), "exec"), space)  # the user named this file to be run
    except Exception as error:
        raise ExtensionError(
            f"{path} cannot be used{_line(error, path)}: {type(error).__name__}: {error}. "
            "It is run as Python and should define MODELS, CATEGORIES, COMMUNICATION or ANALYZERS."
        ) from error
    models = _table(space, path, "MODELS", callable, "functions of one call")
    categories = _table(space, path, "CATEGORIES", lambda v: isinstance(v, str), "texts")
    kernels = _table(space, path, "COMMUNICATION", lambda v: isinstance(v, str), "collectives")
    analyzers = _table(space, path, "ANALYZERS", callable, "functions of the facts of a trace")
    if not (models or categories or kernels or analyzers):
        raise ExtensionError(
            f"{path} defines none of MODELS, CATEGORIES, COMMUNICATION and ANALYZERS: one is "
            "needed."
        )
    own = tuple(UserAnalyzer(name, str(path), find) for name, find in analyzers.items())
    return Extension(path, models, categories, kernels, own)


def _line(error: Exception, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})" if error.lineno is not None else ""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f" (line {lines[-1]})" if lines else ""


def _table(
    space: Mapping[str, Any], path: Path, key: str, fits: Callable[[Any], bool], wanted: str
) -> dict[str, Any]:
    found = space.get(key, {})
    if not isinstance(found, dict):
        raise ExtensionError(f"{path}: {key} should be a dict of names to {wanted}.")
    table = cast("dict[str, Any]", found)
    for name, value in table.items():
        if not isinstance(cast("object", name), str) or not fits(value):
            raise ExtensionError(f"{path}: {key}[{name!r}] does not fit: names to {wanted}.")
        try:
            re.compile(name)
        except re.error as error:
            raise ExtensionError(
                f"{path}: {key}[{name!r}] is no regular expression: {error}."
            ) from error
    return table
