"""Graph work belongs to the launch that replays it; where it was captured is kept beside."""

from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace
from dctx.queries.node_detail import node_detail
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace

RUNTIME, KERNEL = "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"
NODES = "CUDA_GRAPH_NODE_EVENTS"


def call(
    export: ExportWriter, start: int, end: int, name: str, correlation: int, pid: int = 1
) -> None:
    export.add(
        RUNTIME,
        start=start,
        end=end,
        globalTid=global_tid(pid, pid),
        nameId=name,
        correlationId=correlation,
    )


def node(
    export: ExportWriter,
    table: str,
    time: int,
    node_id: int,
    original: int | None = None,
    pid: int = 1,
) -> None:
    export.add(
        table,
        start=time,
        end=time,
        eventClass=77,
        globalTid=global_tid(pid, pid),
        nameId="cudaGraphNode",
        graphNodeId=node_id,
        originalGraphNodeId=original,
    )


def kernel(
    export: ExportWriter, start: int, dur: int, name: str, node_id: int | None, pid: int = 1
) -> None:
    export.add(
        KERNEL,
        start=start,
        end=start + dur,
        deviceId=0,
        streamId=7,
        contextId=1,
        globalPid=global_pid(pid),
        correlationId=9,
        shortName=name,
        graphNodeId=node_id,
    )


def fill(export: ExportWriter, table: str) -> None:
    """Two layers are captured; clones of their nodes run in one replay."""
    for start, end, text in ((0, 100, "attention"), (100, 200, "experts"), (500, 600, "step")):
        export.add(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=59,
            text=text,
            globalTid=global_tid(1, 1),
        )
    call(export, 10, 20, "cudaLaunchKernel_v7000", 1)
    call(export, 110, 120, "cudaLaunchKernel_v7000", 2)
    call(export, 300, 400, "cudaGraphInstantiate_v11000", 3)
    call(export, 510, 520, "cudaGraphLaunch_v10000", 9)
    node(export, table, 15, 1)
    node(export, table, 115, 2)
    node(export, table, 310, 11, 1)
    node(export, table, 320, 21, 11)
    node(export, table, 330, 12, 2)
    kernel(export, 530, 5, "gemm", 21)
    kernel(export, 540, 7, "norm", 12)
    kernel(export, 550, 11, "gemm", 12)


def sites(path: Path) -> list[tuple[Any, ...]]:
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        found = cursor.execute(
            """SELECT g.process, g.graph_node, s.text, u.text FROM graph_site g
               JOIN path_node n ON n.id = g.node JOIN frame f ON f.id = n.frame
               JOIN string s ON s.id = f.name
               JOIN path_node p ON p.id = n.parent JOIN frame q ON q.id = p.frame
               JOIN string u ON u.id = q.name ORDER BY ALL"""
        ).fetchall()
    store.close()
    return found


@pytest.mark.parametrize(("table", "year"), [(NODES, 2026), ("CUDA_GRAPH_EVENTS", 2022)])
def test_clones_lead_to_the_call_that_captured_the_first_node(
    tmp_path: Path, table: str, year: int
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path, year=year) as export:
        fill(export, table)
    launch = "cudaLaunchKernel"
    assert sites(path) == [
        (0, 1, launch, "attention"),
        (0, 2, launch, "experts"),
        (0, 11, launch, "attention"),
        (0, 12, launch, "experts"),
        (0, 21, launch, "attention"),
    ]


def test_a_context_tells_what_was_captured_in_it_and_a_replay_where(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        fill(export, NODES)
        kernel(export, 700, 100, "gemm", None)
    store = open_trace(path, cache=False)
    trace = Trace(store)
    tree = CallTree.load(trace)
    root = node_detail(trace, tree, 0)
    assert root.gpu_ns == 123
    assert sum(caller.gpu_ns for caller in root.captured_from) == 5 + 7 + 11
    assert round(sum(caller.share for caller in root.captured_from), 9) == 1
    assert [(name.text, name.count, name.sum_ns) for name in root.captured_here] == [
        ("gemm", 2, 16),
        ("norm", 1, 7),
    ]
    assert [(caller.names[-2], caller.gpu_ns) for caller in root.captured_from] == [
        ("experts", 18),
        ("attention", 5),
    ]
    for caller in root.captured_from:
        site = node_detail(trace, tree, caller.node)
        assert site.gpu_ns is None or site.gpu_ns == 0
        assert sum(name.sum_ns or 0 for name in site.captured_here) == caller.gpu_ns
        assert caller.names[-1] == "cudaLaunchKernel"
    store.close()


def test_nodes_belong_to_their_process(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        for pid, name in ((1, "cudaLaunchKernel_v7000"), (2, "cudaMemcpyAsync_v3020")):
            call(export, 10, 20, name, 1, pid)
            node(export, NODES, 15, 5, None, pid)
            node(export, NODES, 100, 6, 5, pid)
    assert [(process, node_id, name) for process, node_id, name, _ in sites(path)] == [
        (0, 5, "cudaLaunchKernel"),
        (0, 6, "cudaLaunchKernel"),
        (1, 5, "cudaMemcpyAsync"),
        (1, 6, "cudaMemcpyAsync"),
    ]


def test_nodes_without_a_site_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        call(export, 10, 20, "cudaLaunchKernel_v7000", 1)
        node(export, NODES, 15, 1)
        node(export, NODES, 16, 1, 2)  # a second row of the node: it knows where it comes from
        node(export, NODES, 17, 2, 3)  # in a circle
        node(export, NODES, 18, 3, 2)
        node(export, NODES, 50, 4)  # nothing was running
        node(export, NODES, 19, 5, 77)  # cloned from a node that was made before the capture
        node(export, NODES, 19, 6, 0)
    assert [row[1] for row in sites(path)] == [6]
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
    store.close()
    assert facts[f"unused.{NODES}.repeated"] == "1"
    assert facts[f"unused.{NODES}.no_host_event"] == "5"
    assert facts[f"used.{NODES}"] == "1"
