"""Each piece of work in one row: against a walk of random trees, operator by operator."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dctx.analyzers.op_exclusive import collect
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.model import GpuKind, HostKind
from dctx.queries.report_events import Host, Work

TEXTS = {0: "aten::mm", 1: "aten::linear", 2: "mine::outer", 3: "cudaLaunchKernel", 4: "k"}
MODELLED = 0
KINDS = (HostKind.OP, HostKind.PYTHON, HostKind.RUNTIME)


@dataclass(frozen=True)
class Node:
    """A host event: its kind, name and parent."""

    kind: HostKind
    name: int
    parent: int


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    """Parents before children; launch calls have none."""
    nodes: list[Node] = []
    for i in range(draw(st.integers(1, 14))):
        around = [-1] + [j for j in range(i) if nodes[j].kind != HostKind.RUNTIME]
        kind = draw(st.sampled_from(KINDS))
        name = 3 if kind == HostKind.RUNTIME else draw(st.integers(0, 2))
        nodes.append(Node(kind, name, draw(st.sampled_from(around))))
    return nodes


def operator_around(nodes: list[Node], at: int) -> int:
    while at >= 0 and nodes[at].kind != HostKind.OP:
        at = nodes[at].parent
    return at


def walked(nodes: list[Node]) -> Counter[str]:
    """Rows by name and number of pieces, by the rules as they are written down. Every launch call
    has one kernel."""
    found: Counter[str] = Counter()
    launches = [i for i, n in enumerate(nodes) if n.kind == HostKind.RUNTIME]

    def work(of: int) -> set[int]:
        return {i for i in launches if of in above(i)}

    def above(at: int) -> list[int]:
        chain: list[int] = []
        while (at := nodes[at].parent) >= 0:
            chain.append(at)
        return chain

    def is_modelled(at: int) -> bool:
        return nodes[at].kind == HostKind.OP and nodes[at].name == MODELLED

    def visit(at: int, left: set[int]) -> None:
        own = work(at)
        if nodes[at].kind == HostKind.OP and own:
            deeper = any(
                is_modelled(j) and work(j) for j in range(len(nodes)) if at in above(j)
            )  # fmt: skip
            direct = any(operator_around(nodes, nodes[i].parent) == at for i in own)
            if is_modelled(at) or (direct and not deeper):
                found[f"{at} {TEXTS[nodes[at].name]}"] = len(own)
                left -= own
                return
        for child in [j for j, n in enumerate(nodes) if n.parent == at]:
            visit(child, left)

    left = set(launches)
    for root in [i for i, n in enumerate(nodes) if n.parent < 0]:
        visit(root, left)
    for i in left:
        op = operator_around(nodes, nodes[i].parent)
        base = TEXTS[nodes[op].name] if op >= 0 else "cudaLaunchKernel"
        found[f"{base}->k (Synthetic Op)"] += 1
    return found


def collected(nodes: list[Node]) -> Counter[str]:
    count = len(nodes)
    launches = [i for i, n in enumerate(nodes) if n.kind == HostKind.RUNTIME]
    none = np.full(count, -1, np.int32)
    host = Host(
        kind=np.array([n.kind for n in nodes], np.uint8),
        lane=none,
        start_ns=np.arange(count, dtype=np.int64),
        dur_ns=np.ones(count, np.int64),
        name=np.array([n.name for n in nodes], np.int32),
        parent=np.array([n.parent for n in nodes], np.int32),
        args=none,
        sequence=none.astype(np.int64),
        forward=none,
    )
    pieces = len(launches)
    start = 10 * np.arange(pieces, dtype=np.int64)
    work = Work(
        id=np.arange(pieces, dtype=np.int32),
        kind=np.full(pieces, GpuKind.KERNEL, np.uint8),
        device=np.zeros(pieces, np.int32),
        lane=np.zeros(pieces, np.int32),
        start_ns=start,
        end_ns=start + 5,
        name=np.full(pieces, 4, np.int32),
        launch=np.array(launches, np.int32),
        op=np.array([operator_around(nodes, nodes[i].parent) for i in launches], np.int32),
        flow=np.ones(pieces, bool),
    )
    table = collect(work, host, np.zeros(pieces, bool), TEXTS, DCTX).table
    assert int(table.direct_ns.sum()) == 5 * pieces
    found: Counter[str] = Counter()
    hosts: list[int] = table.host.tolist()
    names: list[int] = table.name.tolist()
    for at, name, pieces_of in zip(hosts, names, table.count.tolist(), strict=True):
        text: str = table.names[name]
        synthetic = text.endswith("(Synthetic Op)")
        found[text if synthetic else f"{at} {text}"] += pieces_of
    return found


@given(trees())
def test_rows_are_those_of_a_walk(nodes: list[Node]) -> None:
    assert collected(nodes) == walked(nodes)
