"""One rank of the PyTorch GPU demo: what its threads call, and what its GPU runs for it."""

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .torch_events import LATENCY_NS, LAUNCH_NS, Kernel, Memory, Recording, Stream, Thread
from .torch_layers import (
    ADAMW,
    ALL_REDUCE,
    ATTENTION,
    BLOCKS,
    DOWN,
    EMBEDDING,
    GELU,
    HEAD_BACKWARD_GRAPH,
    HEAD_GRAPH,
    NORM,
    OUT,
    QKV,
    UP,
    Layer,
)

RANKS = 2
LOADER_NS = (1_400_000, 3_600_000)
"""The second rank's data loader is slow: the first waits for it in the first all-reduce."""
TRANSFER_NS = 420_000
BUCKET_ELEMENTS = 12_582_912
_BUCKET_OPERATORS = 10
"""Backward operators after which a bucket of gradients is full."""
COMPUTE, COMMUNICATION = 7, 20
PARAMETER_BYTES = 405 << 20
_GRAPHS = {"forward": 3, "backward": 4}
_LOGICAL_THREAD = 1
_SAVED_BY_HEAD = 512 << 20


@dataclass
class Saved:
    """A forward operation that waits for its backward one."""

    layer: Layer
    module: tuple[str, ...]
    sequence: int
    start: int
    address: int


@dataclass
class Seen:
    """What was planted, counted as it was made."""

    gpu_ns: Counter[str] = field(default_factory=Counter[str])
    """Kernel time below each module, forward and backward."""
    kernels: Counter[str] = field(default_factory=Counter[str])
    compute: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    communication: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    copies: int = 0
    from_graphs: int = 0
    unlinked: int = 0
    backwards: int = 0


