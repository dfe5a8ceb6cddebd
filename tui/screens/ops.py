"""View 4: what the operators cost, how near they come to the roofline, and with which arguments."""

from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widgets import Input

from ...analyzers.op_hierarchy import Category, Instance, Operator, UniqueCall
from ...queries.places import host_node
from ...reports.ops_text import arguments_of
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..widgets.filter_input import FilterInput
from ..widgets.row_list import RowList
from ..widgets.tree_table import TreeTable
from .ops_detail import ask_call
from .ops_part import OpsPart


class OpsScreen(OpsPart):
    """A tree of operators with the roofline and the detail of the row under the cursor."""

    VIEW = "ops"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("ops")]

    # ------------------------------------------------------------------ filter --

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterInput).focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        self._set_filter(event.value.strip())

    @on(FilterInput.Accepted)
    @on(FilterInput.Cleared)
    def _leave_filter(self) -> None:
        self.set_class(bool(self._text), "-filtering")
        for table in self.query(TreeTable):
            table.focus()

    def _set_filter(self, text: str) -> None:
        field = self.query_one(FilterInput)
        if field.value.strip() != text:
            field.value = text
        source = self._source
        if source is None or text == self._text:
            return
        self._text = text
        found = source.filter(text)
        self._matches = found if text else None
        self.table.highlight(text)
        self.table.reload()
        self._say()

    def cancel(self) -> bool:
        if self._text or self.has_class("-filtering"):
            self._set_filter("")
            self._leave_filter()
            return True
        if self.has_class("-plot-on"):
            self.remove_class("-plot-on")
            return True
        return self.close_detail()

    # ----------------------------------------------------------------- actions --

    @on(TreeTable.Opened)
    def _opened(self) -> None:
        """Groups unfold; calls lead to their call paths."""
        source, node = self._source, self.table.cursor_node
        if source is None:
            return
        item = source.item(node)
        if isinstance(item, Category | Operator):
            self.table.action_toggle_fold()
            return
        host = item.host if isinstance(item, Instance) else None
        if isinstance(item, UniqueCall):
            host = item.example
        self._to_path(host)

    def _to_path(self, host: int | None) -> None:
        session = self.session
        if session is None or host is None:
            return
        if host < 0:
            self.notify("The launch of this call is not in the trace: u leads to its kernel.")
            return

        def show(node: int | None) -> None:
            if node is not None:
                self.app.lead("paths", Target(node=node))

        self.ask("lead", lambda: host_node(session.trace, host), show)

    def action_kernels(self) -> None:
        """Lead to the kernel that takes most of the row's time."""
        session, source = self.session, self._source
        if session is None or source is None:
            return
        node = self.table.cursor_node
        item = source.item(node)
        call = source.call(node)
        if call is None and isinstance(item, Category):
            call = max(
                (c for op in item.operators for c in op.calls), key=lambda c: c.gpu_ns, default=None
            )
        elif call is None and isinstance(item, Operator):
            call = max(item.calls, key=lambda c: c.gpu_ns, default=None)
        if call is None:
            return
        wanted = call

        def find() -> Target | None:
            answer = ask_call(session.trace, source.tree, wanted)
            pairs = zip(answer.kernels, answer.targets, strict=True)
            return max(pairs, key=lambda pair: pair[0].total_ns, default=(None, None))[1]

        def show(target: Target | None) -> None:
            if target is not None:
                self.app.lead("kernels", target)

        self.ask("lead", find, show)

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        target, source = message.row.target, self._source
        if isinstance(target, Target):
            self.app.lead("kernels" if target.op is not None else "paths", target)
        elif isinstance(target, UniqueCall) and source is not None:
            node = source.find(target)
            source.reveal(node)
            self.table.select(node)
            self.table.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_device":
            return len(self._devices) > 1
        return super().check_action(action, parameters)

    def action_next_device(self) -> None:
        choices = [found.device for found in self._devices]
        if self._device in choices:
            self._device = choices[(choices.index(self._device) + 1) % len(choices)]
            self._load()

    def action_copy(self) -> None:
        source = self._source
        if source is None:
            return
        item = source.item(self.table.cursor_node)
        if isinstance(item, Category | Operator):
            self.copy(item.name)
        else:
            call = source.call(self.table.cursor_node)
            if call is not None:
                self.copy(f"{call.name} {arguments_of(call)}".strip())

    @property
    def exportable(self) -> bool:
        return self._source is not None

    def export_table(self) -> Table:
        assert self._source is not None
        return self._source.table()
