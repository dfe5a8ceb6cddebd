"""Book-keeping of rows: each row of each table is used, or left out for a named reason."""

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray


class RowAccount:
    """Rows per table of the file, and why some were not used. `used` is what remains."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.read: set[str] = set()
        self.left_out: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.remarks: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Rows that are used, but not as recorded (bad time, open range)."""

    def leave_out(self, table: str, reason: str, rows: int) -> None:
        """`rows` rows of `table` are not used because of `reason`."""
        if rows:
            self.left_out[table][reason] += rows

    def remark(self, table: str, what: str, rows: int) -> None:
        """`rows` rows of `table` are used, with a correction."""
        if rows:
            self.remarks[table][what] += rows

    def facts(self) -> dict[str, object]:
        """Facts for the store: rows.<table>, used.<table>, unused.<table>.<reason>."""
        facts: dict[str, object] = {}
        for table, rows in self.rows.items():
            unused = self.left_out[table]
            if table not in self.read:
                unused = Counter({"not_read": rows}) if rows else Counter[str]()
            facts[f"rows.{table}"] = rows
            facts[f"used.{table}"] = rows - unused.total()
            facts.update({f"unused.{table}.{reason}": n for reason, n in unused.items()})
            for what, n in self.remarks[table].items():
                facts[f"{what}.{table}"] = n
        return facts


def count(mask: NDArray[np.bool_]) -> int:
    """Number of rows where `mask` is true."""
    return int(np.count_nonzero(mask))
