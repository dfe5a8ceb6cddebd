"""What was recorded so far, as trees of Python objects: for programs, tests and a first look."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .._core import Monitor

KINDS = (
    "root",
    "thread",
    "python",
    "scope",
    "op",
    "backward op",
    "native",
    "api",
    "memcpy",
    "memset",
    "kernel",
    "instruction",
    "hlo op",
    "fused",
    "[other]",
    "[elided]",
    "[launch not recorded]",
)
"""Names of the node kinds, in the order of their numbers."""


@dataclass(frozen=True)
class Frame:
    """One level of a call path."""

    kind: str
    name: str
    file: str = ""
    line: int = 0
    first_line: int = 0

    def __str__(self) -> str:
        if self.kind == "python":
            return f"{self.file}:{self.line} {self.name}"
        if self.kind.startswith("["):
            return self.kind
        return f"{self.name} (backward)" if self.kind == "backward op" else self.name


@dataclass
class Node:
    """A context and its exclusive values; times in ns. `count` is 0 for contexts that only lead to
    others."""

    frame: Frame
    count: int = 0
    sum_ns: int = 0
    self_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    sum_sq: float = 0.0
    host_gap_ns: int = 0
    cpu_ns: int = 0
    faults: int = 0
    bytes: int = 0
    ran_at: "Node | None" = None
    """Where a backward operator ran that hangs from its forward operator."""
    parent: "Node | None" = None
    children: "list[Node]" = field(default_factory=list["Node"])

    def walk(self) -> "Iterator[Node]":
        """This node and all below it, parents first."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def path(self) -> tuple[Frame, ...]:
        """Frames from below the thread to this node."""
        frames: list[Frame] = []
        node: Node = self
        while node.parent is not None:
            frames.append(node.frame)
            node = node.parent
        return tuple(reversed(frames))


@dataclass(frozen=True)
class ThreadTree:
    index: int
    os_thread: int
    top_level_ns: int
    """What the self times of all nodes sum up to (but for scopes that overlap)."""
    root: Node

    def __str__(self) -> str:
        return "\n".join(
            f"{'  ' * len(node.path())}{node.frame}  {node.count} in {node.sum_ns} ns"
            for node in self.root.walk()
        )


def frame_of(row: tuple[int, str, str, int, int]) -> Frame:
    kind, name, file, line, first_line = row
    return Frame(KINDS[kind], name, file, line, first_line)


def tree() -> list[ThreadTree]:
    """The calling context tree of each thread. Threads may go on: their figures are then those of
    about now."""
    trees: list[ThreadTree] = []
    for index, os_thread, top_level_ns, rows in Monitor.threads():
        nodes = [Node(frame_of(row[2]), *row[3:]) for row in rows]
        for node, row in zip(nodes, rows, strict=True):
            parent, alternate = row[0], row[1]
            if parent >= 0:
                node.parent = nodes[parent]
                nodes[parent].children.append(node)
            if alternate >= 0:
                node.ran_at = nodes[alternate]
        trees.append(ThreadTree(index, os_thread, top_level_ns, nodes[0]))
    return trees
