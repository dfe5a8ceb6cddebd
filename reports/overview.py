"""The overview as plain text: what was recorded, how the GPUs spent their time, what took it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ingest.capabilities import LABELS, Capability
from ..ingest.model import Layer, Severity
from ..queries.capture import Capture, DeviceTime, Note
from ..queries.kernels import OpStat
from ..queries.overview import HostPath, Overview, TopPath
from . import format as fmt

_SIGNS = {Severity.INFO: "i", Severity.WARNING: "!", Severity.ERROR: "!!"}
_TOP = "launch not recorded"
"""Stands for the path of what no context launched."""
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def overview_text(overview: Overview, *, width: int = 80, color: bool = False) -> str:
    """The overview in lines of at most `width` characters; `color` prints headings bold."""
    capture = overview.capture
    lines = [*_wrapped(facts_line(capture), width)]
    for note in shown_notes(capture):
        lines += _wrapped(f"{_SIGNS[note.severity]} {note.text}", width, indent="   ")
    advice = no_gpu_advice(capture)
    if advice:
        lines += ["", *_wrapped(advice, width)]
    sections = (
        (
            f"GPU time, per device ({windows_text(overview.devices)})",
            _devices(overview.devices, width),
        ),
        ("Top kernels, share of all GPU work", _kernels(overview.kernels, width)),
        (_operators_heading(overview), _operators(overview, width)),
        (
            "Top call paths by the GPU work they launch, share of all GPU work",
            _paths(overview, width),
        ),
        ("Top call paths by their own host time", _host_paths(overview, width)),
    )
    headings: set[int] = set()
    for heading, body in sections:
        rows = list(body)
        if rows:
            lines += ["", heading, *rows]
            headings.add(len(lines) - len(rows) - 1)
    shown = map(fmt.clean, lines)
    return "".join(
        f"{_BOLD}{line}{_PLAIN}\n" if color and i in headings else f"{line}\n"
        for i, line in enumerate(shown)
    )


def facts_line(capture: Capture) -> str:
    """The capture in one sentence of facts; what is not known is left out."""
    name = capture.path.rpartition("/")[2] or fmt.NA
    producer = f"{capture.producer} {capture.producer_version}".strip()
    orphans = sum(capture.orphans.values())
    facts = [
        name,
        producer,
        _plural(capture.devices, "GPU"),
        _plural(capture.processes, "process", "processes"),
        None if capture.span_ns is None else fmt.duration(capture.span_ns),
        None if not capture.kernels else f"{fmt.count_short(capture.kernels)} kernels",
        None if not orphans else f"{fmt.count(orphans)} without a recorded launch",
        None if capture.size_bytes is None else fmt.size(capture.size_bytes),
    ]
    return " · ".join(fact for fact in facts if fact)


def shown_notes(capture: Capture) -> list[Note]:
    """The notes, then what the views will lack and why; `no_gpu_advice` tells of GPU work."""
    return [
        *capture.notes,
        *(
            Note(Severity.INFO, "capture", f"No {LABELS[capability]}: {reason}")
            for capability, reason in capture.lacking
            if capability is not Capability.GPU_WORK
        ),
    ]


def no_gpu_advice(capture: Capture) -> str | None:
    """What to do when no GPU work was recorded; None when there is some."""
    if capture.gpu_window_ns is not None:
        return None
    lacking = dict(capture.lacking)
    reason = lacking.get(Capability.GPU_WORK)
    if reason is not None:
        return f"No GPU work was recorded, so GPU times are n/a: {reason}"
    if Capability.EVENTS in lacking:
        return (
            "An aggregated profile: it tells what each context and kernel cost in all, not when. "
            "GPU busy and idle time, single launches and the timeline are n/a."
        )
    return "No GPU work was recorded, so GPU times are n/a."


def windows_text(devices: Sequence[DeviceTime]) -> str:
    """`window 1.20 s`, or the shortest and the longest: each device has its own."""
    windows = [device.window_ns for device in devices]
    texts = [fmt.duration(pick(windows)) for pick in (min, max)] if windows else []
    if len(set(texts)) < 2:
        return f"window {texts[0]}" if texts else fmt.NA
    return f"windows of {' to '.join(texts)}"


def _devices(devices: list[DeviceTime], width: int) -> Iterator[str]:
    listed, more = fmt.limited(devices, "GPUs", "dctx info --json")
    for device in listed:
        busy = None if device.busy_ns is None else _part(device.busy_ns, device)
        assumed = " (assumed)" if device.assumed else ""
        head = f"  {device.label}  kernels {fmt.share(busy)}  {device.name}{assumed}"
        yield fmt.shorten_middle(head, width)
        yield (
            "    "
            + " + ".join(
                f"{name} {fmt.share(_part(ns, device))}"
                for name, ns in (
                    ("compute", device.compute_ns),
                    ("comm exposed", device.comm_exposed_ns),
                    ("copy", device.copy_exposed_ns),
                    ("idle", device.idle_ns),
                )
            )
            + (" = 100 %" if device.window_ns else "")
        )
    yield from (f"  {line}" for line in more)


def _kernels(kernels: list[OpStat], width: int) -> Iterator[str]:
    if not kernels:
        return
    yield f"  {'share':>7}  {'total':>8}  {'count':>9}  {'mean':>8}  name"
    for kernel in kernels:
        figures = (
            f"  {fmt.share(kernel.share):>7}  {fmt.duration(kernel.sum_ns):>8}"
            f"  {fmt.count(kernel.count):>9}  {fmt.duration(kernel.mean_ns):>8}  "
        )
        yield figures + fmt.shorten_middle(kernel.name, max(width - len(figures), 16))


def _operators_heading(overview: Overview) -> str:
    if overview.capture.gpu_window_ns is None:
        return "Top operators by their own host time"
    return "Top operators by the GPU work they launch themselves"


def _operators(overview: Overview, width: int) -> Iterator[str]:
    if not overview.operators:
        return
    yield f"  {'share':>7}  {'GPU':>8}  {'host':>8}  {'calls':>9}  name"
    for operator in overview.operators:
        figures = (
            f"  {fmt.share(operator.share):>7}  {fmt.duration(operator.gpu_ns):>8}"
            f"  {fmt.duration(operator.host_ns):>8}  {fmt.count(operator.calls):>9}  "
        )
        yield figures + fmt.shorten_middle(operator.name, max(width - len(figures), 16))


def _paths(overview: Overview, width: int) -> Iterator[str]:
    if not overview.paths:
        return
    yield f"  {'share':>7}  {'GPU time':>8}  {'kernels':>9}"
    for path in overview.paths:
        yield (
            f"  {fmt.share(path.share):>7}  {fmt.duration(path.gpu_ns):>8}"
            f"  {fmt.count(path.kernels):>9}"
        )
        yield _path(path, width)


def _host_paths(overview: Overview, width: int) -> Iterator[str]:
    if not overview.host_paths:
        return
    yield f"  {'share':>7}  {'own time':>8}  {'calls':>9}"
    for path in overview.host_paths:
        yield (
            f"  {fmt.share(path.share):>7}  {fmt.duration(path.self_ns):>8}"
            f"  {fmt.count(path.calls):>9}"
        )
        yield _path(path, width)


def _path(path: TopPath | HostPath, width: int) -> str:
    """Process, annotations and call: the native frames between would push them out."""
    names = [
        name
        for layer, name in zip(path.layers, path.names, strict=True)
        if layer not in (Layer.NATIVE, Layer.THREAD)
    ]
    return f"      {fmt.path(names, width - 6, keep_first=True) or _TOP}"


def _part(ns: int, device: DeviceTime) -> float | None:
    return ns / device.window_ns if device.window_ns else None


def _plural(number: int, one: str, many: str | None = None) -> str | None:
    return f"{fmt.count(number)} {one if number == 1 else many or one + 's'}" if number else None


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    from textwrap import wrap

    return wrap(text, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
