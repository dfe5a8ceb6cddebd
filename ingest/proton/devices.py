"""The GPUs of a profile, listed in it or only named by metrics."""

from __future__ import annotations

from ...native import DocumentReader
from ..owners import Device


class Devices:
    """GPUs by kind (CUDA, HIP) and number, in order of first use."""

    def __init__(self, document: DocumentReader) -> None:
        self.items: list[Device] = []
        self._ids: dict[tuple[str, str], int] = {}
        self._known: dict[tuple[str, str], Device] = {}
        kinds, ids = document.text("kind", "type"), document.text("device", "id")
        archs = document.text("device", "arch")
        numbers = [
            document.array("device", name).tolist()
            for name in ("num_sms", "clock_rate", "memory_clock_rate", "bus_width")
        ]
        outer = document.outer("device").tolist()
        for row, (kind_row, *figures) in enumerate(zip(outer, *numbers, strict=True)):
            if kind_row < 0:
                continue
            kind, number = kinds[kind_row] or "", ids[row] or ""
            self._known[kind, number] = _device(kind, number, archs[row] or "", figures)

    def device(self, kind: str, number: str) -> int:
        """Id of a GPU. One that the file does not describe is still told apart."""
        key = (kind, number)
        if key not in self._ids:
            self._ids[key] = len(self.items)
            known = self._known.get(key)
            self.items.append(known or _device(kind, number, "", []))
        return self._ids[key]


def _device(kind: str, number: str, arch: str, figures: list[int]) -> Device:
    """Clocks are in kHz, the bus in bits; memory moves data on both edges of its clock."""
    sms, clock, memory_clock, bus = (
        value if value > 0 else None for value in (figures or [0, 0, 0, 0])
    )
    bandwidth = None
    if memory_clock is not None and bus is not None:
        bandwidth = 2 * memory_clock * 1000 * bus // 8
    major = minor = None
    if kind == "CUDA" and arch.isdecimal() and len(arch) > 1:
        major, minor = int(arch[:-1]), int(arch[-1])
        arch = f"sm_{arch}"
    return Device(
        ordinal=int(number) if number.isdecimal() and len(number) < 9 else 0,
        name=f"{kind} {arch}".strip() if arch else f"{kind} GPU {number} (model not recorded)",
        sm_count=sms,
        clock_hz=None if clock is None else clock * 1000,
        bandwidth_bytes_per_s=bandwidth,
        compute_major=major,
        compute_minor=minor,
    )
