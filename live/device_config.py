"""Files that name functions of devices without an interface for profilers: TOML, checked."""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

Role = Literal["launch", "sync", "memcpy", "alloc", "free", "other"]
Mark = Literal["name", "bytes", "stream"]
Route = Literal["audit", "preload", "both"]
"""How calls are seen: by LD_AUDIT, LD_PRELOAD, or either."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
MARKS: Final[tuple[Mark, ...]] = get_args(Mark)
INTEGERS: Final = {
    "bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    "size": 8, "ptr": 8, "cstr": 8,
}  # fmt: skip
"""Types that go where integers go, and the bytes of them that count."""
FLOATING: Final = "f64"
MOST_ARGUMENTS: Final = 12
MOST_FUNCTIONS: Final = 256
_SYMBOL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.$@]*")
_LIBRARY: Final = re.compile(r"[^\s/:]+")


class DeviceConfigError(Exception):
    """The file cannot be used. The text names the file, the place in it and what to do."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Of a function: its type, and what it says about the call."""

    type: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A function that is hooked."""

    device: str
    library: str
    name: str
    role: Role
    args: tuple[Argument, ...]
    returns: str
    is_async: bool

    @property
    def fails_with(self) -> int:
        """What a call returns where no library has the function: no address, or an error."""
        return 0 if self.returns in ("ptr", "cstr", "void", FLOATING) else -1


def why_not_here() -> str:
    """Why functions cannot be hooked on this machine; empty when they can."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return ""
    return (
        f"functions of devices can be hooked on Linux on x86-64 only, not on {sys.platform} on "
        f"{platform.machine()}. Leave --device-config out."
    )


def read_device_config(path: Path) -> tuple[DeviceFunction, ...]:
    """The functions that a file names, in its order. DeviceConfigError when it cannot be used."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DeviceConfigError(
            f"{path}: {error.strerror}. Name a file that can be read."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeviceConfigError(f"{path}: no TOML: {error}. See docs/custom-devices.md.") from None
    found: list[DeviceFunction] = []
    _known(path, "", content, ("device",))
    for number, table in enumerate(_tables(path, "device", content.get("device")), 1):
        found += _functions_of(path, f"device {number}", table)
    if not found:
        raise _wrong(
            path, "device", "no function is named", "add [[device]] and [[device.function]]"
        )
    if len(found) > MOST_FUNCTIONS:
        raise _wrong(
            path, "device.function", f"{len(found)} functions", f"at most {MOST_FUNCTIONS}"
        )
    _no_twins(path, found)
    return tuple(found)


def _functions_of(path: Path, place: str, table: Mapping[str, Any]) -> list[DeviceFunction]:
    device = _text(path, f"{place}: name", table.get("name"))
    place = f"{place} ({device})"
    _known(path, place, table, ("name", "library", "function"))
    library = _text(path, f"{place}: library", table.get("library"))
    if _LIBRARY.fullmatch(library) is None:
        raise _wrong(
            path, f"{place}: library", f"{library!r} is no name of a library",
            'give its file name without a folder, as "libnpu.so.1"',
        )  # fmt: skip
    found: list[DeviceFunction] = []
    rows = _tables(path, f"{place}: function", table.get("function"))
    for number, row in enumerate(rows, 1):
        found.append(_function(path, f"{place}, function {number}", device, library, row))
    return found


def _function(
    path: Path, place: str, device: str, library: str, table: Mapping[str, Any]
) -> DeviceFunction:
    name = _text(path, f"{place}: name", table.get("name"))
    place = f"{place} ({name})"
    _known(path, place, table, ("name", "role", "args", "returns", "async"))
    if _SYMBOL.fullmatch(name) is None:
        raise _wrong(path, f"{place}: name", f"{name!r} is no symbol", "give it as nm -D shows it")
    role = _text(path, f"{place}: role", table.get("role"))
    if role not in ROLES:
        raise _wrong(path, f"{place}: role", f"{role!r}", f"one of {', '.join(ROLES)}")
    texts = table.get("args")
    if not isinstance(texts, list):
        raise _wrong(
            path, f"{place}: args", "there is no list", 'as ["cstr:name", "ptr", "u64:bytes"]'
        )
    args = _arguments(path, f"{place}: args", cast("list[object]", texts))
    returns = _text(path, f"{place}: returns", table.get("returns", "void"))
    if returns not in (*INTEGERS, FLOATING, "void"):
        raise _wrong(path, f"{place}: returns", f"{returns!r}", f"one of {_types()}, void")
    is_async = table.get("async", False)
    if not isinstance(is_async, bool):
        raise _wrong(path, f"{place}: async", f"{is_async!r}", "true or false")
    return DeviceFunction(device, library, name, role, args, returns, is_async)


def _arguments(path: Path, place: str, texts: list[object]) -> tuple[Argument, ...]:
    if len(texts) > MOST_ARGUMENTS:
        raise _wrong(path, place, f"{len(texts)} arguments", f"at most {MOST_ARGUMENTS}")
    found: list[Argument] = []
    for number, text in enumerate(texts):
        where = f"{place}[{number}]"
        if text == "...":
            raise _wrong(
                path, where, "a variable number of arguments", "such functions cannot be hooked"
            )
        kind, _, mark = text.partition(":") if isinstance(text, str) else ("", "", "")
        if kind not in (*INTEGERS, FLOATING):
            raise _wrong(path, where, f"{text!r}", f"one of {_types()}, with :mark or without")
        if mark and mark not in MARKS:
            raise _wrong(path, where, f"{text!r}", f"a mark is one of {', '.join(MARKS)}")
        if (mark == "name") != (kind == "cstr") and mark:
            raise _wrong(path, where, f"{text!r}", "a name is a cstr; other marks are not")
        if mark and kind == FLOATING:
            raise _wrong(path, where, f"{text!r}", "an f64 has no mark")
        if mark and any(argument.mark == mark for argument in found):
            raise _wrong(path, where, f"a second {mark}", "mark one argument")
        found.append(Argument(kind, mark or None))
    return tuple(found)


def _no_twins(path: Path, functions: Iterable[DeviceFunction]) -> None:
    seen: set[str] = set()
    for function in functions:
        if function.name in seen:
            place = f"device {function.device}: function {function.name}"
            raise _wrong(path, place, "it is named twice", "name it once")
        seen.add(function.name)


def _types() -> str:
    return ", ".join((*INTEGERS, FLOATING))


def _tables(path: Path, place: str, value: object) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    rows = cast("list[object]", value) if isinstance(value, list) else [value]
    for row in rows:
        if not isinstance(row, dict):
            raise _wrong(path, place, "it is no table", f"write it as [[{place.split(': ')[-1]}]]")
    return cast("list[Mapping[str, Any]]", rows)


def _text(path: Path, place: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(path, place, "it is missing" if value is None else f"{value!r}", "give a text")
    return value


def _known(path: Path, place: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            where = f"{place}: {key}" if place else key
            raise _wrong(path, where, "there is no such key", f"one of {', '.join(keys)}")


def _wrong(path: Path, place: str, what: str, remedy: str) -> DeviceConfigError:
    return DeviceConfigError(f"{path}: {place}: {what}; needed: {remedy}.")
