"""View M: how much memory was allocated over time, when most of it was, and by whom."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from ...ingest.capabilities import Capability
from ...queries.allocated import Allocated, Allocating, allocating
from ...queries.memory import MemoryContext, MemoryUse, Pool, memory_use, pools
from ...reports import format as fmt
from ..export import Table
from ..keys import bindings
from ..looking import Target
from ..session import Session
from ..widgets.area_chart import MARGIN, AreaChart, Areas
from ..widgets.row_list import Row, RowList
from ..widgets.status_line import StatusLine
from .details import memory_of
from .leads import minor_places
from .view import ViewScreen

CONTEXT_HEADING = f"{'share':>7} {'size':>9} {'count':>7}  path"
LEAST_BUCKETS = 10
LISTS = ("live", "allocating")
RESIZE_DELAY_S = 0.1

Answer = tuple[list[Pool], MemoryUse | None, list[Allocating]]


class MemoryScreen(ViewScreen):
    """A chart of one device's memory, and two lists that lead to the call paths."""

    VIEW = "memory"
    SCOPED = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("memory")]

    def __init__(self) -> None:
        super().__init__()
        self._pools: list[Pool] = []
        self._pool: Pool | None = None
        self._use: MemoryUse | None = None
        self._sums: list[Allocating] = []
        """Of a trace that tells sums alone, by device."""
        self._shown = 0
        """Of these."""

    def compose_body(self) -> Iterable[Widget]:
        yield StatusLine()
        yield Static(id="figures", markup=False)
        yield AreaChart(id="memory-chart")
        with Container(id="memory-lists"):
            for name in LISTS:
                yield RowList(id=name)

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
        rank, wanted = self.app.rank, self._pool
        buckets = max(LEAST_BUCKETS, self.size.width - MARGIN - 1)

        def load() -> Answer:
            known = pools(session.trace)
            sums = [] if known else allocating(session.trace)
            if rank is not None:
                known = [pool for pool in known if pool.process == rank.process]
            pool = wanted if wanted in known else next(iter(known), None)
            if pool is None:
                return known, None, sums
            return known, memory_use(session.trace, pool, buckets=buckets), sums

        self.ask("memory", load, self._loaded, rows=True)

    def _loaded(self, answer: Answer) -> None:
        first = self._use is None
        self._pools, use, self._sums = answer
        self._use, self._pool = use, None if use is None else use.pool
        self.set_class(use is None, "-no-memory")
        line = self.query_one(StatusLine)
        if self._sums:
            self._show_sums()
            return
        if use is None:
            line.left, line.right = "memory", ""
            self.query_one("#figures", Static).update(self._why_none())
            self.query_one(AreaChart).show(None)
        else:
            others = f" (d: {len(self._pools) - 1} more)" if len(self._pools) > 1 else ""
            line.left = f"memory of {fmt.clean(use.pool.label)}{others}"
            line.right = f"{fmt.count(use.pool.events)} events"
            self.query_one("#figures", Static).update("\n".join(figures(use)))
            self.query_one(AreaChart).show(areas(use))
        live = [] if use is None else context_rows(use.live)
        self._fill("live", "Held at the peak, by who allocated it", live)
        allocating = [] if use is None else context_rows(use.allocating)
        self._fill("allocating", "Allocated in all, freed or not", allocating)
        self.refresh_bindings()
        if first and use is not None:
            self.set_focus(self.query_one("#live" if live else "#allocating", RowList))
        self.rows_ready()

    def _show_sums(self) -> None:
        """No chart: when something was allocated is not known."""
        shown = self._sums[self._shown % len(self._sums)]
        line = self.query_one(StatusLine)
        others = f" (d: {len(self._sums) - 1} more)" if len(self._sums) > 1 else ""
        whose = " of all processes" if self.app.rank is not None else ""
        line.left = f"{memory_of(shown.total.device)}{whose}{others}"
        line.right = f"{fmt.count(shown.total.allocations)} allocations"
        self.set_class(False, "-no-memory")
        self.query_one("#figures", Static).update("\n".join(summed_figures(shown.total)))
        chart = self.query_one(AreaChart)
        chart.show(None)
        chart.display = False
        self._fill("live", "Took more than was given back meanwhile", context_rows(shown.keeping))
        self._fill("allocating", "Allocated in all, freed or not", context_rows(shown.taking))
        self.refresh_bindings()
        if self.focused is None:
            self.set_focus(self.query_one("#live" if shown.keeping else "#allocating", RowList))
        self.rows_ready()

    def _fill(self, name: str, title: str, rows: Sequence[Row]) -> None:
        panel = self.query_one(f"#{name}", RowList)
        panel.border_title = title
        panel.display = bool(rows)
        panel.set_rows(rows, CONTEXT_HEADING)

    def _why_none(self) -> str:
        """In place of a chart: what is lacking, and how to record it."""
        if self.app.rank is not None:
            return f"No memory events of {self.app.rank.label}. r shows the other ranks."
        overview = self.app.load_state.overview
        lacking = {} if overview is None else dict(overview.capture.lacking)
        reason = lacking.get(Capability.MEMORY)
        if reason is None:
            reason = (
                "the trace holds no allocations. PyTorch records them with "
                "profile(profile_memory=True), Nsight Systems with --cuda-memory-usage=true."
            )
        return f"No memory events: {fmt.clean(reason)}"

    def on_resize(self, event: events.Resize) -> None:
        """A bucket is one column wide."""
        if self._use is not None:
            self.set_timer(RESIZE_DELAY_S, self._load)

    # -------------------------------------------------------------- actions --

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_device":
            return max(len(self._pools), len(self._sums)) > 1
        return super().check_action(action, parameters)

    def action_next_device(self) -> None:
        if self._sums:
            self._shown += 1
            self._show_sums()
        if self._pool in self._pools:
            at = self._pools.index(self._pool) + 1
            self._pool = self._pools[at % len(self._pools)]
            self._load()

    @on(RowList.Opened)
    def _lead_on(self, message: RowList.Opened) -> None:
        if isinstance(message.row.target, Target):
            self.app.lead("paths", message.row.target)

    @on(RowList.Edge)
    def _edge(self, message: RowList.Edge) -> None:
        """The cursor goes on in the other list."""
        shown = [panel for panel in self.query(RowList) if panel.display]
        at = shown.index(message.list) + (1 if message.down else -1)
        if 0 <= at < len(shown):
            shown[at].focus()
            shown[at].move_to(0 if message.down else len(shown[at].rows) - 1)

    def action_copy(self) -> None:
        focused = self.focused
        row = focused.cursor_row if isinstance(focused, RowList) else None
        if row is not None:
            self.copy(row.label)

    @property
    def exportable(self) -> bool:
        return self._use is not None

    def export_table(self) -> Table:
        """The curve: the most in each bucket of time."""
        assert self._use is not None
        curve = self._use.curve
        width, count = curve.end_ns - curve.start_ns, len(curve.allocated_bytes)
        rows = [
            (curve.start_ns + i * width // count, allocated, reserved)
            for i, (allocated, reserved) in enumerate(
                zip(curve.allocated_bytes, curve.reserved_bytes, strict=True)
            )
        ]
        return Table(("start_ns", "allocated_bytes", "reserved_bytes"), rows)


def figures(use: MemoryUse) -> list[str]:
    """What was the most, and when."""
    pool = use.pool
    if pool.recorded:
        peak = f"peak {fmt.size(use.peak_bytes)} allocated"
    else:
        peak = f"peak {fmt.size(use.peak_bytes)} allocated since the recording began"
    lines = [f"{peak}, at {fmt.duration(use.peak_ns)}"]
    if use.peak_reserved_bytes:
        lines[0] += f" · at most {fmt.size(use.peak_reserved_bytes)} reserved"
    lines.append(
        f"{fmt.count(pool.allocations)} allocations, {fmt.size(pool.allocated_bytes)} in all"
    )
    if use.earlier_bytes:
        earlier = fmt.size(use.earlier_bytes)
        lines[1] += f" · {earlier} of the peak were allocated before the recording"
    return lines


def summed_figures(total: Allocated) -> list[str]:
    """What is known where each context has sums alone."""
    freed, most = fmt.size(total.freed_bytes), fmt.size(total.peak_bytes)
    return [
        f"at most {most} in use by the allocator, in one process",
        f"{fmt.count(total.allocations)} allocations, {fmt.size(total.bytes)} in all · {freed} "
        "given back · sums by context: there is no curve over time",
    ]


def areas(use: MemoryUse) -> Areas:
    """The curve with its scale."""
    curve = use.curve
    known = [b for b in (*curve.allocated_bytes, *curve.reserved_bytes) if b is not None]
    top = max(1, *known)
    return Areas(
        used=curve.allocated_bytes,
        taken=curve.reserved_bytes,
        top=top,
        top_text=fmt.size(top),
        half_text=fmt.size(top // 2),
        start_text=fmt.duration(curve.start_ns),
        end_text=fmt.duration(curve.end_ns),
    )


def context_rows(contexts: Sequence[MemoryContext]) -> list[Row]:
    """Under `CONTEXT_HEADING`; each leads to its call path."""
    return [
        Row(
            " > ".join(context.names) or "the context is not recorded",
            f"{fmt.share(context.share):>7} {fmt.size(context.bytes):>9} "
            f"{fmt.count_short(context.count):>7}  ",
            target=None if context.node is None else Target(node=context.node),
            parts=context.names,
            minor=minor_places(context.layers),
        )
        for context in contexts
    ]
