"""Writes small exports for the analyses, one call per event. Times in microseconds."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace

LAUNCH = "cudaLaunchKernel_v7000"
LASTING = (Path(str(files("dctx.demo_data"))), Path(os.environ.get("DCTX_TRACES", "/nonexistent")))
"""Folders of traces that many tests open; others are made by a test for itself."""


class Workload:
    """An export under construction. Every kernel has its launch, made where `launch` says."""

    def __init__(self, path: Path, **writer: Any) -> None:
        self.path = path
        self.export = ExportWriter(path, **writer)
        self._correlation = 0
        self._domains: dict[str, int] = {}

    def call(self, name: str, start: float, end: float, *, pid: int = 1, **values: Any) -> int:
        """A CUDA call; returns its correlation id."""
        self._correlation += 1
        row: dict[str, Any] = {
            "globalTid": global_tid(pid, values.pop("tid", pid)),
            "correlationId": self._correlation,
            "nameId": name,
            "eventClass": 0,
            **values,
        }
        self.export.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=_ns(start), end=_ns(end), **row)
        return self._correlation

    def kernel(
        self, start: float, end: float, *, device: int = 0, stream: int = 7, name: str = "gemm",
        pid: int = 1, launch: tuple[float, float] | None = None, tid: int | None = None,
        **values: Any,
    ) -> None:  # fmt: skip
        """A kernel and its launch; without `launch` the launch is not in the trace."""
        if launch is not None:
            at = {"tid": tid} if tid is not None else {}
            values["correlationId"] = self.call(LAUNCH, *launch, pid=pid, **at)
        row = {**self._place(device, stream, pid), "shortName": name, "demangledName": name}
        self.export.add(
            "CUPTI_ACTIVITY_KIND_KERNEL", start=_ns(start), end=_ns(end), **{**row, **values}
        )

    def copy(
        self, start: float, end: float, *, device: int = 0, stream: int = 7, pid: int = 1
    ) -> None:
        row = {**self._place(device, stream, pid), "bytes": 100, "copyKind": 1}
        self.export.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=_ns(start), end=_ns(end), **row)

    def replay(
        self, start: float, end: float, *, launch: tuple[float, float], graph: int = 3,
        device: int = 0, stream: int = 7, pid: int = 1,
    ) -> None:  # fmt: skip
        """A graph replay in graph mode, and its launch."""
        correlation = self.call("cudaGraphLaunch_v10000", *launch, pid=pid)
        row = {**self._place(device, stream, pid), "graphId": graph, "graphExecId": graph + 1}
        self.export.add(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=_ns(start), end=_ns(end),
            correlationId=correlation, **row,
        )  # fmt: skip

    def range(
        self, text: str, start: float, end: float | None, *, pid: int = 1, tid: int | None = None,
        domain: str | None = None, inline: bool = True,
    ) -> None:  # fmt: skip
        """A push-pop range, with its text inline or registered."""
        thread = global_tid(pid, pid if tid is None else tid)
        row: dict[str, Any] = {"eventType": 59, "globalTid": thread, "domainId": 0}
        if domain is not None:
            row["domainId"] = self._domain(domain, thread)
        row["text" if inline else "textId"] = text
        ended = None if end is None else _ns(end)
        self.export.add("NVTX_EVENTS", start=_ns(start), end=ended, **row)

    def _domain(self, name: str, thread: int) -> int:
        if name not in self._domains:
            self._domains[name] = 1 + len(self._domains)
            self.export.add(
                "NVTX_EVENTS", start=0, end=None, eventType=75, text=name, globalTid=thread,
                domainId=self._domains[name],
            )  # fmt: skip
        return self._domains[name]

    def overhead(self, kind: int, start: float, end: float, *, pid: int = 1) -> None:
        """Profiler overhead: 6 module loading, 7 lazy loading, 8 command buffer full."""
        self.export.add(
            "CUPTI_ACTIVITY_KIND_OVERHEAD", start=_ns(start), end=_ns(end), eventClass=103,
            globalTid=global_tid(pid, pid), overheadType=kind,
        )  # fmt: skip

    def system(self, name: str, start: float, end: float, *, pid: int = 1) -> None:
        self.export.add(
            "OSRT_API", start=_ns(start), end=_ns(end), eventClass=27, nameId=name,
            globalTid=global_tid(pid, pid), returnValue=0, callchainId=0,
        )  # fmt: skip

    @staticmethod
    def _place(device: int, stream: int, pid: int) -> dict[str, Any]:
        return {
            "deviceId": device, "contextId": 1, "streamId": stream, "globalPid": global_pid(pid)
        }  # fmt: skip

    @contextmanager
    def opened(self) -> Generator[Trace]:
        self.export.close()
        with opened(self.path) as trace:
            yield trace


@contextmanager
def opened(path: Path) -> Generator[Trace]:
    """A trace file, open for questions. What is opened once only is not worth a file."""
    store = open_trace(path, cache=any(path.is_relative_to(folder) for folder in LASTING))
    try:
        yield Trace(store)
    finally:
        store.close()


def _ns(microseconds: float) -> int:
    return round(microseconds * 1000)
