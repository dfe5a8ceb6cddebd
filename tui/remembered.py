"""What the first screen shows of a trace, kept beside its store: it needs no database.

Written when a trace was opened completely and when it was judged, found by the file's name, size,
time and ends like the store itself. Whatever is wrong with it, it is simply asked again.
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
from ..reports import verdict_card
from ..reports.verdict_card import CardFinding, VerdictCard

VERSION = f"{__version__} {STORE_VERSION}"
OVERVIEW, CARD, FINDINGS = ".overview", ".verdict", ".findings"


def remembered_overview(trace: Asked) -> Overview | None:
    """The overview of the trace as the file is now, None when it is not known."""
    data = _read(trace, VERSION, OVERVIEW)
    try:
        return None if data is None else decoded(data)
    except (ValueError, TypeError, KeyError):
        return None


def remember_overview(trace: Asked, overview: Overview) -> None:
    """Keep the overview; a cache that cannot be written is no one's problem."""
    _write(trace, VERSION, OVERVIEW, asdict(overview))


def remembered_card(trace: Asked, options: str) -> VerdictCard | None:
    """The verdict as judged under these options, None when it is not known."""
    data = _read(trace, f"{VERSION} {options}", CARD)
    try:
        return None if data is None else verdict_card.decoded(data)
    except (ValueError, TypeError, KeyError):
        return None


def remember_card(trace: Asked, options: str, card: VerdictCard) -> None:
    """Keep the verdict of the trace under these options; it replaces one under others."""
    _write(trace, f"{VERSION} {options}", CARD, asdict(card))


def remembered_findings(trace: Asked, options: str) -> tuple[CardFinding, ...] | None:
    """What the analyzers found under these options, None when it is not known."""
    data = _read(trace, f"{VERSION} {options}", FINDINGS)
    try:
        return None if data is None else verdict_card.decoded_findings(data)
    except (ValueError, TypeError, KeyError):
        return None


def remember_findings(trace: Asked, options: str, findings: Sequence[CardFinding]) -> None:
    """Keep what the analyzers found; it replaces what they did under other options."""
    data = {"findings": [asdict(finding) for finding in findings]}
    _write(trace, f"{VERSION} {options}", FINDINGS, data)


def _read(trace: Asked, version: str, suffix: str) -> dict[str, Any] | None:
    try:
        selection = select(trace)
        if selection.is_stream:
            return None
        text = selection.entry(version, suffix).read_text(encoding="utf-8")
        data: dict[str, Any] = json.loads(text)
        return data
    except (TraceError, OSError, ValueError):
        return None


def _write(trace: Asked, version: str, suffix: str, data: dict[str, Any]) -> None:
    with contextlib.suppress(OSError, TraceError):
        selection = select(trace)
        if selection.is_stream:
            return
        target = selection.entry(version, suffix)
        if not target.exists():
            temporary = temporary_path(target)
            temporary.write_text(json.dumps(data), encoding="utf-8")
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
