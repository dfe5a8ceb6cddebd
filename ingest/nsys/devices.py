"""Which GPU a device id means. The same ordinal may be another GPU in another process."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ..owners import Device, enter
from .identity import Identity, host_of, pid_of
from .reader import TableReader

Usage = tuple[int, int]
"""(process, CUDA ordinal); process -1 when not recorded."""


@dataclass(slots=True)
class _Gpu:
    host: int | None
    gpu_id: int
    ordinal: int | None
    metrics_id: int | None
    uuid: str | None
    name: str | None
    numbers: tuple[int | None, ...]

    def device(self, ordinal: int) -> Device:
        sm_count, clock, memory, bandwidth, major, minor = self.numbers
        return Device(
            ordinal=ordinal,
            name=self.name or f"GPU {ordinal} (model not recorded)",
            gpu_id=self.gpu_id,
            uuid=self.uuid,
            sm_count=sm_count,
            clock_hz=clock,
            memory_bytes=memory,
            bandwidth_bytes_per_s=bandwidth,
            compute_major=major,
            compute_minor=minor,
        )


_NUMBERS = (
    "smCount",
    "clockRate",
    "totalMemory",
    "memoryBandwidth",
    "computeMajor",
    "computeMinor",
)


class Devices:
    """The GPUs of a trace. `settle` first, then look up."""

    def __init__(self, reader: TableReader) -> None:
        self.items: list[Device] = []
        self._gpus = _read_gpus(reader)
        self._by_pid = _read_cuda_devices(reader)
        self._ids: dict[Usage, int] = {}
        self._metric_ids: dict[int, int] = {}

    def settle(self, usages: Iterable[Usage], identity: Identity) -> None:
        """Decide which device each (process, ordinal) is."""
        users: defaultdict[int, set[int]] = defaultdict(set)
        ordered = sorted(set(usages), key=lambda usage: (usage[1], usage[0]))
        for process, ordinal in ordered:
            users[ordinal].add(process)
        keys: dict[object, int] = {}
        for process, ordinal in ordered:
            key, device = self._decide(process, ordinal, len(users[ordinal]) > 1, identity)
            if key not in keys:
                more = Device(-1, "more GPUs", "other GPUs", assumed=True)
                keys[key] = enter(self.items, device, more)
            self._ids[process, ordinal] = keys[key]
        if not self.items:
            self.items = [
                gpu.device(index if gpu.ordinal is None else gpu.ordinal)
                for index, gpu in enumerate(self._gpus)
            ]
        by_gpu = {device.gpu_id: index for index, device in enumerate(self.items)}
        for gpu in self._gpus:
            if gpu.metrics_id is not None and gpu.gpu_id in by_gpu:
                self._metric_ids[gpu.metrics_id] = by_gpu[gpu.gpu_id]

    def _decide(
        self, process: int, ordinal: int, shared: bool, identity: Identity
    ) -> tuple[object, Device]:
        host: int | None = None
        if process >= 0:
            key = identity.processes[process].key
            host = host_of(key)
            gpu = self._physical(host, self._by_pid.get((pid_of(key), ordinal)))
            if gpu is not None:
                return ("gpu", gpu.host, gpu.gpu_id), gpu.device(ordinal)
        gpu = self._by_ordinal(host, ordinal)
        device = gpu.device(ordinal) if gpu else Device(ordinal, _unnamed(ordinal))
        if shared:
            device.process = None if process < 0 else process
            device.assumed = True
            return ("process", process, ordinal), device
        return ("ordinal", ordinal), device

    def _physical(self, host: int, link: tuple[int | None, str | None] | None) -> _Gpu | None:
        if link is None:
            return None
        gpu_id, uuid = link
        for gpu in self._gpus:
            if gpu.host not in (None, host):
                continue
            if gpu_id is not None and gpu.gpu_id == gpu_id:
                return gpu
            if gpu_id is None and uuid is not None and gpu.uuid == uuid:
                return gpu
        return None

    def _by_ordinal(self, host: int | None, ordinal: int) -> _Gpu | None:
        here = [gpu for gpu in self._gpus if host is None or gpu.host in (None, host)]
        for gpu in here:
            if gpu.ordinal == ordinal:
                return gpu
        if len(here) == 1 and here[0].ordinal is None:
            return here[0]
        return None

    def device(self, process: int, ordinal: int) -> int:
        """Dense id of a device that was settled; KeyError otherwise."""
        return self._ids[process, ordinal]

    def by_metrics_id(self, metrics_id: int) -> int | None:
        """Device of the GPU field of a GPU_METRICS typeId."""
        return self._metric_ids.get(metrics_id)


def _unnamed(ordinal: int) -> str:
    return f"GPU {ordinal} (model not recorded)"


def _read_gpus(reader: TableReader) -> list[_Gpu]:
    table = reader.find("TARGET_INFO_GPU", ("id",))
    if table is None:
        return []
    rows = reader.read(
        table,
        {
            "id": "i64",
            "vmId": "i64",
            "cuDevice": "i64",
            "pwGpuId": "i64",
            "uuid": "text",
            "name": "text",
            **dict.fromkeys(_NUMBERS, "i64"),
        },
    )
    gpus: list[_Gpu] = []
    records = rows.records("id", "vmId", "cuDevice", "pwGpuId", *_NUMBERS)
    for record, uuid, name in zip(records, rows.texts("uuid"), rows.texts("name"), strict=True):
        gpu_id, vm, ordinal, metrics_id, *numbers = record
        if gpu_id is None:
            reader.account.leave_out(table, "no_id", 1)
            continue
        host = None if vm is None else host_of(vm)
        gpus.append(_Gpu(host, gpu_id, ordinal, metrics_id, uuid, name, tuple(numbers)))
    return gpus


def _read_cuda_devices(
    reader: TableReader,
) -> dict[tuple[int, int], tuple[int | None, str | None]]:
    table = reader.find("TARGET_INFO_CUDA_DEVICE", ("cudaId", "pid", "gpuId"))
    if table is None:
        return {}
    rows = reader.read(table, {"cudaId": "i64", "pid": "i64", "gpuId": "i64", "uuid": "text"})
    links: dict[tuple[int, int], tuple[int | None, str | None]] = {}
    for (cuda_id, pid, gpu_id), uuid in zip(
        rows.records("cudaId", "pid", "gpuId"), rows.texts("uuid"), strict=True
    ):
        if cuda_id is not None and pid is not None:
            links[pid, cuda_id] = (gpu_id, uuid)
    return links
