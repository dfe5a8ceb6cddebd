"""How calls of a device's functions reach dctx: what the environment of a recorded command needs,
and what the processes of it are told."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ..native._core import DeviceHooks
from .device_config import FLOATING, INTEGERS, DeviceConfigError, DeviceFunction, Route

FIRST_DEVICE: Final = 64
"""Number of the first configured device in records of work: behind those of any vendor."""
_TABLE, _FUNCTIONS, _STUBS = "devices.hooks", "devices.json", "devices.so"
_LIBRARIES: Final = {"audit": "libdctx_audit.so", "preload": "libdctx_preload.so"}
_VARIABLE: Final = "DCTX_DEVICE_HOOKS"


def hooked_environment(
    functions: Sequence[DeviceFunction], route: Route, folder: Path, before: Mapping[str, str]
) -> dict[str, str]:
    """Variables to set for a command whose calls of `functions` are to be told. Writes what it
    needs into `folder`, which has to stay while the command runs. DeviceConfigError when a library
    of ours cannot be named in the environment."""
    (folder / _TABLE).write_text("".join(_line(function) for function in functions))
    rows = [asdict(function) for function in functions]
    (folder / _FUNCTIONS).write_text(json.dumps(rows))
    found = {_VARIABLE: str(folder / _TABLE)}
    if route in ("audit", "both"):
        found["LD_AUDIT"] = _joined([_library("audit")], before.get("LD_AUDIT"))
    if route in ("preload", "both"):
        from .device_stub import stub_library

        stubs = folder / _STUBS
        stubs.write_bytes(stub_library([function.name for function in functions]))
        ours = [stubs, _library("preload")]
        found["LD_PRELOAD"] = _joined(ours, before.get("LD_PRELOAD"))
    return found


def told_functions(folder: Path) -> list[dict[str, object]]:
    """What the processes of a job are told of hooked functions: one entry a hook, in the order of
    the table. Empty when none is hooked."""
    try:
        rows = json.loads((folder / _FUNCTIONS).read_text())
    except (OSError, ValueError):
        return []
    devices = device_names(rows)
    return [
        {
            "device": FIRST_DEVICE + devices.index(row["device"]),
            "function": row["name"],
            "role": row["role"],
            "is_async": row["is_async"],
            "args": [
                (*_type(argument["type"]), argument["mark"] or "") for argument in row["args"]
            ],
        }
        for row in rows
    ]


def device_names(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The devices that functions belong to, in the order of the file."""
    return list(dict.fromkeys(str(row["device"]) for row in rows))


def told_devices(folder: Path) -> dict[int, str]:
    """The names of configured devices by their number in records of work."""
    try:
        rows = json.loads((folder / _FUNCTIONS).read_text())
    except (OSError, ValueError):
        return {}
    return dict(enumerate(device_names(rows), FIRST_DEVICE))


def _line(function: DeviceFunction) -> str:
    """See native/monitor/gpu/custom/device_abi.hpp."""
    words = DeviceHooks.stack_words([_type(argument.type) for argument in function.args])
    return f"{function.library}\t{function.name}\t{words}\t{function.fails_with}\n"


def _type(name: str) -> tuple[bool, int]:
    """Whether an argument is floating-point, and its size in bytes."""
    return name == FLOATING, INTEGERS.get(name, 8)


def _library(route: str) -> Path:
    own = sys.modules[DeviceHooks.__module__].__file__ or ""
    return Path(own).with_name(_LIBRARIES[route])


def _joined(ours: Sequence[Path], theirs: str | None) -> str:
    for path in ours:
        if not path.is_file():
            raise DeviceConfigError(f"{path}: this installation of dctx lacks it. Install it anew.")
        if ":" in str(path) or any(character.isspace() for character in str(path)):
            raise DeviceConfigError(
                f"{path}: the linker takes no path with a blank or colon. Install dctx into "
                "another folder, or set TMPDIR to one."
            )
    return os.pathsep.join([*map(str, ours), *filter(None, [theirs])])
