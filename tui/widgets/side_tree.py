"""Two trees side by side, row against row; one tree with columns of changes where it is narrow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from .columns import GAP, Layout, Placed
from .fit import clean, fit
from .rows_window import Piece
from .sources import ColumnSpec, TreeLine, TreeSource
from .tree_table import TreeTable

TWO_TREES = 157
"""From so many cells after the edges two trees are drawn: a terminal of 160."""
CHANGE, SIGN, BASE, TARGET, BASE_LABEL = "change", "sign", "base", "target", "base_label"


@dataclass(frozen=True, slots=True)
class SideLine(TreeLine):
    """A row of both trees; `label` is the target's name, or the base's where it is the only one."""

    base_label: str | None = None
    """Its name in the base; None: the base has no such row."""
    in_target: bool = True
    short_note: str = ""
    """In place of `note` where two trees show the rest of it."""


class SideSource(TreeSource, Protocol):
    """A `TreeSource` of two trees. Columns `base` and `target` have their figures."""

    @property
    def base_label_column(self) -> ColumnSpec:
        """Of the names at the left, where two trees stand side by side."""
        ...

    @property
    def target_label_column(self) -> ColumnSpec: ...
    def rows(self, first: int, count: int) -> Sequence[SideLine]: ...


class SideTree(TreeTable):
    """Draws a `SideSource`. Cursor, folding, scrolling and filter are one for both trees, because
    every row is one line: base at the left, the change in the middle, target at the right."""

    LAYERS: ClassVar[dict[str, str]] = {"slower": "rows--warning", "faster": "rows--accent"}

    def __init__(
        self,
        source: SideSource,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(source, id=id, classes=classes)
        self._two: SideSource = source

    def set_source(self, source: TreeSource, node: int = -1) -> None:
        """Show another `SideSource`."""
        self._two = source  # type: ignore[assignment]
        super().set_source(source, node)

    @property
    def two_trees(self) -> bool:
        """Whether there is room for both."""
        return self.layout_now.width >= TWO_TREES

    def make_layout(self, width: int) -> Layout:
        if width < TWO_TREES:
            return super().make_layout(width)
        columns = self._two.columns
        places = {column.key: index for index, column in enumerate(columns)}
        left, right = places.pop(BASE), places.pop(TARGET)
        middle = [columns[index] for index in places.values()]
        fixed = sum(column.width + GAP for column in (*middle, columns[left], columns[right]))
        label = (width - fixed - 2 * GAP) // 2
        placed: list[Placed] = []
        x = 0
        for spec, index, cells in (
            (columns[left], left, columns[left].width),
            (self._two.base_label_column, len(columns) + 1, label),
            *((columns[index], index, columns[index].width) for index in places.values()),
            (columns[right], right, columns[right].width),
        ):
            placed.append(Placed(spec, index, x, cells))
            x += cells + GAP
        placed.append(Placed(self._two.target_label_column, len(columns), x, width - x))
        return Layout(tuple(placed), width)

    def row_pieces(self, row: int, layout: Layout) -> tuple[list[Piece], bool]:
        line = self.line(row)
        if not isinstance(line, SideLine):
            return [Piece(" " * layout.width)], False
        style = "rows--dim" if line.dim else ""
        kind = style or self.LAYERS.get(line.layer, "")
        two = layout.width >= TWO_TREES
        pieces: list[Piece] = []
        x = 0
        for column in layout.placed:
            gap = " " * (column.x - x)
            x = column.x + column.width
            if column.index < len(line.cells):
                text = fit(
                    clean(line.cells[column.index]), column.width, column.spec.align,
                    self.glyphs.ellipsis,
                )  # fmt: skip
                side = column.spec.key in (BASE, TARGET)
                pieces.append(Piece(gap + text, style if side else kind))
            elif not two:
                pieces.append(Piece(gap))
                pieces += self._label_pieces(line, column.width, style)
            else:
                pieces.append(Piece(gap))
                pieces += self._side(line, column, style)
        return pieces, line.marked

    def _side(self, line: SideLine, column: Placed, style: str) -> list[Piece]:
        """One of the two trees; a row that it does not have leaves its place empty."""
        if column.spec.key == BASE_LABEL:
            if line.base_label is None:
                return [Piece(" " * column.width)]
            plain = replace(line, label=line.base_label, note="", layer="")
            return self._label_pieces(plain, column.width, style)
        if not line.in_target:
            return [Piece(" " * column.width)]
        plain = replace(line, note=line.short_note, layer="")
        return self._label_pieces(plain, column.width, style)
