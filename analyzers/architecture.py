"""What a device can do at most: rates by kind of computation, and the bandwidth of its memory.

An architecture is a JSON or TOML file: `name`, `mem_bw_gbps` (10^9 bytes/s), `memory_gb`,
`max_achievable_tflops` (measured) and `peak_tflops` (of a data sheet): 10^12 operations/s by
`matrix_` or `vector_` and precision; `device_patterns`: regular expressions on the device's name as
traces record it; `source`. TraceLens' files are of this form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeGuard, cast

_FOLDER: Final = Path(__file__).parent / "architectures"
_SPEC: Final = re.compile(r"(matrix|vector)_(fp64|fp32|tf32|bf16|fp16|fp8|fp6|fp4|int8)$")
_INSTEAD: Final = {
    "vector_bf16": "vector_fp32",
    "vector_fp16": "vector_fp32",
    "matrix_tf32": "matrix_fp32",
}
"""Where a rate is not told: the one that the hardware falls back to."""
_SUFFIXES: Final = (".json", ".toml")


class ArchitectureError(ValueError):
    """An architecture that does not exist or is not of the form above; the text is for people."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A device's limits."""

    name: str
    bandwidth_gbps: float
    """10^9 bytes/s."""
    achievable: Mapping[str, float]
    """Measured, 10^12 operations/s."""
    peak: Mapping[str, float]
    """Of the data sheet."""
    patterns: tuple[str, ...] = ()
    memory_gb: float | None = None
    source: str = ""

    def rate(self, spec: str) -> Rate | None:
        """How fast computations of this kind are at most; None where nothing is told."""
        for wanted in (spec, _INSTEAD.get(spec, "")):
            if wanted in self.achievable:
                return Rate(self.achievable[wanted], "achievable", wanted)
            if wanted in self.peak:
                return Rate(self.peak[wanted], "peak", wanted)
        return None

    @property
    def ridge(self) -> dict[str, float]:
        """Operations a byte from which on computation bounds, by kind."""
        known = dict(self.peak) | dict(self.achievable)
        return {spec: tflops * 1000 / self.bandwidth_gbps for spec, tflops in known.items()}


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of computation."""

    tflops: float
    basis: str
    """achievable: measured; peak: of the data sheet."""
    spec: str
    """What it is the rate of."""


def parse(document: object, where: str) -> Architecture:
    """An architecture of a read file. ArchitectureError naming `where` and the key."""
    if not isinstance(document, dict):
        raise ArchitectureError(f"{where} holds no architecture: an object of keys is expected.")
    found = cast("dict[str, Any]", document)

    def bad(key: str, wanted: str) -> ArchitectureError:
        return ArchitectureError(f"{where}: {key} should be {wanted}.")

    bandwidth = found.get("mem_bw_gbps")
    if not _is_number(bandwidth) or bandwidth <= 0:
        raise bad("mem_bw_gbps", "the memory's bandwidth in 10^9 bytes/s")
    rates: dict[str, dict[str, float]] = {}
    for key in ("max_achievable_tflops", "peak_tflops"):
        value = found.get(key, {})
        if not isinstance(value, dict):
            raise bad(key, "an object of rates")
        rates[key] = {}
        for spec, tflops in cast("dict[str, Any]", value).items():
            if _SPEC.match(spec) is None:
                raise bad(f"{key}.{spec}", "named matrix_ or vector_ and a precision (matrix_bf16)")
            if not _is_number(tflops) or tflops <= 0:
                raise bad(f"{key}.{spec}", "a number of 10^12 operations/s")
            rates[key][spec] = float(tflops)
    if not any(rates.values()):
        raise bad("max_achievable_tflops or peak_tflops", "given")
    patterns = found.get("device_patterns", [])
    texts = cast("list[object]", patterns) if isinstance(patterns, list) else [None]
    if not all(isinstance(text, str) and _compiles(text) for text in texts):
        raise bad("device_patterns", "a list of regular expressions")
    memory = found.get("memory_gb")
    return Architecture(
        name=str(found.get("name") or where),
        bandwidth_gbps=float(bandwidth),
        achievable=rates["max_achievable_tflops"],
        peak=rates["peak_tflops"],
        patterns=tuple(str(text) for text in texts),
        memory_gb=float(memory) if _is_number(memory) else None,
        source=str(found.get("source", "")),
    )


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def read(path: Path) -> Architecture:
    """The architecture of a file. ArchitectureError, also where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        document: object = _toml(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise ArchitectureError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # of both parsers, and of bytes that are no text
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        raise ArchitectureError(f"{path} is no {kind} file: {error}.") from error
    return parse(document, str(path))


def _toml(text: str) -> object:
    import tomllib  # what is shipped is JSON

    return tomllib.loads(text)


@cache
def shipped() -> tuple[Architecture, ...]:
    """The architectures that come with dctx, by name."""
    return tuple(read(path) for path in sorted(_FOLDER.glob("*.json")))


def of_folder(folder: Path) -> list[Architecture]:
    """Those of the user's own folder; none where it does not exist. ArchitectureError."""
    if not folder.is_dir():
        return []
    return [read(path) for path in sorted(folder.iterdir()) if path.suffix in _SUFFIXES]


def chosen(text: str, own: list[Architecture]) -> Architecture:
    """By name, the user's own first, else of the file of this name. ArchitectureError."""
    known = [*own, *shipped()]
    for architecture in known:
        if architecture.name.lower() == text.lower():
            return architecture
    path = Path(text)
    if path.suffix in _SUFFIXES or path.exists():
        return read(path)
    names = ", ".join(architecture.name for architecture in known)
    raise ArchitectureError(f"There is no architecture {text!r}: {names}, or a JSON or TOML file.")


def detected(device: str, own: list[Architecture]) -> Architecture | None:
    """The first whose patterns know the device's name, the user's own first."""
    for architecture in [*own, *shipped()]:
        if any(re.search(pattern, device, re.IGNORECASE) for pattern in architecture.patterns):
            return architecture
    return None