class Rank:
    """Plays the steps of one rank, and keeps what it did."""

    def __init__(self, index: int, begin: int) -> None:
        self.index = index
        self.begin = begin
        self.out = Recording(pid=4_200 + index)
        self.main = Thread(self.out, self.out.pid, begin)
        self.autograd = Thread(self.out, self.out.pid + 60, begin)
        self.compute = Stream(index, COMPUTE, begin)
        self.communication = Stream(index, COMMUNICATION, begin)
        self.memory = Memory(index, PARAMETER_BYTES)
        self.seen = Seen()
        self._random = Random(f"torch ddp/{index}")
        self._modules: list[str] = []
        self._module_ids: dict[str, int] = {}
        self._saved: list[Saved] = []

    def step(self, number: int) -> Generator[list[int], list[tuple[int, int]], None]:
        """One training step. Yields when each bucket is ready to be reduced; is sent from when to
        when it was."""
        main = self.main
        with (
            main.python("train.py(71): main"),
            main.op(f"ProfilerStep#{number}", "user_annotation") as external,
        ):
            first = len(self.seen.compute)
            self._load()
            with main.python("train.py(48): train_step"):
                self._forward()
                spans = yield from self._backward()
                self.communication.free_ns = spans[-1][1]
                self.compute.free_ns = max(self.compute.free_ns, spans[-1][1])
                self._optimize()
                self._wait_for_loss()
        self._span(external, f"ProfilerStep#{number}", self.compute, self.seen.compute[first:])

    def finish(self) -> None:
        """The recording's window and the names of its lanes."""
        out, device = self.out, self.index
        out.metadata("process_name", out.pid, 0, name="python")
        out.metadata("process_labels", out.pid, 0, labels="CPU")
        out.metadata("thread_name", out.pid, self.main.tid, name="thread (python)")
        out.metadata("thread_name", out.pid, self.autograd.tid, name="thread (pt_autograd_0)")
        out.metadata("process_name", device, 0, name="python")
        out.metadata("process_labels", device, 0, labels=f"GPU {device}")
        for stream in (self.compute, self.communication):
            name = f"stream {stream.number} "
            out.metadata("thread_name", device, stream.number, name=name)
        out.window(self.begin - 1_000_000, self.main.now + 1_000_000)

    def leftover(self) -> None:
        """A kernel that was launched before the recording began."""
        start = self.begin + 40_000
        self._kernel(GELU.kernel, self.compute, start, self.out.number("correlation", 5_000), ())
        self.compute.free_ns = start + GELU.kernel.ns
        self.seen.unlinked += 1

    # Phases ---------------------------------------------------------------------------------

    def _load(self) -> None:
        main = self.main
        with main.python("torch/utils/data/dataloader.py(733): __next__"):
            annotation = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
            with main.op(annotation, "user_annotation"):
                main.now += LOADER_NS[self.index] + self._random.randrange(0, 40_000)
        with (
            main.python("<built-in method to of Tensor object>"),
            main.op("aten::to"),
            main.op("aten::_to_copy"),
            main.op("aten::copy_"),
        ):
            self._copy("Memcpy HtoD (Pinned -> Device)", 65_536, 4_200)

    def _forward(self) -> None:
        main = self.main
        with (
            self._module("DistributedDataParallel", 0),
            self._module("Transformer", 0),
            main.python("model.py(88): forward"),
        ):
            with self._module("Embedding", 0):
                self._run(EMBEDDING)
            for block in range(BLOCKS):
                with self._module("Block", block), main.python("model.py(60): forward"):
                    self._block(block)
            with self._module("GraphedHead", 0):
                self._head()

    def _block(self, block: int) -> None:
        with self._module("LayerNorm", 2 * block):
            self._run(NORM)
        with self._module("Attention", block), self.main.python("model.py(27): forward"):
            with self._module("Linear", 4 * block):
                self._run(QKV)
            self._run(ATTENTION)
            with self._module("Linear", 4 * block + 1):
                self._run(OUT)
        with self._module("LayerNorm", 2 * block + 1):
            self._run(NORM)
        with self._module("MLP", block), self.main.python("model.py(44): forward"):
            with self._module("Linear", 4 * block + 2):
                self._run(UP)
            with self._module("GELU", block):
                self._run(GELU)
            with self._module("Linear", 4 * block + 3):
                self._run(DOWN)

    def _head(self) -> None:
        main = self.main
        with main.python("torch/cuda/graphs.py(541): functionalized"):
            sequence = self.out.number("sequence", 100)
            start = main.now
            with main.op("Graphed", **_numbered(sequence, 0)):
                address = main.allocate(self.memory, _SAVED_BY_HEAD)
                with main.python("<built-in method replay of CUDAGraph object>"):
                    self._replay(main, HEAD_GRAPH, "forward", self._modules)
        layer = Layer("", "", (), HEAD_GRAPH[0], "GraphedBackward", (), (), ())
        self._saved.append(Saved(layer, tuple(self._modules), sequence, start, address))

    def _backward(self) -> Generator[list[int], list[tuple[int, int]], list[tuple[int, int]]]:
        main, autograd = self.main, self.autograd
        pending: list[tuple[int, int, int]] = []
        with (
            main.python("torch/_tensor.py(630): backward"),
            main.python("<built-in method run_backward of torch._C._EngineBase object>"),
        ):
            autograd.now = main.now + 21_000
            for number, saved in enumerate(reversed(self._saved)):
                self._backward_of(saved)
                full = (number + 1) % _BUCKET_OPERATORS == 0
                if full or number == len(self._saved) - 1:
                    pending.append(self._reduce(len(pending)))
            self._saved.clear()
            main.now = autograd.now + 9_000
        spans = yield [ready for ready, _, _ in pending]
        for bucket, span in enumerate(spans):
            _, correlation, external = pending[bucket]
            self._reduced(bucket, correlation, external, span)
        return spans

    def _backward_of(self, saved: Saved) -> None:
        thread, node = self.autograd, saved.layer.node
        numbered = _numbered(saved.sequence, _LOGICAL_THREAD)
        flow, start = self.out.number("flow"), thread.now
        self.out.flow("fwdbwd", "s", flow, self.out.pid, self.main.tid, saved.start)
        with thread.op(f"autograd::engine::evaluate_function: {node}", **numbered):
            self.out.flow("fwdbwd", "f", flow, self.out.pid, thread.tid, start)
            self.seen.backwards += 2
            with thread.op(node, **numbered):
                gradient = thread.allocate(self.memory, max(saved.layer.out_bytes, 1 << 20))
                if saved.layer.backward:
                    for name, kernel, dims in saved.layer.backward:
                        with thread.op(name, **_shapes(dims)):
                            self._launch(thread, kernel, saved.module)
                else:
                    self._replay(thread, HEAD_BACKWARD_GRAPH, "backward", saved.module)
            thread.release(self.memory, saved.address)
            thread.release(self.memory, gradient)

    def _reduce(self, bucket: int) -> tuple[int, int, int]:
        """Launch the all-reduce of a bucket: when it is ready, its correlation id, its owner."""
        thread = self.autograd
        args = _collective(bucket)
        with (
            thread.op("nccl:all_reduce", "user_annotation") as external,
            thread.op("record_param_comms", **args),
        ):
            thread.now += 12_000
            correlation = thread.call("cudaLaunchKernelExC", 430, LAUNCH_NS + 3_000, flow=True)
        return max(thread.now + LATENCY_NS, self.compute.free_ns), correlation, external

    def _reduced(self, bucket: int, correlation: int, external: int, span: tuple[int, int]) -> None:
        stream = self.communication
        kernel = Kernel(ALL_REDUCE.name, span[1] - span[0], ALL_REDUCE.grid, ALL_REDUCE.block, 96)
        args = _collective(bucket)
        self._kernel(kernel, stream, span[0], correlation, (), args)
        self.out.flow("ac2g", "f", correlation, stream.device, stream.number, span[0])
        self.seen.communication.append(span)
        self._span(external, "nccl:all_reduce", stream, [span])

    def _optimize(self) -> None:
        main = self.main
        with (
            main.python("torch/optim/optimizer.py(493): wrapper"),
            main.op("Optimizer.step#AdamW.step", "user_annotation"),
            main.python("torch/optim/adamw.py(42): step"),
            main.op("aten::_fused_adamw_"),
        ):
            for _ in range(3):
                self._launch(main, ADAMW, ())
        with (
            main.python("torch/optim/optimizer.py(969): zero_grad"),
            main.op("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation"),
        ):
            main.now += 31_000

    def _wait_for_loss(self) -> None:
        main = self.main
        with (
            main.python("<built-in method item of Tensor object>"),
            main.op("aten::item"),
            main.op("aten::_local_scalar_dense"),
        ):
            self._copy("Memcpy DtoH (Device -> Pinned)", 4, 1_700)
            length = max(0, self.compute.free_ns - main.now) + 4_000
            main.call("cudaStreamSynchronize", 131, length)

    # What they are made of ------------------------------------------------------------------

    @contextmanager
    def _module(self, kind: str, number: int) -> Generator[None]:
        name = f"{kind}_{number}"
        self._modules.append(name)
        identity = self._module_ids.setdefault(name, len(self._module_ids))
        with self.main.python(f"nn.Module: {name}", identity):
            yield
        self._modules.pop()

    def _run(self, layer: Layer) -> None:
        main, sequence = self.main, self.out.number("sequence", 100)
        with main.python(layer.file), main.python(layer.function):
            start = main.now
            with main.op(layer.ops[0], **_numbered(sequence, 0), **_shapes(layer.dims)):
                address = self._inner(layer, layer.ops[1:])
        self._saved.append(Saved(layer, tuple(self._modules), sequence, start, address))

    def _inner(self, layer: Layer, ops: Sequence[str]) -> int:
        if ops:
            innermost = layer.inner if len(ops) == 1 else None
            with self.main.op(ops[0], **_shapes(innermost or layer.dims)):
                return self._inner(layer, ops[1:])
        address = self.main.allocate(self.memory, layer.out_bytes)
        self._launch(self.main, layer.kernel, self._modules)
        return address

    def _launch(self, thread: Thread, kernel: Kernel, modules: Sequence[str]) -> None:
        length = LAUNCH_NS + self._random.randrange(0, 1_500)
        correlation = thread.call("cudaLaunchKernel", 211, length, flow=True)
        start = max(thread.now + LATENCY_NS, self.compute.free_ns + 900)
        varied = kernel.ns + self._random.randrange(0, kernel.ns // 16)
        timed = Kernel(
            kernel.name, varied, kernel.grid, kernel.block, kernel.registers, kernel.shared
        )
        external = {"External id": thread.external()}
        self._kernel(timed, self.compute, start, correlation, modules, external)
        self.out.flow("ac2g", "f", correlation, self.index, COMPUTE, start)
        self.compute.free_ns = start + varied

    def _replay(
        self, thread: Thread, kernels: Sequence[Kernel], graph: str, modules: Sequence[str]
    ) -> None:
        correlation = thread.call("cudaGraphLaunch", 311, 46_000, flow=True)
        start = max(thread.now + LATENCY_NS, self.compute.free_ns + 900)
        self.out.flow("ac2g", "f", correlation, self.index, COMPUTE, start)
        for node, kernel in enumerate(kernels):
            ids = {"graph id": _GRAPHS[graph], "graph node id": _GRAPHS[graph] * 1_000 + node}
            self._kernel(kernel, self.compute, start, correlation, modules, ids)
            self.seen.from_graphs += 1
            start += kernel.ns + 600
        self.compute.free_ns = start - 600

    def _kernel(
        self,
        kernel: Kernel,
        stream: Stream,
        start: int,
        correlation: int,
        modules: Sequence[str],
        more: dict[str, Any] | None = None,
    ) -> None:
        args = {
            "queued": 0, "device": stream.device, "context": 1, "stream": stream.number,
            "correlation": correlation, **kernel.args(), **(more or {}),
        }  # fmt: skip
        end = start + kernel.ns
        self.out.complete("kernel", kernel.name, stream.device, stream.number, start, end, args)
        for module in modules:
            self.seen.gpu_ns[module] += kernel.ns
            self.seen.kernels[module] += 1
        if stream is self.compute:
            self.seen.compute.append((start, end))

    def _copy(self, name: str, size: int, ns: int) -> None:
        correlation = self.main.call("cudaMemcpyAsync", 41, 7_400, flow=True)
        stream = self.compute
        start = max(self.main.now + LATENCY_NS, stream.free_ns + 900)
        args = {
            "External id": self.main.external(), "device": stream.device, "context": 1,
            "stream": stream.number, "correlation": correlation, "bytes": size,
            "memory bandwidth (GB/s)": size / ns,
        }  # fmt: skip
        self.out.complete("gpu_memcpy", name, stream.device, stream.number, start, start + ns, args)
        self.out.flow("ac2g", "f", correlation, stream.device, stream.number, start)
        stream.free_ns = start + ns
        self.seen.copies += 1

    def _span(
        self, external: int, name: str, stream: Stream, inside: Sequence[tuple[int, int]]
    ) -> None:
        """An annotation as the GPU saw it: from its first kernel to its last."""
        start, end = min(s for s, _ in inside), max(e for _, e in inside)
        args = {"External id": external}
        self.out.complete(
            "gpu_user_annotation", name, stream.device, stream.number, start, end, args
        )


def _numbered(sequence: int, thread: int) -> dict[str, Any]:
    return {"Sequence number": sequence, "Fwd thread id": thread}


def _shapes(dims: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    return {
        "Input Dims": [list(shape) for shape in dims],
        "Input type": ["c10::BFloat16" if shape else "" for shape in dims],
    }


def _collective(bucket: int) -> dict[str, Any]:
    elements = BUCKET_ELEMENTS + bucket * 1_048_576
    return {
        "Collective name": "allreduce", "In msg nelems": elements, "Out msg nelems": elements,
        "Group size": RANKS, "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]",
        "Process Group Name": "0", "Process Group Description": "default_pg",
        "Process Group Ranks": str(list(range(RANKS))),
    }  # fmt: skip
