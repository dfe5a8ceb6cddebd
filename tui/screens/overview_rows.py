"""What the Overview says of a trace, as bars, rows and a table to export."""

from collections import Counter
from collections.abc import Sequence

from ...ingest.model import Severity
from ...queries.capture import Capture, DeviceTime, Note
from ...reports import format as fmt
from ..export import Table
from ..widgets.row_list import Row, Tone
from ..widgets.split_bar import Split

_TONES: dict[Severity, Tone] = {
    Severity.INFO: "normal",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_SIGNS = {Severity.INFO: " i ", Severity.WARNING: " ! ", Severity.ERROR: "!! "}


def split(device: DeviceTime) -> Split:
    """A device's bar. The label says how long kernels and graph replays ran, of any kind: that is
    compute and communication; it counts overlap once, like the parts."""
    parts = (device.compute_ns, device.comm_exposed_ns, device.copy_exposed_ns, device.idle_ns)
    window = device.window_ns
    busy = fmt.share(None if device.busy_ns is None or not window else device.busy_ns / window)
    texts = [fmt.share(part / window if window else None) for part in parts]
    return Split(
        f"{device.label}  kernels {busy}",
        parts,
        (texts[0], texts[1], texts[2], texts[3]),
        "n/a: the window is empty",
    )


def unused_rows(capture: Capture) -> list[Row]:
    """That every row was accounted for, and which were not used."""
    number = sum(capture.unused.values())
    if not number:
        return []
    whole = sum(capture.rows.values())
    text = f"{fmt.count(number)} of {fmt.count(whole)} rows of the file are not used"
    lines = [f"{fmt.count(rows):>12}  {name}" for name, rows in sorted(capture.unused.items())]
    listed = Note(
        Severity.INFO, "Rows not used", "\n".join([f"{text}, by table and reason:", *lines])
    )
    return [Row(f"{text}; open for the list", _SIGNS[Severity.INFO], target=listed, tone="dim")]


def models(devices: Sequence[DeviceTime]) -> str:
    """`2x NVIDIA H200`, with a word where the identity was guessed."""
    names = Counter(
        f"{device.name} (assumed)" if device.assumed else device.name
        for device in devices
        if not device.name.startswith(device.label)  # no model: the name is a stand-in
    )
    return ", ".join(f"{number}x {name}" if number > 1 else name for name, number in names.items())


def note_rows(notes: Sequence[Note]) -> list[Row]:
    return [
        Row(note.text, _SIGNS[note.severity], target=note, tone=_TONES[note.severity])
        for note in notes
    ]


def device_table(devices: Sequence[DeviceTime]) -> Table:
    """The split of each device's time."""
    columns = (
        "device",
        "name",
        "window_ns",
        "compute_ns",
        "comm_exposed_ns",
        "copy_exposed_ns",
        "idle_ns",
        "busy_ns",
        "kernel_count",
        "kernel_sum_ns",
    )
    rows = [
        (
            time.label,
            time.name,
            time.window_ns,
            time.compute_ns,
            time.comm_exposed_ns,
            time.copy_exposed_ns,
            time.idle_ns,
            time.busy_ns,
            time.kernel_count,
            time.kernel_sum_ns,
        )
        for time in devices
    ]
    return Table(columns, rows)
