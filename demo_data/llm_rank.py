"""Plays one rank of the LLM demo: what its threads call, and what its GPU runs when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from .llm_kernels import ALL_REDUCE, CONTEXT, GRAPH, JIT, Kernel
from .llm_recipe import (
    FINISH,
    GREEDY,
    PREPARE_INPUTS,
    PREPARE_RESOURCES,
    PROCESS,
    RANKS,
    RESPONSES,
    SAMPLE,
    UPDATE,
    StepPlan,
    Variant,
)
from .nsys_export import global_pid, global_tid

GraphMode = Literal["node", "graph"]
Launched = tuple[Sequence[Kernel], Sequence[Kernel], Kernel]

FIRST_PID = 101
VM = 0
"""With small process ids it keeps the thread keys short, which a third of the file would be."""
STREAM = 7
H2D, D2H = 1, 2
RUNTIME, DRIVER, OS_RUNTIME, CUDA_OVERHEAD = 0, 1, 27, 103
JIT_KERNELS = 1_500
PAUSE_NS = 120_000_000
GRAPH_BEFORE_END_NS = 172_000
"""The graph is launched this long before the step ends, the sampling kernels after it."""
GRAPH_CALL_NS = 24_300
_LATENCY_NS = 6_200
_WEIGHT_CHUNKS = 24
_WEIGHT_BYTES = 33_554_432


@dataclass(frozen=True, slots=True)
class Range:
    """A push-pop range. Step texts are not registered, the other ones are."""

    start: int
    end: int
    text: str
    tid: int
    registered: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    start: int
    end: int
    kind: int
    tid: int
    correlation: int
    name: str
    site: str


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel that ran."""

    start: int
    end: int
    kernel: Kernel
    correlation: int
    graph_node: int | None


@dataclass(frozen=True, slots=True)
class Copy:
    start: int
    end: int
    correlation: int
    bytes: int
    kind: int


@dataclass(slots=True)
class Recording:
    """What a profiler would have seen of one rank."""

    ranges: list[Range] = field(default_factory=list[Range])
    calls: list[Call] = field(default_factory=list[Call])
    kernels: list[Launch] = field(default_factory=list[Launch])
    copies: list[Copy] = field(default_factory=list[Copy])
    memsets: list[tuple[int, int, int, int]] = field(
        default_factory=list[tuple[int, int, int, int]]
    )
    replays: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    waits: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    nodes: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    loading: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    system: list[tuple[int, int, int, str]] = field(default_factory=list[tuple[int, int, int, str]])
    allocations: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])


