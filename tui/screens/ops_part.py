"""The part of Ops that has the tree: of which device, its plot, and the detail of the row."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on
from textual.containers import Container
from textual.widget import AwaitMount, Widget

from ...analyzers.op_hierarchy import (
    Category,
    Instance,
    Operator,
    OpHierarchy,
    UniqueCall,
    op_hierarchy,
)
from ...queries.capture import Device, devices
from ...queries.metric import Metric
from ...queries.operators import calls_by_arguments
from ...reports import format as fmt
from ...reports.ops_text import architecture_line
from ...reports.own_files import usable_files
from ..session import Session
from ..widgets.detail_pane import DetailPane
from ..widgets.filter_input import FilterInput
from ..widgets.roofline_plot import RooflinePlot
from ..widgets.status_line import StatusLine
from ..widgets.tree_table import TreeTable
from .asking import failed
from .detail_view import DETAIL_WIDTH, DetailView
from .ops_detail import CallAnswer, ask_call, of_call, of_group, plot_of, roof_of
from .ops_tree import OpSource
from .view import nothing_matches

NO_OPERATORS = "no operators recorded: launches and kernels only"


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one device, None where there is none; and which devices there are."""

    devices: list[Device]
    device: Device | None
    tree: OpHierarchy | None
    has_ops: bool
    line: str
    """Whose limits the rooflines are; without a device where operators are told instead."""


def _instead(session: Session) -> str:
    """Why no piece of GPU work has an operator, and where operators are told. In a worker."""
    why = "No GPU work in this trace, so no cost of operators on a GPU. "
    if Metric.GPU in session.tree(None).measured:
        why = "GPU work was summed up as it ran: no single piece of it has an operator. "
    if calls_by_arguments(session.trace):
        return (
            f"{why}dctx report --sheet op_calls lists operators by their shapes, with FLOPs and "
            "bytes; 2 Call paths has their time."
        )
    return f"{why}2 Call paths has the time of operators."


