"""The programs that XLA compiled while GPU work was recorded: the chunk XHLO."""

from __future__ import annotations

from ..jax.recording import Blob
from .packed import unpacked
from .table import Table


class HloPrograms:
    """Of one process."""

    def __init__(self) -> None:
        self.blobs: list[Blob] = []

    def __len__(self) -> int:
        return len(self.blobs)

    def take(self, table: Table) -> bool:
        """More of them; False when one cannot be unpacked."""
        rows = zip(table.integers(0).tolist(), table.texts(1), table.blobs(2), strict=True)
        for number, name, packed in rows:
            program = unpacked(packed)
            if program is None:
                return False
            self.blobs.append(Blob(f"{name}({number})", number, number, memoryview(program)))
        return True
