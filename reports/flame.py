"""A flame graph as files for other tools: folded stacks, and JSON for speedscope."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from .. import __version__
from ..queries.metric import Metric
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.flame_tree import FlameTree
    from ..queries.pathview import Frames

SPEEDSCOPE_SCHEMA = "https://www.speedscope.app/file-format-schema.json"

TITLES = {
    Metric.GPU: "GPU time",
    Metric.GPU_SELF: "own GPU time",
    Metric.MEAN: "GPU time per call",
    Metric.HOST: "host time",
    Metric.HOST_SELF: "own host time",
    Metric.CALLS: "calls",
    Metric.LAUNCHES: "launches",
    Metric.KERNELS: "kernels",
    Metric.SAMPLES: "CPU samples",
    Metric.SAMPLES_SELF: "own CPU samples",
    Metric.GPU_SAMPLES: "GPU samples",
    Metric.BYTES: "bytes",
}
"""What a metric of the call-path tree is called."""

_UNITS = {Metric.GPU: "nanoseconds", Metric.HOST: "nanoseconds", Metric.BYTES: "bytes"}


def source_place(file: str | None, line: int | None) -> str:
    """`model.py:12`; empty for a binary module, and where the trace does not tell."""
    if file is None or ".so" in file:
        return ""
    name = PurePath(file).name
    return f"{name}:{line}" if line is not None else name


def value_text(metric: Metric, value: int) -> str:
    """A value with its unit, three digits."""
    if metric in (Metric.GPU, Metric.HOST):
        return fmt.duration(value)
    return fmt.size(value) if metric is Metric.BYTES else f"{value:,}"


def frame_label(frames: Frames, frame: int) -> str:
    """A frame in one line: its name, and where it is in the sources."""
    place = source_place(frames.files[frame], frames.lines[frame])
    name = frames.names[frame]
    return fmt.clean(f"{name} ({place})" if place and place not in name else name)


def flame_title(tree: FlameTree) -> str:
    """`GPU time, bottom-up`."""
    return f"{TITLES[tree.metric]}, {'bottom-up' if tree.turned else 'top-down'}"


def write_folded(tree: FlameTree, out: TextIO) -> None:
    """A line for each stack that has a cost of its own: `outer;inner;innermost 123`, in ns, bytes
    or a count. They sum to the whole. Top-down the process comes first, bottom-up what costs."""
    own = tree.own().tolist()
    frame = tree.frame.tolist()
    labels = [frame_label(tree.frames, i).replace(";", ":") for i in range(len(tree.frames.names))]
    way: list[str] = []
    for span in tree.spans():
        way[span.depth :] = [labels[frame[span.node]]]
        if own[span.node]:
            out.write(f"{';'.join(way)} {own[span.node]}\n")


def write_speedscope(tree: FlameTree, name: str, out: TextIO) -> None:
    """The graph for https://www.speedscope.app: one profile whose frames open and close at what is
    spent before and after them. Their place is a cost, not a time of the trace."""
    used: dict[int, int] = {}
    events: list[dict[str, Any]] = []
    opened: list[tuple[int, int]] = []

    def close(depth: int) -> None:
        while len(opened) > depth:
            frame, end = opened.pop()
            events.append({"type": "C", "frame": frame, "at": end})

    for span in tree.spans():
        close(span.depth)
        frame = used.setdefault(int(tree.frame[span.node]), len(used))
        events.append({"type": "O", "frame": frame, "at": span.start})
        opened.append((frame, span.end))
    close(0)
    frames = tree.frames
    document = {
        "$schema": SPEEDSCOPE_SCHEMA,
        "exporter": f"dctx {__version__}",
        "name": fmt.clean(name),
        "activeProfileIndex": 0,
        "shared": {"frames": [_speedscope_frame(frames, frame) for frame in used]},
        "profiles": [
            {
                "type": "evented",
                "name": f"{fmt.clean(name)}: {flame_title(tree)}",
                "unit": _UNITS.get(tree.metric, "none"),
                "startValue": 0,
                "endValue": tree.total,
                "events": events,
            }
        ],
    }
    json.dump(document, out, ensure_ascii=False, separators=(",", ":"))
    out.write("\n")


def _speedscope_frame(frames: Frames, frame: int) -> dict[str, Any]:
    found: dict[str, Any] = {"name": fmt.clean(frames.names[frame])}
    file, line = frames.files[frame], frames.lines[frame]
    if file is not None:
        found["file"] = fmt.clean(file)
        if line is not None:
            found["line"] = line
    return found