class OpsPart(DetailView):
    """Asks for the operators, and says what is shown of them."""

    def __init__(self) -> None:
        super().__init__()
        self._devices: list[Device] = []
        self._device: int | None = None
        self._source: OpSource | None = None
        self._has_ops = True
        self._line = ""
        self._matches: int | None = None
        self._text = ""

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        with Container(id="main"), Container(id="ops-side"):
            yield RooflinePlot(id="roofline")
            yield DetailPane(id="detail")
        yield FilterInput("part of an operator's name, type or shape")

    # ----------------------------------------------------------------- data --

    def opened(self, session: Session) -> None:
        self.show_body()
        self.query_one(StatusLine).left = "reading the events …"

    def events_loaded(self, session: Session) -> None:
        self._load()

    def rank_set(self) -> None:
        self._load()

    def _load(self) -> None:
        session = self.session
        if session is None or not session.trace.events_ready:
            return
        rank, wanted, given = self.app.rank, self._device, self.app.own_files

        def load() -> Answer | str:
            try:
                return find()
            except Exception as error:  # the other views do not depend on it
                return failed(error)

        def find() -> Answer:
            files, why = usable_files(given)
            report = session.op_report(files)
            known = [
                found
                for found in devices(session.trace)
                if any(part.device == found.device for part in report.devices)
                and (rank is None or found.device in rank.devices)
            ]
            chosen = next((d for d in known if d.device == wanted), next(iter(known), None))
            if chosen is None:
                return Answer(known, None, None, report.has_ops, _instead(session))
            part = next(p for p in report.devices if p.device == chosen.device)
            found = files.architecture(part.name)
            tree = op_hierarchy(report, part, found)
            line = why or architecture_line(part.name, found, asked=files.chosen is not None)
            return Answer(known, chosen, tree, report.has_ops, line)

        self.query_one(StatusLine).left = "summing up the operators …"
        self.ask("ops", load, self._loaded, rows=True)

    def _loaded(self, answer: Answer | str) -> None:
        if isinstance(answer, str):
            self.query_one(StatusLine).left = answer
            self.rows_ready()
            return
        self._devices, self._line, self._has_ops = answer.devices, answer.line, answer.has_ops
        self._device = None if answer.device is None else answer.device.device
        tree = answer.tree
        plot = self.query_one(RooflinePlot)
        if tree is None:
            self._source = None
            for table in self.query(TreeTable):
                table.remove()
            self.query_one(StatusLine).left = self._why_none()
            self.query_one(DetailPane).say(self._why_none())
            plot.show(None)
            self.rows_ready()
            self.refresh_bindings()
            return
        old = self._source
        source = self._source = OpSource(tree, self._want_instances)
        drawn = plot_of(tree) if self._has_ops else None
        plot.say = self._why_no_plot(tree)
        plot.show(drawn)
        tables = list(self.query(TreeTable))
        if old is None or not tables:
            table = TreeTable(source, id="tree")
            self.call_next(self._begin, self.query_one("#main").mount(table, before=0))
        else:
            at = source.find(old.item(tables[0].cursor_node))
            source.sort_by(*old.order)
            if self._text:
                self._matches = source.filter(self._text)
            if at >= 0:
                source.reveal(at)
            tables[0].set_source(source, at)
            self.ask_detail()
        self.refresh_bindings()
        self._say()

    async def _begin(self, mounted: AwaitMount) -> None:
        await mounted
        self.set_focus(self.table)
        self._say()
        self.ask_detail()
        self.rows_ready()

    @property
    def table(self) -> TreeTable:
        return self.query_one("#tree", TreeTable)

    def _why_none(self) -> str:
        if self.app.rank is not None:
            return f"No GPU work of {self.app.rank.label}. r shows the other ranks."
        return self._line

    def _why_no_plot(self, tree: OpHierarchy) -> str:
        if not self._has_ops:
            return (
                "No roofline: the trace records no operators, so FLOPs and bytes are not known. "
                "Times and kernels below are complete. Record with torch.profiler and "
                "record_shapes=True for rooflines."
            )
        if tree.architecture is None:
            return f"N{self._line[1:]}." if self._line else ""
        return (
            "No roofline: no operator has both a performance model and its shapes. Record with "
            "record_shapes=True; a file given by --ext can add models."
        )

    def _say(self) -> None:
        source = self._source
        if source is None:
            return
        parts: list[str] = []
        if len(self._devices) > 1:
            label = next(d.label for d in self._devices if d.device == self._device)
            parts.append(f"{label} of {len(self._devices)}")
        parts.append(self._line if self._has_ops else NO_OPERATORS)
        if self._matches is not None:
            parts.append(f"{fmt.count(self._matches)} match “{self._text}”")
        for table in self.query(TreeTable):
            table.empty_text = nothing_matches(self._text)
        line = self.query_one(StatusLine)
        line.left = " · ".join(parts)
        line.right = f"{fmt.duration(source.tree.gpu_ns)} without comm"

    # ------------------------------------------------------------ single calls --

    def _want_instances(self, node: int) -> None:
        source = self._source
        call = None if source is None else source.call(node)
        if source is None or call is None:
            return

        def show(found: list[Instance]) -> None:
            if source is self._source:
                source.add_instances(node, found)
                self.table.reload()

        self.ask(f"instances-{node}", lambda: source.tree.instances(call), show, rows=True)

    # ------------------------------------------------------------------ detail --

    @on(TreeTable.Highlighted)
    def _highlighted(self) -> None:
        self._mark()
        self.ask_detail_soon()

    def _mark(self) -> None:
        source = self._source
        if source is not None:
            node = self.table.cursor_node
            item = source.call(node) or source.item(node)
            self.query_one(RooflinePlot).choose(source.groups(node), roof_of(source.tree, item))

    def ask_detail(self) -> None:
        session, source = self.session, self._source
        if session is None or source is None or not self.query(TreeTable):
            return
        self._mark()
        if not self.detail_shown:
            return
        item = source.item(self.table.cursor_node)
        call = item if isinstance(item, UniqueCall) else None
        if not isinstance(item, Category | Operator):
            call = source.call(self.table.cursor_node)
        if call is not None:
            wanted = call
            self.ask(
                "detail",
                lambda: ask_call(session.trace, source.tree, wanted),
                lambda answer: self._show_call(wanted, answer),
            )
        elif isinstance(item, Category | Operator):
            self.show_detail(of_group(item, source.tree))
        else:
            self.query_one(DetailPane).say("")

    def _show_call(self, call: UniqueCall, answer: CallAnswer) -> None:
        if self._source is not None:
            self.show_detail(of_call(call, answer, self._source.tree.architecture))

    @property
    def detail_shown(self) -> bool:
        return bool(self.query_one("#ops-side").display and self.query_one(DetailPane).display)

    def action_roofline(self) -> None:
        """Show or hide the plot, against what the width of the terminal suggests."""
        wide = self.size.width >= DETAIL_WIDTH
        shown = bool(self.query_one("#ops-side").display and self.query_one(RooflinePlot).display)
        self.remove_class("-detail-on")
        self.set_class(not shown and not wide, "-plot-on")
        self.set_class(shown and wide, "-plot-off")

    def action_detail(self) -> None:
        self.remove_class("-plot-on")
        super().action_detail()