def replay_times(number: int, offsets: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Start and end of every graph node on every rank, from the first rank's start.

    A one-shot all-reduce ends when the last rank has arrived. The times depend on the step
    number alone, so the graph costs the same in both variants.
    """
    random = Random(f"graph/{number}")
    clocks = list(offsets)
    times: list[list[tuple[int, int]]] = [[] for _ in offsets]
    for kernel in GRAPH:
        starts = [clock + 700 + random.randrange(500) for clock in clocks]
        if kernel is ALL_REDUCE:
            done = max(starts) + 3_400 + random.randrange(900)
            ends = [done + random.randrange(120) for _ in starts]
        else:
            ends = [
                start + round(kernel.typical_ns * (0.97 + 0.06 * random.random()))
                for start in starts
            ]
        for rank, span in enumerate(zip(starts, ends, strict=True)):
            times[rank].append(span)
        clocks = ends
    return times


class Rank:
    """One process with a step thread and a response thread, and one GPU with one stream.

    `offset_ns` is how far the ranks run behind each other.
    """

    def __init__(
        self, variant: Variant, index: int, offset_ns: int, launched: Launched, mode: GraphMode
    ) -> None:
        self.index = index
        self.pid = FIRST_PID + index
        self.key = global_pid(self.pid, vm=VM)
        self.main = global_tid(self.pid, self.pid, vm=VM)
        self.side = global_tid(self.pid, self.pid + 60, vm=VM)
        self.loader = global_tid(self.pid, self.pid + 20, vm=VM)
        self.seen = Recording()
        self._offsets = [offset_ns * rank for rank in range(RANKS)]
        self._launched = launched
        self._mode = mode
        self._random = Random(f"{variant.label}/rank/{index}")
        self._gap_ops = variant.gap_ops
        self._correlation = 100
        self._gpu_free = 0

    # -------------------------------------------------------------- pieces --

    def _jitter(self, value: int, share: float = 0.08) -> int:
        return round(value * (1 - share + 2 * share * self._random.random()))

    def _call(
        self, name: str, start: int, length: int, site: str = "", *, kind: int = RUNTIME
    ) -> int:
        self._correlation += 1
        self.seen.calls.append(
            Call(start, start + length, kind, self.main, self._correlation, name, site)
        )
        return self._correlation

    def _range(self, text: str, start: int, end: int, tid: int | None = None) -> None:
        self.seen.ranges.append(Range(start, end, text, self.main if tid is None else tid))

    def _place(self, ready: int, length: int) -> tuple[int, int]:
        """Next free time on the stream."""
        start = max(ready + _LATENCY_NS, self._gpu_free + 650 + self._random.randrange(700))
        self._gpu_free = start + length
        return start, start + length

    def _launch(self, api: str, kernel: Kernel, start: int, call_ns: int, gpu_ns: int) -> None:
        correlation = self._call(api, start, call_ns, kernel.site)
        begin, end = self._place(start + call_ns - 1_500, gpu_ns)
        self.seen.kernels.append(Launch(begin, end, kernel, correlation, None))

    def _copy(self, start: int, call_ns: int, size: int, kind: int, site: str) -> None:
        correlation = self._call("cudaMemcpyAsync_v3020", start, call_ns, site)
        length = 900 + self._jitter(round(size / 24), 0.03)  # 24 bytes per ns: 24 GB/s
        begin, end = self._place(start + call_ns - 1_500, length)
        self.seen.copies.append(Copy(begin, end, correlation, size, kind))

    # --------------------------------------------------------- before steps --

    def start_up(self, now: int) -> int:
        """Load the model, tune kernels, capture the graph, and rest. Returns the first step's
        start."""
        now += self._offsets[self.index]
        loaded = self._load(now)
        tuned = self._tune(loaded + 8_000_000)
        # What follows must be in step on all ranks, whatever loading took.
        captured = self._capture(max(tuned, now + 290_000_000))
        assert captured < now + 296_000_000
        return now + 296_000_000 + PAUSE_NS

    def _load(self, now: int) -> int:
        seen = self.seen
        start = now
        now += 1_500_000
        for number in range(6):
            length = self._jitter(7_400_000)
            self._call("cuLibraryLoadData", now, length, kind=DRIVER)
            seen.loading.append((now + 40_000, now + length - 30_000, self._correlation))
            now += length + self._jitter(300_000)
            seen.system.append((now, now + 42_000, self.main, "openat"))
            now += 60_000 + number
        weights = now
        for _ in range(_WEIGHT_CHUNKS):
            allocate = self._jitter(210_000)
            self._call("cudaMalloc_v3020", now, allocate)
            seen.allocations.append((now + allocate, _WEIGHT_BYTES, self._correlation))
            now += allocate + 8_000
            read = self._jitter(2_600_000)
            seen.system.append((now, now + read, self.loader, "read"))
            now += read + 12_000
            self._copy(now, self._jitter(9_000), _WEIGHT_BYTES, H2D, "")
            now += self._jitter(1_600_000)
        self._range("load_weights", weights, now)
        cache = now + 50_000
        allocate = 1_900_000
        self._call("cudaMalloc_v3020", cache, allocate)
        seen.allocations.append((cache + allocate, 48 << 30, self._correlation))
        clear = cache + allocate + 20_000
        correlation = self._call("cudaMemsetAsync_v3020", clear, 11_000)
        begin, end = self._place(clear + 9_000, 14_200_000)
        seen.memsets.append((begin, end, correlation, 48 << 30))
        self._range("init_kv_cache", cache - 10_000, clear + 30_000)
        wait = clear + 40_000
        correlation = self._call("cudaDeviceSynchronize_v3020", wait, end + 9_000 - wait)
        seen.waits.append((wait, end + 2_000, correlation, 4))
        self._range("load_model", start, end + 40_000)
        return end + 40_000

    def _tune(self, now: int) -> int:
        """The compiler tries its kernels: a dense burst that is no inference."""
        start = now
        batch_start = now
        for number in range(JIT_KERNELS):
            kernel = JIT[number // 50 % len(JIT)]
            call = self._jitter(3_300, 0.2)
            self._launch("cuLaunchKernelEx", kernel, now, call, self._jitter(kernel.typical_ns))
            now += call + self._jitter(5_200, 0.3)
            if number % 50 == 49:
                self._range(f"autotune: {kernel.short}", batch_start, now)
                now += 90_000
                batch_start = now
        self._range("torch_compile_warmup", start - 20_000, now)
        return now

    def _capture(self, now: int) -> int:
        start = now
        self._call("cudaStreamBeginCapture_v10000", now + 5_000, 7_000, "graph")
        now += 20_000
        for node, kernel in enumerate(GRAPH, 1):
            call = self._jitter(3_900, 0.2)
            self._call("cudaLaunchKernelExC_v11060", now, call, kernel.site)
            self.seen.nodes.append((now + 900, now + 2_400, node))
            now += call + self._jitter(38_000)
        self._call("cudaStreamEndCapture_v10000", now, 31_000, "graph")
        self._call("cudaGraphInstantiate_v12000", now + 45_000, 1_120_000, "graph")
        now += 1_200_000
        self._range("capture_cuda_graph", start, now)
        return now

    # ---------------------------------------------------------------- steps --

    def step(self, plan: StepPlan, start: int) -> int:
        """Play one step and the gap after it. Returns the start of the next step."""
        end = start + plan.duration_ns
        self.seen.ranges.append(Range(start, end, plan.text, self.main, registered=False))
        now = start + 2_500
        for name in (PREPARE_RESOURCES, PREPARE_INPUTS):
            length = plan.ops_ns[name]
            self._range(name, now, now + length)
            now += length + 1_200
        inputs = now - 1_200
        self._copy(inputs - 19_000, 6_900, 72_192, H2D, "inputs")
        if plan.context:
            self._eager(now, end)
        else:
            self._replay(plan, now, end)
        following = end + plan.gap_ns
        self._gap(plan, end, following)
        self._side_thread(plan, start, following)
        return following

    def _eager(self, now: int, end: int) -> None:
        room = end - 60_000 - now
        spacing = room // len(CONTEXT)
        for position, kernel in enumerate(CONTEXT):
            at = now + position * spacing + self._random.randrange(spacing // 3)
            gpu = self._jitter(kernel.typical_ns)
            self._launch("cudaLaunchKernelExC_v11060", kernel, at, self._jitter(4_100, 0.2), gpu)

    def _replay(self, plan: StepPlan, now: int, end: int) -> None:
        before, after, optional = self._launched
        extra = plan.launches - len(before) - len(after)
        first = [*before, *[optional] * extra]
        calls = self._shares([1] * plan.launches, plan.launch_api_ns)
        spans = self._shares(
            [kernel.typical_ns for kernel in (*first, *after)], plan.launched_gpu_ns
        )
        replay = end - GRAPH_BEFORE_END_NS
        self._launches(first, calls, spans, now, replay - 12_000)
        correlation = self._call("cudaGraphLaunch_v10000", replay, GRAPH_CALL_NS, "graph")
        self._graph(plan.number, replay + GRAPH_CALL_NS, correlation)
        skip = len(first)
        self._launches(after, calls[skip:], spans[skip:], replay + GRAPH_CALL_NS + 2_500, end - 900)

    def _launches(
        self, kernels: Sequence[Kernel], calls: list[int], spans: list[int], now: int, end: int
    ) -> None:
        spare = (end - now - sum(calls[: len(kernels)])) // len(kernels)
        assert spare > 0
        for kernel, call, span in zip(kernels, calls, spans, strict=False):
            self._launch("cudaLaunchKernel_v7000", kernel, now, call, span)
            now += call + min(spare, 9_000)

    def _shares(self, weights: Sequence[int], total: int) -> list[int]:
        """Split a total by weight, a little unevenly, exactly."""
        uneven = [weight * (0.92 + 0.16 * self._random.random()) for weight in weights]
        parts = [int(total * weight / sum(uneven)) for weight in uneven]
        parts[-1] += total - sum(parts)
        return parts

    def _graph(self, number: int, launched: int, correlation: int) -> None:
        ready = launched + 5_000 - self._offsets[self.index]
        times = replay_times(number, self._offsets)[self.index]
        assert self._gpu_free < ready + times[0][0]
        self._gpu_free = ready + times[-1][1]
        if self._mode == "graph":
            self.seen.replays.append((ready + times[0][0], self._gpu_free, correlation))
            return
        for node, (kernel, (begin, end)) in enumerate(zip(GRAPH, times, strict=True), 1):
            self.seen.kernels.append(Launch(ready + begin, ready + end, kernel, correlation, node))

    # ----------------------------------------------------------------- gaps --

    def _gap(self, plan: StepPlan, now: int, end: int) -> None:
        outer = [op for op in self._gap_ops if not op.inside]
        spare = (end - now - sum(plan.ops_ns[op.name] for op in outer)) // (len(outer) + 1)
        assert spare >= 0
        now += spare
        for op in outer:
            length = plan.ops_ns[op.name]
            self._range(op.name, now, now + length)
            if op.name == SAMPLE:
                self._sample(plan, now, length)
            elif op.name == UPDATE:
                self._update(plan, now, length)
            elif op.name == "_fetch_new_requests" and length > 20_000:
                self.seen.system.append((now + 4_000, now + length // 2, self.main, "recvmsg"))
            now += length + spare

    def _sample(self, plan: StepPlan, start: int, length: int) -> None:
        inner = plan.ops_ns.get(GREEDY, 0)
        if inner:
            self._range(GREEDY, start + 1_500, start + 1_500 + inner)
        at = start + length - 12_000
        self._copy(at, 6_000, 4_000, D2H, "tokens")
        self._call("cudaEventRecord_v3020", at + 7_000, 1_800, "tokens")

    def _update(self, plan: StepPlan, start: int, length: int) -> None:
        wait = min(16_000, length // 6)
        correlation = self._call("cudaEventSynchronize_v3020", start + 1_000, wait, "tokens")
        self.seen.waits.append((start + 1_400, start + wait, correlation, 1))
        inner = plan.ops_ns.get(FINISH, 0)
        if inner:
            self._range(FINISH, start + length - inner - 2_000, start + length - 2_000)

    def _side_thread(self, plan: StepPlan, start: int, following: int) -> None:
        now = start + 40_000
        for name in (PROCESS, RESPONSES):
            self._range(name, now, now + plan.ops_ns[name], self.side)
            now += plan.ops_ns[name] + 6_000
        assert now < following
        self.seen.system.append((now, following + 30_000, self.side, "pthread_cond_timedwait"))
