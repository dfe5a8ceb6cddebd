"""GPUs of a recording: which device an event names, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..model import Severity
from ..owners import Device
from ..timeline import Timeline
from .recording import Recording, as_list, as_object

_AMD_KEYS: Final = ("roctracer_version", "rocprofiler-sdk_version", "hip_runtime_version")
_LARGEST: Final = 2**31 - 1


def is_amd(recording: Recording) -> bool:
    """True for recordings made with ROCm."""
    return any(key in recording.metadata for key in _AMD_KEYS) or any(
        key.startswith(("hip_", "roc")) for key in recording.metadata
    )


class Devices:
    """Dense ids of the GPUs that the events of one recording name.

    On AMD the number is that of the HSA agent, the properties are by HIP device: they are taken
    where they are the same for all GPUs."""

    def __init__(self, recording: Recording, timeline: Timeline, process: int | None) -> None:
        """`process`: of the recording, when other recordings may use the same numbers."""
        self._timeline = timeline
        self._process = process
        self._amd = is_amd(recording)
        self._properties = _properties(recording.metadata)
        self._ids: dict[int, int] = {}

    def device(self, ordinal: int) -> int:
        """Id of the GPU with this number in the events; -1 for a negative number."""
        if ordinal < 0:
            return -1
        found = self._ids.get(ordinal)
        if found is None:
            found = self._timeline.add_device(self._described(ordinal))
            self._ids[ordinal] = found
        return found

    def by_runtime(self, ordinals: Sequence[int]) -> dict[int, int]:
        """Ids of the GPUs that the CUDA or HIP runtime numbers so; -1 for a negative number.

        On AMD they are those of GPU events only where there is one of each. Else they are GPUs by
        another name, so that those of one never mix with those of another."""
        known = [ordinal for ordinal in ordinals if ordinal >= 0]
        if self._amd and len(known) == 1 == len(self._ids):
            ids = {known[0]: next(iter(self._ids.values()))}
        elif self._amd and known:
            self._note_two_names(known)
            ids = {ordinal: self._hip_device(ordinal) for ordinal in known}
        else:
            ids = {ordinal: self.device(ordinal) for ordinal in known}
        return {ordinal: ids.get(ordinal, -1) for ordinal in ordinals}

    def _note_two_names(self, ordinals: Sequence[int]) -> None:
        if self._ids:
            agents, devices = (", ".join(map(str, sorted(of))) for of in (self._ids, ordinals))
            text = (
                f"GPU work names agents ({agents}), memory events name HIP devices ({devices}), "
                "and the file does not tell which is which: memory is shown by HIP device."
            )
            self._timeline.notes.append((Severity.INFO, "import", text))

    def _hip_device(self, ordinal: int) -> int:
        properties = _by_id(self._properties, ordinal)
        name = str(properties.get("name") or "") or "AMD GPU (model not recorded)"
        told = self._ids  # GPUs by their agents, which these are too
        return self._timeline.add_device(
            Device(
                ordinal=min(ordinal, _LARGEST),
                name=f"{name} · HIP device {ordinal}, agent not recorded" if told else name,
                label=f"HIP {ordinal}" if told else None,
                process=self._process,
            )
        )

    def _described(self, ordinal: int) -> Device:
        properties = self._find(ordinal)
        name = str(properties.get("name") or "")
        if self._amd:
            name = f"{name or 'AMD GPU (model not recorded)'} · agent {ordinal}"
        major = _number(properties, "computeMajor", "major")
        minor = _number(properties, "computeMinor", "minor")
        return Device(
            ordinal=min(ordinal, _LARGEST),
            name=name or f"GPU {ordinal} (model not recorded)",
            process=self._process,
            sm_count=_number(properties, "numSms", "multiProcessorCount"),
            memory_bytes=_number(properties, "totalGlobalMem", most=2**62),
            compute_major=major,
            compute_minor=minor,
        )

    def _find(self, ordinal: int) -> Mapping[str, Any]:
        if not self._amd:
            return _by_id(self._properties, ordinal)
        different = {str({**p, "id": None}) for p in self._properties}
        return self._properties[0] if len(different) == 1 else {}


def _properties(metadata: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = as_list(metadata.get("deviceProperties")) or as_list(metadata.get("computeProperties"))
    return [as_object(item) for item in found]


def _by_id(properties: Sequence[Mapping[str, Any]], id_: int) -> Mapping[str, Any]:
    nothing: Mapping[str, Any] = {}
    return next((p for p in properties if p.get("id") == id_), nothing)


def _number(properties: Mapping[str, Any], *keys: str, most: int = _LARGEST) -> int | None:
    for key in keys:
        value = properties.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
    return None
