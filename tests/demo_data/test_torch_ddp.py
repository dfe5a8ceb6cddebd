"""The generated PyTorch GPU demo: its generator still makes it, and a store holds its truth."""

import gzip
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.torch_ddp import FOLDER, TRUTH, main
from dctx.ingest.model import GpuClass
from dctx.ingest.registry import open_trace
from tests.kineto_files import Opened

COMMITTED = Path(str(files("dctx.demo_data")))
TRACE = COMMITTED / FOLDER
TRUE: dict[str, Any] = json.loads((COMMITTED / TRUTH).read_text())
RANKS: list[dict[str, Any]] = TRUE["ranks"]


@pytest.fixture(scope="module")
def trace() -> Iterator[Opened]:
    store = open_trace(TRACE, cache=False)
    yield Opened(store)
    store.close()


def per_device(trace: Opened, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a query by device number, without it."""
    return [row[1:] for row in sorted(trace.rows(sql))]


def test_the_generator_makes_the_committed_files(tmp_path: Path) -> None:
    main([str(tmp_path)])
    assert (tmp_path / TRUTH).read_bytes() == (COMMITTED / TRUTH).read_bytes()
    names = sorted(path.name for path in TRACE.iterdir())
    assert names == sorted(path.name for path in (tmp_path / FOLDER).iterdir())
    for name in names:  # zlib's output may change, what is in it must not
        made = gzip.decompress((tmp_path / FOLDER / name).read_bytes())
        assert made == gzip.decompress((TRACE / name).read_bytes()), name


def test_gpu_time_of_every_module_forward_and_backward(trace: Opened) -> None:
    found = trace.rows(
        "SELECT name, sum(gpu_ns), sum(kernels) FROM paths WHERE layer = 'module' GROUP BY name"
    )
    assert {name: {"gpu_ns": ns, "kernels": count} for name, ns, count in found} == TRUE["modules"]


def test_kernels_and_communication_of_each_gpu(trace: Opened) -> None:
    split = per_device(
        trace,
        f"""SELECT device, ns FROM device_time WHERE class = {GpuClass.COMM_EXPOSED.value}""",
    )
    assert split == [(rank["exposed_communication_ns"],) for rank in RANKS]
    busy = per_device(trace, "SELECT device, busy_ns, kernel_count, kernel_sum_ns FROM device_busy")
    assert busy == [
        (
            rank["compute_ns"] + rank["exposed_communication_ns"],
            rank["kernels"],
            rank["compute_ns"] + rank["collective_ns"],
        )
        for rank in RANKS
    ]
    collectives = per_device(
        trace,
        """SELECT o.device, count(*), sum(o.dur_ns), min(k.text), min(c.group_size)
           FROM gpu_op o JOIN collective c ON c.id = o.collective JOIN string k ON k.id = c.name
           GROUP BY o.device""",
    )
    assert collectives == [
        (rank["collectives"], rank["collective_ns"], "allreduce", len(RANKS)) for rank in RANKS
    ]


def test_the_first_rank_waits_for_the_second(trace: Opened) -> None:
    """As planted: its collectives begin earlier, and all end together."""
    spans = [
        trace.rows(
            f"""SELECT start_ns, start_ns + dur_ns FROM gpu_op
                WHERE device = {device} AND collective IS NOT NULL ORDER BY start_ns"""
        )
        for device in (0, 1)
    ]
    assert [end for _, end in spans[0]] == [end for _, end in spans[1]]
    first_of_each_step = range(0, len(spans[0]), len(spans[0]) // TRUE["steps"])
    assert all(spans[0][i][0] + 1_000_000 < spans[1][i][0] for i in first_of_each_step)


def test_links(trace: Opened) -> None:
    assert per_device(
        trace,
        """SELECT device, count(*), count(launch), count(graph_node) FROM gpu_op
           WHERE kind < 4 GROUP BY device""",
    ) == [
        (rank["gpu_operations"], rank["linked_gpu_operations"], rank["kernels_of_graphs"])
        for rank in RANKS
    ]
    assert trace.rows("SELECT count(forward) FROM host_event") == [
        (sum(rank["linked_backward_operators"] for rank in RANKS),)
    ]
    assert trace.rows("SELECT count(*) FROM host_event WHERE kind = 8") == [
        (sum(rank["python_frames"] for rank in RANKS),)
    ]
    assert trace.rows(
        "SELECT count(DISTINCT name), count(*) FROM host_events WHERE name LIKE 'ProfilerStep#%'"
    ) == [(TRUE["steps"], TRUE["steps"] * len(RANKS))]


def test_memory_peak(trace: Opened) -> None:
    assert per_device(
        trace,
        """SELECT device, count(*), max(allocated_bytes), max(reserved_bytes) FROM memory_event
           GROUP BY device""",
    ) == [
        (rank["memory_events"], rank["memory_peak_bytes"], rank["memory_reserved_bytes"])
        for rank in RANKS
    ]
    # The largest allocations were made by the captured head.
    [(path,)] = trace.rows(
        """SELECT list(DISTINCT y.name) FROM memory_event m JOIN paths y ON y.id = m.node
           WHERE m.bytes = (SELECT max(bytes) FROM memory_event)"""
    )
    assert path == ["Graphed"]


def test_call_paths_from_python_to_the_kernel(trace: Opened) -> None:
    above = ["main thread 4200", "main", "ProfilerStep#", "train_step"]
    modules = ["DistributedDataParallel_0", "Transformer_0", "forward"]
    [(gelu,)] = trace.rows(
        """SELECT min(e.node) FROM gpu_op e JOIN host_event h ON h.id = e.op
           JOIN string s ON s.id = h.name WHERE s.text = 'aten::gelu' AND e.device = 0"""
    )
    names = trace.rows(
        f"""SELECT p.name, p.layer FROM paths p JOIN path_node n ON n.id = p.id
            WHERE p.id <= {gelu} AND n.last >= {gelu} ORDER BY p.depth"""
    )[2:]
    assert [name for name, _ in names][:-1] == [
        *above, *modules, "Block_0", "forward", "MLP_0", "forward", "GELU_0", "forward",
        "<built-in function gelu>", "aten::gelu", "cudaLaunchKernel",
    ]  # fmt: skip
    assert "GeluCUDAKernelImpl" in names[-1][0]
    assert [layer for _, layer in names][-5:] == ["python", "python", "op", "api", "kernel"]
    # The backward work hangs below the forward operator, whatever thread ran it.
    below = trace.rows(
        """SELECT DISTINCT f.name, k.kernels FROM paths b JOIN paths f ON f.id = b.parent
           JOIN paths k ON k.id = b.id WHERE b.layer = 'backward' AND f.name = 'aten::gelu'"""
    )
    assert below
    assert all(kernels == TRUE["steps"] for _, kernels in below)


def test_a_captured_graph_belongs_to_the_call_that_replays_it(trace: Opened) -> None:
    launches = trace.rows(
        """SELECT DISTINCT c.name FROM gpu_op o JOIN host_events c ON c.id = o.launch
           WHERE o.graph IS NOT NULL"""
    )
    assert launches == [("cudaGraphLaunch",)]


def test_nothing_is_lacking(trace: Opened) -> None:
    facts = trace.facts()
    reasons = {key: text for key, text in facts.items() if key.startswith("capability.")}
    assert set(reasons.values()) == {""}
    assert {"capability.memory", "capability.collectives", "capability.modules"} <= set(reasons)
