"""The overview of a trace, kept beside its store: the first screen needs no database.

Written when a trace was opened completely, found by the file's name, size, time and ends like the
store itself. Whatever is wrong with it, the overview is simply asked again.
"""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..ingest.cache import temporary_path, tidy
from ..ingest.errors import TraceError
from ..ingest.model import GpuKind, Layer, Severity
from ..ingest.selection import Asked, select
from ..ingest.store import STORE_VERSION
from ..queries.capture import Capture, DeviceTime, Note
from ..queries.kernels import OpStat
from ..queries.operators import OperatorStat
from ..queries.overview import HostPath, Overview, TopPath

VERSION = f"{__version__} {STORE_VERSION}"
SUFFIX = ".overview"


def remembered_overview(trace: Asked) -> Overview | None:
    """The overview of the trace as the file is now, None when it is not known."""
    try:
        selection = select(trace)
        if selection.is_stream:
            return None
        text = selection.entry(VERSION, SUFFIX).read_text(encoding="utf-8")
        return decoded(json.loads(text))
    except (TraceError, OSError, ValueError, TypeError, KeyError):
        return None


def remember_overview(trace: Asked, overview: Overview) -> None:
    """Keep the overview; a cache that cannot be written is no one's problem."""
    with contextlib.suppress(OSError, TraceError):
        selection = select(trace)
        if selection.is_stream:
            return
        target = selection.entry(VERSION, SUFFIX)
        if not target.exists():
            temporary = temporary_path(target)
            temporary.write_text(json.dumps(asdict(overview)), encoding="utf-8")
            temporary.replace(target)
            tidy(target)


def decoded(data: dict[str, Any]) -> Overview:
    """The overview written as JSON. KeyError, TypeError or ValueError when it is none."""
    capture = data["capture"]
    return Overview(
        capture=Capture(
            **_with(
                capture,
                gpu_window_ns=_pair(capture["gpu_window_ns"]),
                notes=tuple(
                    Note(**_with(note, severity=Severity(note["severity"])))
                    for note in capture["notes"]
                ),
            )
        ),
        devices=[
            DeviceTime(**_with(device, kernel_window_ns=_pair(device["kernel_window_ns"])))
            for device in data["devices"]
        ],
        kernels=[OpStat(**_with(op, kind=GpuKind(op["kind"]))) for op in data["kernels"]],
        paths=[TopPath(**_way(path)) for path in data["paths"]],
        host_paths=[HostPath(**_way(path)) for path in data["host_paths"]],
        operators=[OperatorStat(**operator) for operator in data["operators"]],
    )


def _with(fields: dict[str, Any], /, **restored: Any) -> dict[str, Any]:
    """The fields, those that JSON has no type for replaced."""
    return {**fields, **restored}


def _way(path: dict[str, Any]) -> dict[str, Any]:
    layers = tuple(Layer(layer) for layer in path["layers"])
    return _with(path, names=tuple(path["names"]), layers=layers)


def _pair(values: Sequence[int] | None) -> tuple[int, int] | None:
    if values is None:
        return None
    first, last = values
    return first, last
