"""The open trace, and the answers already asked of it."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..ingest.selection import Asked, select
from ..queries.trace import Trace

if TYPE_CHECKING:  # the store brings DuckDB: not needed to draw the first screen
    from ..ingest.store import Store
    from ..queries.paths import CallTree
    from ..queries.ranks import Rank


class Session:
    """One trace while it is open. Its methods may query: call them in workers."""

    def __init__(self, asked: Asked, store: "Store") -> None:
        selection = select(asked)
        self.path = selection.path
        self.trace = Trace(store)
        self._files = selection.files
        self._trees: dict[int | None, CallTree] = {}
        self._ranks: list[Rank] | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the trace and its store: nothing may be written over them."""
        store = self.trace.store.path
        return self._files if store is None else (*self._files, store)

    def close(self) -> None:
        """Give the store back; waits for questions that are being answered."""
        self.trace.store.close()

    def tree(self, device: int | None) -> "CallTree":
        """The call-path tree over one device, or all; read once."""
        from ..queries.paths import CallTree

        tree = self._trees.get(device)
        if tree is None:
            tree = self._trees[device] = CallTree.load(self.trace, device)
        return tree

    def ranks(self) -> "list[Rank]":
        """The ranks of a trace of several processes, else none; found once. Reads events."""
        from ..queries.lanes import processes
        from ..queries.ranks import ranks

        if self._ranks is None:
            several = len(processes(self.trace)) > 1
            self._ranks = ranks(self.trace, self.tree(None)) if several else []
        return self._ranks
