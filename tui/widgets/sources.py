"""What the row widgets draw: columns, rows, and where a tree gets its rows from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

State = Literal["open", "closed", "leaf"]


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column of a tree-table or table. Widths are in terminal cells."""

    key: str
    """Name of the column towards the source (sorting)."""
    header: str
    width: int
    """For a flexible column the least width; it takes what the others leave."""
    align: Literal["left", "right"] = "right"
    rank: int = 0
    """When a tree is too narrow the column with the highest rank goes first; 0 always stays."""
    bar: int = 0
    """Cells of the width that show the row's `share` as a bar, before the text."""
    flexible: bool = False
    sortable: bool = True


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One visible row of a tree."""

    node: int
    depth: int
    state: State
    label: str
    cells: Sequence[str]
    """One text for each of `TreeSource.columns`."""
    share: float | None = None
    """0 to 1, for the column with a bar; None draws no bar."""
    layer: str = ""
    """Colour of the label: one of `TreeTable.LAYERS`, or nothing."""
    tag: str = ""
    """What the layer is, in a word, before the label."""
    note: str = ""
    """Said behind the label, and never shortened."""
    dim: bool = False
    marked: bool = False


class TreeSource(Protocol):
    """A tree in memory. Every call must answer within microseconds per row: it is drawn from."""

    @property
    def columns(self) -> Sequence[ColumnSpec]:
        """The metric columns, in order; none flexible."""
        ...

    @property
    def label_column(self) -> ColumnSpec:
        """The column of the labels; its width is the least the labels get."""
        ...

    @property
    def order(self) -> tuple[str, bool]:
        """Column key the siblings are ordered by, and whether descending."""
        ...

    def sort_by(self, key: str, descending: bool) -> None: ...
    def row_count(self) -> int: ...
    def rows(self, first: int, count: int) -> Sequence[TreeLine]: ...
    def row_of(self, node: int) -> int:
        """Row of a node, -1 when it is not visible."""
        ...

    def parent(self, node: int) -> int:
        """Parent of a node, -1 for a root."""
        ...

    def expand(self, node: int) -> None: ...
    def collapse(self, node: int) -> None: ...
    def expand_subtree(self, node: int) -> None: ...
    def expand_all(self) -> None: ...
    def collapse_all(self) -> None: ...


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table. `key` identifies it whatever the order."""

    key: int
    cells: Sequence[str]
    """One text for each column."""
    share: float | None = None
    dim: bool = False
    marked: bool = False
