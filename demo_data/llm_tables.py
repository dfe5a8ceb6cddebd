"""Tables of an LLM demo trace, from what its ranks did."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from random import Random

from .llm_kernels import (
    ALL_REDUCE,
    CONTEXT,
    GRAPH,
    JIT,
    LAUNCHED_MAIN,
    SAMPLE_STACKS,
    SITES,
    Frame,
    Kernel,
)
from .llm_rank import CUDA_OVERHEAD, OS_RUNTIME, RUNTIME, STREAM, VM, GraphMode, Range, Rank
from .llm_recipe import Variant
from .nsys_export import ExportWriter

UTC_START_NS = 1_767_225_600_000_000_000
_SAMPLE_PERIOD_NS = 10_000_000
_METRIC_PERIOD_NS = 20_000_000
# Columns left out, because the file would outgrow what a repository should carry.
_UNUSED = {
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "greenContextId mangledName launchType cacheConfig localMemoryPerThread localMemoryTotal"
        " gridId sharedMemoryExecuted sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone"
        " qmdLastCtaDone graphId clusterX clusterY clusterZ clusterSchedulingPolicy"
        " maxActiveClusters"
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        "greenContextId deprecatedSrcId srcDeviceId srcContextId dstDeviceId dstContextId"
        " migrationCause graphNodeId virtualAddress copyCount"
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": "returnValue",
    "NVTX_EVENTS": (
        "rangeId category color endGlobalTid uint64Value int64Value doubleValue uint32Value"
        " int32Value floatValue jsonTextId jsonText binaryData"
    ),
}
_CHAIN_LAYOUT = "id:int! symbol:str! module:str! unresolved:int stackDepth:int!"


def _header(out: ExportWriter, variant: Variant, mode: GraphMode, end_ns: int) -> None:
    for name, value in (
        ("EXPORT_PRODUCT_NAME", "SYNTHETIC (dctx.demo_data.llm_tp2)"),
        ("EXPORT_PRODUCT_VERSION", "2026.2.1"),
        ("EXPORT_SCHEMA_VERSION", "3.25.0"),
        (
            "EXPORT_NOTE",
            f"Llama 3.2 1B, two GPUs, {variant.label}. Synthetic, no run was profiled.",
        ),
    ):
        out.add("META_DATA_EXPORT", name=name, value=value)
    for name, value in (
        ("CUDA_GRAPH_TRACE_OPTIONS:MODE", mode.capitalize()),
        ("CUDA_TRACE_SCOPE", "ProcessTree"),
        ("COLLECT_GPU_MEMORY_USAGE", "true"),
    ):
        out.add("META_DATA_CAPTURE", name=name, value=value)
    out.add(
        "TARGET_INFO_SESSION_START_TIME",
        utcEpochNs=UTC_START_NS,
        utcTime="2026-01-01T00:00:00",
        localTime="2026-01-01T00:00:00",
        systemClockNs=0,
    )
    out.add("ANALYSIS_DETAILS", globalVid=VM, duration=end_ns, startTime=0, stopTime=end_ns)
    for severity, text in (
        (1, "This trace is synthetic: it was made by dctx.demo_data.llm_tp2."),
        (1, "CPU sampling period: 10 ms."),
        (2, "libtorch_cuda.so carries no debug information: its frames have no line numbers."),
    ):
        out.add(
            "DIAGNOSTIC_EVENT", timestamp=1_000_000, timestampType=1, source=1, severity=severity,
            text=text,
        )  # fmt: skip


def _machine(out: ExportWriter, ranks: Sequence[Rank]) -> None:
    for rank in ranks:
        number = rank.index
        uuid = f"GPU-00000000-0000-4000-8000-00000000000{number}"
        out.process(rank.pid, "python3", vm=VM)
        out.thread(rank.pid, rank.pid, "python3", vm=VM)
        out.thread(rank.pid, rank.pid + 20, "weight_loader", vm=VM)
        out.thread(rank.pid, rank.pid + 60, "response_loop", vm=VM)
        out.add(
            "TARGET_INFO_GPU", vmId=VM, id=number, name="NVIDIA H200",
            busLocation=f"0000:{18 + number}:00.0", isDiscrete=1, l2CacheSize=62_914_560,
            totalMemory=150_754_820_096, memoryBandwidth=4_890_000_000_000, clockRate=1_980_000_000,
            smCount=132, pwGpuId=number, uuid=uuid, chipName="GH100", cuDevice=number,
            computeMajor=9, computeMinor=0, smMajor=9, smMinor=0,
        )  # fmt: skip
        out.add(
            "TARGET_INFO_CUDA_DEVICE", gpuId=number, cudaId=number, pid=rank.pid, uuid=uuid,
            numMultiprocessors=132,
        )  # fmt: skip
        out.add(
            "TARGET_INFO_CUDA_CONTEXT_INFO", nullStreamId=STREAM, vmId=VM,
            processId=rank.pid, deviceId=number, contextId=1,
        )  # fmt: skip
        out.add(
            "TARGET_INFO_CUDA_STREAM", streamId=STREAM, vmId=VM, processId=rank.pid,
            contextId=1, flag=3,
        )  # fmt: skip


def _chains(out: ExportWriter, table: str, chains: Iterator[tuple[int, Sequence[Frame]]]) -> None:
    """Write call chains given leaf first."""
    out.create(table, _CHAIN_LAYOUT)
    out.rows(
        table,
        ("id", "symbol", "module", "stackDepth"),
        (
            (number, out.string(symbol), out.string(module), depth)
            for number, frames in chains
            for depth, (symbol, module) in enumerate(frames)
        ),
    )


def _calls(out: ExportWriter, ranks: Sequence[Rank]) -> None:
    """API calls, and one call chain for each pair of call site and API."""
    chains: dict[tuple[str, str], int] = {}

    def chain(site: str, name: str) -> int | None:
        return chains.setdefault((site, name), len(chains) + 1) if site else None

    calls = sorted((c for rank in ranks for c in rank.seen.calls), key=lambda c: c.start)
    out.rows(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "callchainId"),
        (
            (c.start, c.end, c.kind, c.tid, c.correlation, out.string(c.name),
             chain(c.site, c.name))
            for c in calls
        ),
    )  # fmt: skip
    library = {RUNTIME: "libcudart.so.12"}
    kinds = {c.name: c.kind for c in calls}
    _chains(
        out,
        "CUDA_CALLCHAINS",
        (
            (number, ((name.partition("_v")[0], library.get(kinds[name], "libcuda.so.1")),
                      *reversed(SITES[site])))
            for (site, name), number in chains.items()
        ),
    )  # fmt: skip


def _kernels(out: ExportWriter, ranks: Sequence[Rank]) -> None:
    rows: list[tuple[int | None, ...]] = []
    launches = [(launch, rank) for rank in ranks for launch in rank.seen.kernels]
    for launch, rank in sorted(launches, key=lambda pair: (pair[0].start, pair[1].index)):
        kernel = launch.kernel
        rows.append(
            (
                launch.start, launch.end, rank.index, 1, STREAM, launch.correlation, rank.key,
                out.string(kernel.full), out.string(kernel.short), kernel.registers,
                *kernel.grid, *kernel.block, kernel.static_bytes, kernel.dynamic_bytes,
                launch.graph_node,
            )
        )  # fmt: skip
    names = [column.name for column in out.columns("CUPTI_ACTIVITY_KIND_KERNEL")]
    out.rows("CUPTI_ACTIVITY_KIND_KERNEL", names, rows)


def _gpu_tables(out: ExportWriter, ranks: Sequence[Rank]) -> None:
    gpu = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
    where = {rank.index: (rank.index, 1, STREAM) for rank in ranks}
    replays = [
        (start, end, *where[rank.index], correlation, rank.key, 1, 2)
        for rank in ranks
        for start, end, correlation in rank.seen.replays
    ]
    if replays:
        out.rows(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (*gpu, "graphId", "graphExecId"), sorted(replays)
        )
    out.rows(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        (*gpu, "bytes", "copyKind", "srcKind", "dstKind"),
        sorted(
            (c.start, c.end, *where[rank.index], c.correlation, rank.key, c.bytes, c.kind,
             *((1, 2) if c.kind == 1 else (2, 1)))
            for rank in ranks
            for c in rank.seen.copies
        ),
    )  # fmt: skip
    out.rows(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        (*gpu, "value", "bytes", "memKind"),
        sorted(
            (start, end, *where[rank.index], correlation, rank.key, 0, size, 2)
            for rank in ranks
            for start, end, correlation, size in rank.seen.memsets
        ),
    )
    out.rows(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        (*gpu, "syncType", "eventId"),
        sorted(
            (start, end, *where[rank.index], correlation, rank.key, kind, int(kind == 1))
            for rank in ranks
            for start, end, correlation, kind in rank.seen.waits
        ),
    )


def _host_tables(out: ExportWriter, ranks: Sequence[Rank]) -> None:
    ranges = sorted(
        (r for rank in ranks for r in rank.seen.ranges), key=lambda r: (r.start, -r.end)
    )
    out.rows(
        "NVTX_EVENTS",
        ("start", "end", "eventType", "text", "globalTid", "textId", "domainId"),
        (
            (r.start, r.end, 59, None if r.registered else r.text, r.tid,
             out.string(r.text) if r.registered else None, 0)
            for r in ranges
        ),
    )  # fmt: skip
    out.rows(
        "OSRT_API",
        ("start", "end", "eventClass", "globalTid", "nameId"),
        sorted(
            (start, end, OS_RUNTIME, tid, out.string(name))
            for rank in ranks
            for start, end, tid, name in rank.seen.system
        ),
    )
    out.rows(
        "CUPTI_ACTIVITY_KIND_OVERHEAD",
        ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "overheadType"),
        sorted(
            (start, end, CUDA_OVERHEAD, rank.main, correlation, out.string("Module Loading"), 6)
            for rank in ranks
            for start, end, correlation in rank.seen.loading
        ),
    )
    out.rows(
        "CUDA_GRAPH_NODE_EVENTS",
        ("start", "end", "eventClass", "globalTid", "nameId", "graphNodeId"),
        sorted(
            (start, end, 77, rank.main, out.string("CUDA graph node creation"), node)
            for rank in ranks
            for start, end, node in rank.seen.nodes
        ),
    )
    out.rows(
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        ("start", "globalPid", "deviceId", "contextId", "address", "bytes", "memKind",
         "memoryOperationType", "correlationId"),
        sorted(
            (start, rank.key, rank.index, 1, 0x7F00_0000_0000 + (number << 36), size, 2, 0, link)
            for rank in ranks
            for number, (start, size, link) in enumerate(rank.seen.allocations)
        ),
    )  # fmt: skip


def _samples(out: ExportWriter, ranks: Sequence[Rank], end_ns: int) -> None:
    """Stacks of the step threads at regular instants, by the range each one is in then."""
    chosen: list[tuple[int, int, Sequence[Frame]]] = []
    for rank in ranks:
        random = Random(f"samples/{rank.index}")
        ranges = sorted(
            (r for r in rank.seen.ranges if r.tid == rank.main), key=lambda r: (r.start, -r.end)
        )
        starts = [r.start for r in ranges]
        for tick in range(1, end_ns // _SAMPLE_PERIOD_NS):
            time = tick * _SAMPLE_PERIOD_NS + random.randrange(_SAMPLE_PERIOD_NS // 4)
            stacks = SAMPLE_STACKS[_innermost(ranges, starts, time)]
            chosen.append((time, rank.index, stacks[random.randrange(len(stacks))]))
    chosen.sort(key=lambda sample: sample[:2])
    out.rows(
        "COMPOSITE_EVENTS",
        ("id", "start", "cpu", "threadState", "globalTid", "cpuCycles"),
        (
            (number, time, 8 + 4 * rank, 1, ranks[rank].main, 1)
            for number, (time, rank, _) in enumerate(chosen, 1)
        ),
    )
    _chains(
        out,
        "SAMPLING_CALLCHAINS",
        ((number, stack[::-1]) for number, (_, _, stack) in enumerate(chosen, 1)),
    )


def _innermost(ranges: Sequence[Range], starts: Sequence[int], time: int) -> str:
    """Text of the innermost range open at a time that has stacks, or nothing."""
    position = bisect_right(starts, time) - 1
    for candidate in reversed(ranges[max(0, position - 12) : position + 1]):
        if candidate.end > time and candidate.text in SAMPLE_STACKS:
            return candidate.text
    return ""


def _counters(out: ExportWriter, ranks: Sequence[Rank], end_ns: int) -> None:
    """GPU metrics sampled from what the GPU did."""
    metrics = (("SMs Active [Throughput %]", 0.72), ("DRAM Read Bandwidth [Throughput %]", 0.41))
    rows: list[tuple[int, int, int, float]] = []
    for rank in ranks:
        kind = 1 << 40 | rank.index
        for number, (name, _) in enumerate(metrics, 1):
            out.add(
                "TARGET_INFO_GPU_METRICS", typeId=kind, sourceId=1, typeName="GH100",
                metricId=number, metricName=name,
            )  # fmt: skip
        busy = [0] * (end_ns // _METRIC_PERIOD_NS + 1)
        for launch in rank.seen.kernels:
            busy[launch.start // _METRIC_PERIOD_NS] += launch.end - launch.start
        for tick, busy_ns in enumerate(busy):
            share = min(1.0, busy_ns / _METRIC_PERIOD_NS)
            time = (tick + 1) * _METRIC_PERIOD_NS
            for number, (_, scale) in enumerate(metrics, 1):
                rows.append((time, kind, number, round(100 * share * scale)))
    out.rows("GPU_METRICS", ("timestamp", "typeId", "metricId", "value"), sorted(rows))


def _common_kernels() -> Iterator[Kernel]:
    """Kernels in an order that gives the most frequent names the smallest ids."""
    yield from (ALL_REDUCE, *GRAPH, *LAUNCHED_MAIN[0], *LAUNCHED_MAIN[1], *CONTEXT, *JIT)


def write_tables(
    out: ExportWriter, variant: Variant, ranks: Sequence[Rank], mode: GraphMode
) -> None:
    """Fill an export with everything the ranks did."""
    for table, columns in _UNUSED.items():
        out.create(table, without=columns.split())
    for kernel in _common_kernels():
        out.string(kernel.short)
        out.string(kernel.full)
    end_ns = max(r.end for rank in ranks for r in rank.seen.ranges) + 5_000_000
    _header(out, variant, mode, end_ns)
    _machine(out, ranks)
    _calls(out, ranks)
    _kernels(out, ranks)
    _gpu_tables(out, ranks)
    _host_tables(out, ranks)
    _samples(out, ranks, end_ns)
    _counters(out, ranks, end_ns)
