"""The GPUs that CSV files of rocprofv3 name.

Agents are named by a number that counts all agents of the machine, or by their kind and a number
among those of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from ..arrays import I32, NULL64
from ..owners import Device
from .csv_rows import CsvRows

_AGENT: Final = re.compile(r"(.*?)[ _-]?(\d{1,6})$")


class Agents:
    """GPUs by what the tables call them."""

    def __init__(self, infos: Sequence[CsvRows], dispatches: Sequence[CsvRows]) -> None:
        self.devices: list[tuple[int, Device]] = []
        self._by_kind: dict[tuple[str, int], int] = {}
        nodes: dict[int, int] = {}
        logical: dict[int, int] = {}
        for rows in infos:
            for number, (node, index, units, clock, name) in enumerate(_gpus(rows)):
                nodes[node], logical[index] = len(self.devices), len(self.devices)
                self._by_kind["gpu", number] = len(self.devices)
                device = Device(number, name, gpu_id=node, sm_count=units, clock_hz=clock)
                self.devices.append((node, device))
        used = {number for rows in dispatches for number in self._numbers(rows)}
        # By default agents are numbered without gaps; with an option as the system does.
        self._by_number = nodes if used <= nodes.keys() and not used <= logical.keys() else logical
        self._known = bool(infos)

    @staticmethod
    def _numbers(rows: CsvRows) -> Iterable[int]:
        found = (_AGENT.fullmatch(text) for text in rows.texts("agent_id")[0])
        return (int(match[2]) for match in found if match and match[1].lower() in ("agent", ""))

    def device(self, rows: CsvRows, column: str) -> I32:
        """Row of each agent's GPU among the devices; -1 where it is none, or not told."""
        texts, index = rows.texts(column)
        gpus = column == "agent_id" and rows.table != "memory_allocation_trace"
        found = [self._row(text, gpus) for text in texts]
        return np.array([*found, -1], np.int32)[index]

    def _row(self, text: str, gpu: bool) -> int:
        match = _AGENT.fullmatch(text)
        if match is None:
            return -1
        kind, number = match[1].lower(), int(match[2])
        if kind in ("gpu", "cpu"):
            return self._by_kind.get((kind, number), -1)
        if number not in self._by_number and gpu:
            # Kernels ran there, so it is one.
            name = f"GPU (agent {number}, model not recorded)"
            self._by_number[number] = len(self.devices)
            self.devices.append((number, Device(number, name, gpu_id=number)))
        return self._by_number.get(number, -1)


def _gpus(rows: CsvRows) -> Iterable[tuple[int, int, int | None, int | None, str]]:
    """Node, number among all agents, compute units, clock and name of each GPU."""
    columns = ("node_id", "logical_node_id", "cu_count", "max_engine_clk_fcompute")
    numbers = zip(*(rows.i64(name).tolist() for name in columns), strict=True)
    texts = zip(*map(rows.each, ("agent_type", "product_name", "name")), strict=True)
    for (node, index, units, clock), (kind, product, name) in zip(numbers, texts, strict=True):
        if kind.upper() != "GPU" or not 0 <= node < 2**31:
            continue
        yield (
            node,
            index if index != NULL64 else node,
            units if 0 < units < 2**31 else None,
            clock * 10**6 if 0 < clock < 10**6 else None,
            product or name or f"GPU (agent {node}, model not recorded)",
        )
