"""Makes the PyTorch GPU demo: training on two GPUs with distributed data parallelism.

    python -m dctx.demo_data.torch_ddp OUTDIR

writes OUTDIR/torch-ddp/rank0.json.gz, rank1.json.gz and OUTDIR/torch-ddp-truth.json: what a reader
of the files must find. Everything is synthetic; the same program makes the same events.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from .torch_rank import RANKS, TRANSFER_NS, Rank

STEPS = 4
FIRST_STEP = 10
BEGIN_NS = 7_300_000_000
BASE_NS = 1_790_000_000_000_000_000
FOLDER = "torch-ddp"
TRUTH = "torch-ddp-truth.json"


def play() -> list[Rank]:
    """Run all ranks; what they did is in each one's `seen`."""
    ranks = [Rank(index, BEGIN_NS + 15_000 * index) for index in range(RANKS)]
    for rank in ranks:
        rank.leftover()
    for number in range(FIRST_STEP, FIRST_STEP + STEPS):
        running = [rank.step(number) for rank in ranks]
        ready = [next(step) for step in running]
        free = [rank.communication.free_ns for rank in ranks]
        for step, spans in zip(running, _meet(ready, free), strict=True):
            _finish(step, spans)
    for rank in ranks:
        rank.finish()
    return ranks


def _finish(
    step: Generator[list[int], list[tuple[int, int]], None], spans: list[tuple[int, int]]
) -> None:
    try:
        step.send(spans)
    except StopIteration:
        return
    raise RuntimeError("a step has one round of reductions")


def _meet(ready: Sequence[Sequence[int]], free: Sequence[int]) -> list[list[tuple[int, int]]]:
    """From when to when each bucket is reduced, by rank: all end together, a transfer after the
    last rank came."""
    spans: list[list[tuple[int, int]]] = [[] for _ in ready]
    before = list(free)
    for bucket in zip(*ready, strict=True):
        starts = [max(at, end) for at, end in zip(bucket, before, strict=True)]
        end = max(starts) + TRANSFER_NS
        for own, start in zip(spans, starts, strict=True):
            own.append((start, end))
        before = [end] * len(before)
    return spans


def envelope(rank: Rank) -> dict[str, Any]:
    """What stands around the events."""
    group = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl"}
    return {
        "schemaVersion": 1,
        "deviceProperties": [
            {
                "id": index, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_044_297_728,
                "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
                "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
                "sharedMemPerBlock": 49152, "numSms": 132,
            }
            for index in range(RANKS)
        ],
        "distributedInfo": {
            "backend": "nccl", "rank": rank.index, "world_size": RANKS, "pg_count": 1,
            "pg_config": [{**group, "pg_size": RANKS, "ranks": list(range(RANKS))}],
            "nccl_version": "2.27.5",
        },
        "with_stack": 1, "profile_memory": 1, "record_shapes": 1, "with_modules": 1,
        "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS,
        "note": "SYNTHETIC (dctx.demo_data.torch_ddp)",
    }  # fmt: skip


def exposed_ns(rank: Rank) -> int:
    """Communication time during which no other kernel ran. Neither overlaps itself."""
    hidden = 0
    for begin, end in rank.seen.communication:
        for start, stop in rank.seen.compute:
            hidden += max(0, min(end, stop) - max(begin, start))
    return sum(end - begin for begin, end in rank.seen.communication) - hidden


def truth(ranks: Sequence[Rank]) -> dict[str, Any]:
    """What a reader of the files must find."""
    gpu_ns: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    for rank in ranks:
        gpu_ns.update(rank.seen.gpu_ns)
        kernels.update(rank.seen.kernels)
    return {
        "modules": {
            name: {"gpu_ns": gpu_ns[name], "kernels": kernels[name]} for name in sorted(gpu_ns)
        },
        "ranks": [_rank_truth(rank) for rank in ranks],
        "steps": STEPS,
    }


def _rank_truth(rank: Rank) -> dict[str, Any]:
    seen = rank.seen
    kernels = len(seen.compute) + len(seen.communication)
    return {
        "kernels": kernels,
        "compute_ns": sum(end - start for start, end in seen.compute),
        "collectives": len(seen.communication),
        "collective_ns": sum(end - start for start, end in seen.communication),
        "exposed_communication_ns": exposed_ns(rank),
        "gpu_operations": kernels + seen.copies,
        "linked_gpu_operations": kernels + seen.copies - seen.unlinked,
        "kernels_of_graphs": seen.from_graphs,
        "linked_backward_operators": seen.backwards,
        "memory_events": rank.memory.events,
        "memory_peak_bytes": rank.memory.peak,
        "memory_reserved_bytes": rank.memory.reserved,
        "python_frames": rank.out.last("python"),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files of all ranks and the truth."""
    parser = argparse.ArgumentParser(prog="python -m dctx.demo_data.torch_ddp", description=__doc__)
    parser.add_argument("outdir", type=Path)
    chosen = parser.parse_args(arguments)
    folder = chosen.outdir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    ranks = play()
    for rank in ranks:
        text = rank.out.text(envelope(rank))
        with (
            (folder / f"rank{rank.index}.json.gz").open("wb") as file,
            gzip.GzipFile("", "wb", 9, file, mtime=0) as packed,
        ):
            packed.write(text.encode())
    text = json.dumps(truth(ranks), indent=1, sort_keys=True) + "\n"
    (chosen.outdir / TRUTH).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
