"""Which layers of the call paths are shown: presets, and every layer by itself."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from ...queries.layers import Hidden, LayerGroup
from ...reports import format as fmt
from ..keys import bindings
from ..widgets.row_list import Row, RowList

PRESETS: Mapping[str, frozenset[LayerGroup]] = {
    "all layers": frozenset(LayerGroup),
    "modules, their operators and kernels": frozenset(
        {LayerGroup.MODULES, LayerGroup.OPERATORS, LayerGroup.GPU}
    ),
    "operators and kernels": frozenset({LayerGroup.OPERATORS, LayerGroup.GPU}),
    "Python functions and kernels": frozenset(
        {LayerGroup.PYTHON, LayerGroup.MODULES, LayerGroup.GPU}
    ),
}
"""What each shows."""


class LayersScreen(ModalScreen[None]):
    """Tells `choose` which groups are hidden, at every change."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog")]

    def __init__(
        self,
        counts: Mapping[LayerGroup, int],
        hidden: Hidden,
        choose: Callable[[Hidden], None],
    ) -> None:
        """`counts`: the layers that the trace has."""
        super().__init__()
        self._counts = counts
        self._hidden = hidden
        self._choose = choose

    def compose(self) -> ComposeResult:
        with Vertical(id="layers", classes="dialog") as box:
            box.border_title = "Layers of the call paths"
            box.border_subtitle = "enter switches · esc closes"
            yield RowList(self._rows())

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    def _presets(self) -> dict[str, Hidden]:
        """Those that differ in this trace, and what each hides of it."""
        found: dict[str, Hidden] = {}
        for name, shown in PRESETS.items():
            hidden = frozenset(self._counts) - shown
            some = name == "all layers" or LayerGroup.MODULES in self._counts
            if hidden not in found.values() and (some or "modules" not in name):
                found[name] = hidden
        return found

    def _rows(self) -> list[Row]:
        present = self._hidden & frozenset(self._counts)
        rows = [
            Row(name, "(o) " if hidden == present else "( ) ", target=name)
            for name, hidden in self._presets().items()
        ]
        for group, count in self._counts.items():
            sign = "[ ] " if group in present else "[x] "
            rows.append(Row(f"{group.value}, {fmt.count(count)}", sign, target=group))
        return rows

    @on(RowList.Opened)
    def _switch(self, message: RowList.Opened) -> None:
        target = message.row.target
        if isinstance(target, LayerGroup):
            self._hidden ^= {target}
        elif isinstance(target, str):
            self._hidden = self._presets()[target]
        self.query_one(RowList).set_rows(self._rows())
        self._choose(self._hidden)
