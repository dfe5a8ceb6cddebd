"""Hand-made files of the ranks of one program, with collectives whose times are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.kineto_files import Event, call, kernel, op, write_json

GROUP = "0"
BASE_NS = 1_700_000_000_000_000_000
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def arguments(ranks: Sequence[int], name: str = "allreduce", **own: Any) -> dict[str, Any]:
    """What PyTorch writes to the kernel of a collective."""
    return {
        "Collective name": name,
        "dtype": "Float",
        "In msg nelems": 262_144,
        "Out msg nelems": 262_144,
        "Group size": len(ranks),
        "Process Group Name": GROUP,
        "Process Group Ranks": str(list(ranks)),
        "In split size": "[]",
        "Out split size": "[]",
    } | own


def collective(
    start_us: float, dur_us: float, number: int, args: Mapping[str, Any], name: str = ALLREDUCE
) -> list[Event]:
    """An operator, its launch, and the kernel."""
    return [
        op("record_param_comms", start_us - 20, 10),
        call("cudaLaunchKernel", start_us - 15, 2, number),
        kernel(name, start_us, dur_us, number, **args),
    ]


def write_rank(
    folder: Path, rank: int, events: Sequence[Event], shift_us: float = 0, **envelope: Any
) -> Path:
    """The file of a rank whose clock is ahead by `shift_us`."""
    shifted = [{**event, "ts": event["ts"] + shift_us} for event in events]
    return write_json(
        folder / f"rank{rank}.json",
        shifted,
        **{
            "baseTimeNanoseconds": BASE_NS,
            "distributedInfo": {"rank": rank, "backend": "nccl"},
        }
        | envelope,
    )


def all_reduces(
    starts_us: Sequence[float], ends_us: Sequence[float], args: Mapping[str, Any]
) -> list[Event]:
    """The collectives of a rank, one after the other."""
    return [
        event
        for number, (start, end) in enumerate(zip(starts_us, ends_us, strict=True), 1)
        for event in collective(start, end - start, number, args)
    ]
