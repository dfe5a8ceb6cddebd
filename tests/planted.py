"""Small programs on a GPU with something planted in them, as PyTorch records them.

Times are microseconds. A launch takes 5; its kernel starts 5 after it at the earliest, and when
what the stream did before is done.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dctx.analyzers.finding_limits import default_finding_limits
from dctx.analyzers.findings import Finding
from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.prescribe.table import ANALYZERS
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from tests.kineto_files import STREAM, Event, call, device, event, gpu, op, python, write_json

LAUNCH, LATENCY = 5, 5
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"
SOFTMAX = "void at::native::softmax_warp_forward<float, float, float, 5, false, false>"
COPY = "void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda>"
GEMM = "ampere_sgemm_128x64_tn"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Program:
    """One thread that launches on one device."""

    def __init__(self, name: str = "NVIDIA H100 80GB HBM3") -> None:
        self.events: list[Event] = []
        self.now = 100
        self.name = name
        self._free: dict[tuple[int, int], int] = {}
        self._correlation = 0

    @contextmanager
    def within(self, make: Any, name: str, **values: Any) -> Generator[None]:
        """A context around what is done inside; `make`: op, python or annotation."""
        at = len(self.events)
        begin = self.now
        self.now += 1
        yield
        self.now += 1
        self.events.insert(at, make(name, begin, self.now - begin, **values))

    def work(self, us: int) -> None:
        """The host works."""
        self.now += us

    def launch(
        self, name: str, us: int, *, on: int = 0, stream: int = STREAM, cat: str = "kernel"
    ) -> None:
        """Launch a kernel that runs for so long, or start a copy."""
        self._correlation += 1
        called = "cudaLaunchKernel" if cat == "kernel" else "cudaMemcpyAsync"
        self.events.append(call(called, self.now, LAUNCH, self._correlation))
        self.now += LAUNCH
        start = max(self.now + LATENCY, self._free.get((on, stream), 0))
        self._free[on, stream] = start + us
        own = {"device": on, "stream": stream}
        self.events.append(gpu(cat, name, start, us, self._correlation, **own))

    def api(self, name: str, us: int) -> None:
        """A call of the runtime."""
        self._correlation += 1
        self.events.append(call(name, self.now, us, self._correlation))
        self.now += us

    def wait(self, name: str = "cudaStreamSynchronize", late: int = 0) -> None:
        """Wait for all work, and return so much later than it ends."""
        self.api(name, max(0, max(self._free.values(), default=self.now) - self.now) + late)

    def write(self, folder: Path) -> Path:
        """The trace file."""
        properties = [dict(device(id=i, name=self.name, computeMajor=9)) for i in range(2)]
        return write_json(folder / "planted.json", self.events, deviceProperties=properties)

    def facts(self, folder: Path) -> Facts:
        """What analyzers ask."""
        return Facts(Trace(open_trace(self.write(folder), cache=False)))


def annotation(name: str, ts: float, dur: float) -> Event:
    """A range."""
    return event("user_annotation", name, ts, dur)


def found(facts: Facts, key: str, **changed: float) -> Finding | None:
    """What one analyzer finds under the default conditions, some of them changed."""
    [analyzer] = [one for one in ANALYZERS if one.id == key]
    findings = analyzer.run(facts, {**default_finding_limits()[key], **changed})
    assert all(finding.id == key for finding in findings)
    assert len(findings) <= 1
    return findings[0] if findings else None


def gain_us(finding: Finding | None) -> float:
    """What it may gain."""
    assert finding is not None
    assert finding.gain is not None
    return finding.gain.ns / 1000


def places(facts: Facts, finding: Finding | None) -> list[str]:
    """Names of the contexts that its evidence leads to."""
    assert finding is not None
    nodes = [row.node for row in finding.evidence if row.node is not None]
    return [facts.full.name(node) for node in nodes]


__all__ = ["Program", "annotation", "found", "gain_us", "op", "places", "python"]
