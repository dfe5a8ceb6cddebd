"""Makes large exports fast: training on two ranks, whole iterations laid out with numpy.

Per kernel there is about one API row and a quarter of an NVTX range, nested five deep; the ranks'
correlation ids restart. `wide` gives every operation a name of its own, so that the call tree has
about 200,000 nodes.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid

VERSION = 1
"""Part of the file name: a change of the generator makes new files."""
MILLION = 1_000_000
RANKS = 2
STREAM = 7
FIRST_PID = 4_000
BEGIN_NS = 10_000_000_000
SLOT_NS = 8_000
"""From one launch of a thread to the next."""
RANK_OFFSET_NS = 13_000
IDLE_NS = 60_000
CHUNK_ITERATIONS = 16

_PHASES = ("forward", "backward", "optimizer")
_OPS = (
    "aten::linear", "aten::addmm", "aten::_flash_attention", "aten::native_layer_norm", "aten::mul",
    "aten::add_", "aten::gelu", "aten::softmax", "aten::cat", "aten::embedding",
    "aten::_foreach_addcdiv_", "aten::copy_",
)  # fmt: skip
_FAMILIES = (
    ("ampere_bf16_s16816gemm_bf16_{a}_ldg8_f2f_stages_{b}_tn", "{short}"),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_{a}_warpgroupsize{b}", "{short}_execute_kernel__5x_cublas"),
    ("flash_fwd_kernel_{b}",
     "void flash::{short}<Flash_fwd_kernel_traits<{b}, {a}, 4, false, cutlass::bfloat16_t> >"
     "(flash::Flash_fwd_params)"),
    ("vectorized_elementwise_kernel_{b}",
     "void at::native::{short}<4, at::native::BinaryFunctor_{a}<float, float, float>,"
     " std::array<char*, 3ul> >(int, at::native::BinaryFunctor_{a}<float, float, float>,"
     " std::array<char*, 3ul>)"),
    ("reduce_kernel_{b}",
     "void at::native::{short}<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_{a},"
     " unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::func_wrapper_{a}>)"),
    ("triton_poi_fused_add_mul_{a}_{b}", "{short}"),
)  # fmt: skip
_TILES = ("64x64", "128x64", "128x128", "256x128")
_STAGES = ("32", "64", "96", "128", "192")
_LAUNCHES = ("cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cuLaunchKernelEx")

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """Of one iteration: how many blocks a phase has, and so on down to launches of an operation."""

    blocks: int
    modules: int
    ops: int
    launches: int
    wide: bool = False

    @property
    def kernels(self) -> int:
        return len(_PHASES) * self.blocks * self.modules * self.ops * self.launches


NORMAL = Shape(blocks=8, modules=3, ops=2, launches=7)
WIDE = Shape(blocks=8, modules=35, ops=30, launches=2, wide=True)


def letters(number: int) -> str:
    """A name for a number that has no digits, which would be normalised away."""
    text = ""
    number += 26
    while number:
        number, rest = divmod(number, 26)
        text = chr(97 + rest) + text
    return text


@dataclass
class Template:
    """One iteration of one rank, times from its start. Ids are string ids."""

    range_start: Ints
    range_end: Ints
    range_name: Ints
    range_text: list[str]
    """Prefix of a text that ends in a number of its own; empty where the name is registered."""
    launch_start: Ints
    launch_name: Ints
    short: Ints
    full: Ints
    grid: Ints
    block: Ints
    registers: Ints
    shared: Ints
    length_ns: int


def make_template(out: ExportWriter, shape: Shape) -> Template:
    """Lay out the ranges and launches of one iteration."""
    kernels = [
        (short, pattern.format(short=short, a=a, b=b))
        for name, pattern in _FAMILIES
        for a in _TILES
        for b in _STAGES
        for short in [name.format(a=a, b=b)]
    ]
    kernel_ids = [(out.string(short), out.string(full)) for short, full in kernels]
    api_ids = [out.string(name) for name in _LAUNCHES]
    spans: list[tuple[int, int, int, str]] = []
    launches: list[tuple[int, int, int, int]] = []

    def span(start: int, end: int, name: str, *, numbered: bool = False) -> None:
        spans.append((start, end, 0 if numbered else out.string(name), name if numbered else ""))

    def play_op(number: int, start: int) -> int:
        now = start
        for launch in range(shape.launches):
            short, full = kernel_ids[(number * 5 + launch * 17) % len(kernel_ids)]
            launches.append((now + 500, api_ids[number % len(api_ids)], short, full))
            now += SLOT_NS
        name = _OPS[number % len(_OPS)]
        if shape.wide:
            span(start, now - 200, f"{name} {letters(number)}")
        elif number % 4 == 0:
            span(start, now - 200, f"{name}, op_id = ", numbered=True)
        else:
            span(start, now - 200, name)
        return now

    now = 1_000
    op = 0
    for phase_index, phase in enumerate(_PHASES):
        phase_start = now
        for block in range(shape.blocks):
            block_start = now
            for module in range(shape.modules):
                module_start = now
                for _ in range(shape.ops):
                    now = play_op(op, now)
                    op += 1
                name = f"{letters(block * shape.modules + module)}_proj"
                span(module_start, now - 100, f"{phase}.{name}")
            span(block_start, now - 50, f"{phase}.block_{letters(phase_index * 100 + block)}")
        span(phase_start, now - 20, phase)
    span(0, now + 2_000, "iteration ", numbered=True)
    spans.sort(key=lambda s: (s[0], -s[1]))
    start, api, short, full = (np.array(column) for column in zip(*launches, strict=True))
    count = len(launches)
    return Template(
        range_start=np.array([s[0] for s in spans]),
        range_end=np.array([s[1] for s in spans]),
        range_name=np.array([s[2] for s in spans]),
        range_text=[s[3] for s in spans],
        launch_start=start,
        launch_name=api,
        short=short,
        full=full,
        grid=16 + 8 * (short % 37),
        block=128 << (short % 3),
        registers=24 + 2 * (short % 60),
        shared=np.where(short % 4 == 0, 0, 1024 * (short % 48)),
        length_ns=now + IDLE_NS + SLOT_NS + count % 2,
    )


def _merged(columns: Sequence[Sequence[Ints]]) -> Iterator[tuple[Any, ...]]:
    """Rows of several ranks in start order (the first column). `columns[i]` has a part per rank."""
    joined = [np.concatenate(parts) for parts in columns]
    order = np.argsort(joined[0], kind="stable")
    return zip(*[column[order].tolist() for column in joined], strict=True)


def _constants(rows: Iterable[tuple[Any, ...]], values: tuple[Any, ...]) -> Iterator[Any]:
    return (row + tail for row, tail in zip(rows, repeat(values), strict=False))


class Generator:
    """Writes the iterations of all ranks, a chunk at a time."""

    def __init__(self, out: ExportWriter, shape: Shape) -> None:
        self._out = out
        self._random = np.random.Generator(np.random.PCG64(7))
        self._template = make_template(out, shape)
        self._sync = out.string("cudaStreamSynchronize_v3020")
        self._memcpy = out.string("cudaMemcpyAsync_v3020")
        self._count = len(self._template.launch_start)

    def describe(self) -> None:
        out = self._out
        out.describe("2025.3.1", "3.20.0")
        out.add("META_DATA_EXPORT", name="EXPORT_NOTE", value="SYNTHETIC (bench.generate)")
        out.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_750_000_000_000_000_000)
        for rank in range(RANKS):
            pid = FIRST_PID + rank
            out.process(pid, "python3")
            out.thread(pid, pid, "python3")
            out.add(
                "TARGET_INFO_GPU", id=rank, name="NVIDIA H100 80GB HBM3", cuDevice=rank,
                smCount=132, totalMemory=85_520_809_984, computeMajor=9, computeMinor=0,
            )  # fmt: skip
            out.add("TARGET_INFO_CUDA_DEVICE", gpuId=rank, cudaId=rank, pid=pid)

    def _base(self, first: int, count: int, rank: int) -> Ints:
        """Start of each iteration of a chunk."""
        numbers = np.arange(first, first + count, dtype=np.int64)
        return BEGIN_NS + numbers * self._template.length_ns + rank * RANK_OFFSET_NS

    def _spread(self, base: Ints, offsets: Ints) -> Ints:
        return (base[:, None] + offsets[None, :]).ravel()

    def chunk(self, first: int, count: int) -> None:
        """Iterations `first` to `first + count` of every rank."""
        t = self._template
        calls: list[list[Ints]] = []
        kernels: list[list[Ints]] = []
        ranges: list[list[Ints]] = []
        per_iteration = self._count + 2
        for rank in range(RANKS):
            pid = FIRST_PID + rank
            base = self._base(first, count, rank)
            size = count * self._count
            begin = self._spread(base, t.launch_start) + self._random.integers(0, 900, size)
            ids = 1 + np.arange(first, first + count)[:, None] * per_iteration
            links = (ids + np.arange(self._count)[None, :]).ravel()
            ready = self._spread(base, t.launch_start) + 6_000
            tail = base + t.length_ns - IDLE_NS
            call_start = np.concatenate([begin, tail - SLOT_NS, tail - 2_000])
            call_length = np.concatenate(
                [self._random.integers(2_000, 5_500, size), np.full(count, 5_000),
                 np.full(count, 22_000)]
            )  # fmt: skip
            tails = ids.ravel() + self._count
            calls.append(
                [
                    call_start,
                    call_start + call_length,
                    np.full(len(call_start), global_tid(pid, pid)),
                    np.concatenate([links, tails, tails + 1]),
                    np.concatenate(
                        [np.tile(t.launch_name, count), np.full(count, self._memcpy),
                         np.full(count, self._sync)]
                    ),
                ]
            )  # fmt: skip
            kernels.append(
                [
                    ready,
                    ready + self._random.integers(1_800, 7_200, size),
                    np.full(size, rank),
                    links,
                    np.full(size, global_pid(pid)),
                    np.tile(t.full, count),
                    np.tile(t.short, count),
                    np.tile(t.registers, count),
                    np.tile(t.grid, count),
                    np.tile(t.block, count),
                    np.tile(t.shared, count),
                ]
            )
            ranges.append(
                [
                    self._spread(base, t.range_start),
                    self._spread(base, t.range_end),
                    np.full(count * len(t.range_start), global_tid(pid, pid)),
                    np.tile(t.range_name, count),
                    np.tile(np.arange(len(t.range_start)), count),
                    np.repeat(np.arange(first, first + count), len(t.range_start)),
                ]
            )
            self._tail(tail, tails, rank)
        self._write(calls, kernels, ranges)

    def _tail(self, tail: Ints, links: Ints, rank: int) -> None:
        """A copy and a wait at the end of each iteration."""
        key = global_pid(FIRST_PID + rank)
        self._out.rows(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
             "bytes", "copyKind"),
            ((at + 2_000, at + 9_000, rank, 1, STREAM, link, key, 65_536, 2)
             for at, link in zip(tail.tolist(), links.tolist(), strict=True)),
        )  # fmt: skip
        self._out.rows(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
             "syncType", "eventId"),
            ((at - 1_000, at + 19_000, rank, 1, STREAM, link + 1, key, 3, 0)
             for at, link in zip(tail.tolist(), links.tolist(), strict=True)),
        )  # fmt: skip

    def _write(
        self, calls: list[list[Ints]], kernels: list[list[Ints]], ranges: list[list[Ints]]
    ) -> None:
        out = self._out
        out.rows(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            ("start", "end", "globalTid", "correlationId", "nameId", "eventClass", "returnValue"),
            _constants(_merged(list(zip(*calls, strict=True))), (0, 0)),
        )
        out.rows(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            ("start", "end", "deviceId", "correlationId", "globalPid", "demangledName",
             "shortName", "registersPerThread", "gridX", "blockX", "dynamicSharedMemory",
             "contextId", "streamId", "launchType", "cacheConfig", "gridY", "gridZ", "blockY",
             "blockZ", "sharedMemoryExecuted", "localMemoryTotal"),
            _constants(
                _merged(list(zip(*kernels, strict=True))),
                (1, STREAM, 1, 0, 1, 1, 1, 1, 32_768, 250_871_808),
            ),
        )  # fmt: skip
        texts = self._template.range_text
        span = len(texts)
        out.rows(
            "NVTX_EVENTS",
            ("start", "end", "globalTid", "textId", "text", "eventType", "domainId"),
            (
                (start, end, tid, None if texts[at] else name,
                 f"{texts[at]}{iteration if at == 0 else iteration * span + at}" if texts[at]
                 else None, 59, 0)
                for start, end, tid, name, at, iteration in _merged(
                    list(zip(*ranges, strict=True))
                )
            ),
        )  # fmt: skip


def bench_dir() -> Path:
    """Where large files go: DCTX_BENCH_DIR, else build/bench."""
    return Path(os.environ.get("DCTX_BENCH_DIR") or "build/bench")


def write_export(path: Path, kernels: int, shape: Shape) -> int:
    """Write an export of about `kernels` kernels. Returns how many it has."""
    iterations = max(1, round(kernels / RANKS / shape.kernels))
    with ExportWriter(path, year=2025) as out:
        generator = Generator(out, shape)
        generator.describe()
        chunk = CHUNK_ITERATIONS if shape is NORMAL else 1
        for first in range(0, iterations, chunk):
            generator.chunk(first, min(chunk, iterations - first))
    return iterations * RANKS * shape.kernels


def export(kernels: int, *, wide: bool = False) -> Path:
    """The export of that size, made when it is not there yet."""
    shape = WIDE if wide else NORMAL
    folder = bench_dir()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{'wide' if wide else 'train'}-{kernels}-v{VERSION}.sqlite"
    if not path.exists():
        partial = path.with_suffix(".partial")
        write_export(partial, kernels, shape)
        partial.rename(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.generate", description=__doc__)
    parser.add_argument("kernels", type=int, nargs="+")
    parser.add_argument("--wide", action="store_true", help="a call tree of 200,000 nodes")
    chosen = parser.parse_args()
    for kernels in chosen.kernels:
        begin = perf_counter()
        path = export(kernels, wide=chosen.wide)
        seconds = perf_counter() - begin
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB  {seconds:.1f} s")


if __name__ == "__main__":
    main()
