"""The rows of the Comms view: collectives by what they were called with, and waits by rank."""

from collections.abc import Callable, Sequence

from ...analyzers.collective_calls import CollectiveCall
from ...analyzers.collective_stragglers import Straggler
from ...analyzers.collective_waits import WaitMap
from ...analyzers.collectives import Collectives
from ...reports import format as fmt
from ...reports.arguments import short_type
from ..export import Table
from ..widgets.row_list import Row
from ..widgets.sources import ColumnSpec, TableRow

SHADES = "·░▒▓█"
ASCII_SHADES = ".-+#@"
STEPS = (0.1, 0.25, 0.5, 0.75)
"""Shares of the largest wait from which on the next darker shade is taken."""
WIDEST_PIECE = 4
"""Cells of a collective, where there are few."""

Value = Callable[[CollectiveCall], float | str | None]

_VALUES: dict[str, Value] = {
    "total": lambda call: call.total_ns,
    "count": lambda call: call.collectives,
    "name": lambda call: label_of(call).casefold(),
    "type": lambda call: call.dtype,
    "group": lambda call: group_of(call).casefold(),
    "size": lambda call: call.full_bytes,
    "latency": lambda call: call.latency_ns,
    "wait": lambda call: call.wait_ns,
    "exposed": lambda call: call.exposed_ns / call.total_ns if call.total_ns else None,
    "algorithm": lambda call: call.algorithm_gbs,
    "bus": lambda call: call.bus_gbs,
}


def label_of(call: CollectiveCall) -> str:
    """Its name; of one without, that of its kernel."""
    return call.name or call.kernel


def group_of(call: CollectiveCall) -> str:
    """Name of its group and how many ranks it has."""
    group = call.group
    name = "" if group is None or group.name is None else group.name
    size = "" if call.group_size is None else f"{call.group_size} ranks"
    return " · ".join(part for part in (name, size) if part) or fmt.NA


class CallTable:
    """Collectives in an order, of which those with `text` in name, type or group are shown."""

    def __init__(self, calls: Sequence[CollectiveCall]) -> None:
        self.calls = list(calls)
        self.shown = list(calls)
        self._whole = sum(call.total_ns for call in calls)
        self._total = fmt.time_column(max((call.total_ns for call in calls), default=0))
        times = [t for call in calls for t in (call.latency_ns, call.wait_ns) if t is not None]
        self._single = fmt.time_column(max(times, default=0))

    @property
    def columns(self) -> tuple[ColumnSpec, ...]:
        single = self._single.unit
        return (
            ColumnSpec("share", "share", 7, sortable=False),
            ColumnSpec("total", f"time {self._total.unit}", 9),
            ColumnSpec("name", "collective", 14, align="left", flexible=True),
            ColumnSpec("type", "type", 5, align="left"),
            ColumnSpec("size", "message", 9),
            ColumnSpec("count", "count", 5),
            ColumnSpec("latency", f"latency {single}", 11),
            ColumnSpec("wait", f"wait {single}", 10),
            ColumnSpec("exposed", "exposed", 8),
            ColumnSpec("bus", "bus GB/s", 9),
            ColumnSpec("algorithm", "alg GB/s", 9),
            ColumnSpec("group", "group", 22, align="left"),
        )

    def arrange(self, key: str, descending: bool, text: str) -> None:
        """Order and filter; what is not known comes last in either direction."""
        needle = text.casefold()
        found = [
            call
            for call in self.calls
            if needle in f"{label_of(call)} {call.dtype or ''} {group_of(call)}".casefold()
        ]
        value = _VALUES[key]
        known = [call for call in found if value(call) is not None]
        known.sort(key=lambda call: value(call) or 0, reverse=descending)
        self.shown = known + [call for call in found if value(call) is None]

    def rows(self) -> list[TableRow]:
        """All rows shown; a row's key is its place in `calls`."""
        places = {id(call): place for place, call in enumerate(self.calls)}
        return [TableRow(places[id(call)], self._cells(call)) for call in self.shown]

    def _cells(self, call: CollectiveCall) -> list[str]:
        exposed = call.exposed_ns / call.total_ns if call.total_ns else None
        return [
            fmt.share(call.total_ns / self._whole if self._whole else None),
            self._total.text(call.total_ns),
            label_of(call),
            fmt.NA if call.dtype is None else short_type(call.dtype),
            fmt.size(call.full_bytes),
            fmt.count_short(call.collectives),
            self._single.text(call.latency_ns, fmt.NA),
            self._single.text(call.wait_ns, fmt.NA),
            fmt.share(exposed),
            fmt.number(call.bus_gbs),
            fmt.number(call.algorithm_gbs),
            group_of(call),
        ]

    def table(self) -> Table:
        """Raw values of the rows shown."""
        columns = (
            "collective",
            "kernel",
            "dtype",
            "group",
            "group_size",
            "message_bytes",
            "collectives",
            "kernels",
            "total_ns",
            "exposed_ns",
            "latency_ns",
            "mean_wait_ns",
            "most_skew_ns",
            "algorithm_gb_per_s",
            "bus_gb_per_s",
        )
        rows = [
            (
                call.name,
                call.kernel,
                call.dtype,
                None if call.group is None else call.group.name,
                call.group_size,
                call.full_bytes,
                call.collectives,
                call.kernels,
                call.total_ns,
                call.exposed_ns,
                call.latency_ns,
                call.wait_ns,
                call.skew_ns,
                call.algorithm_gbs,
                call.bus_gbs,
            )
            for call in self.shown
        ]
        return Table(columns, rows)


def shade(wait_ns: float, most_ns: float, shades: str) -> str:
    """A blank where there is no wait to tell."""
    if wait_ns != wait_ns:
        return " "
    share = wait_ns / most_ns if most_ns > 0 else 0.0
    return shades[sum(share >= step for step in STEPS)]


def wait_heading(collectives: int) -> str:
    """Above `wait_rows`."""
    return f"{'rank':>6} {'waits':>9} {'last':>13}  first to last of {fmt.count(collectives)}"


def wait_rows(
    waits: WaitMap, late: Sequence[Straggler], found: Collectives, shades: str, width: int
) -> list[Row]:
    """A line for each rank: how long it waits, how often it is the last, and when it waits, in at
    most `width` cells."""
    cells = max(1, min(WIDEST_PIECE, width // waits.mean_wait_ns.shape[1]))
    by_member = {one.member: one for one in late}
    rows: list[Row] = []
    for place, member in enumerate(waits.members):
        one = by_member[member]
        last = f"{fmt.count(one.times_last)} of {fmt.count(one.collectives)}"
        strip = "".join(shade(w, waits.most_ns, shades) * cells for w in waits.mean_wait_ns[place])
        figures = (
            f"{found.members[member].rank:>6} {fmt.duration(one.judged_wait_ns):>9} {last:>13}  "
        )
        rows.append(Row(strip, figures, target=waits.worst[place]))
    return rows


def legend(waits: WaitMap, shades: str) -> str:
    """What the shades mean, from which mean wait on."""
    steps = [
        f"{mark} {fmt.duration(step * waits.most_ns)}"
        for mark, step in zip(shades[1:], STEPS, strict=True)
    ]
    return "  ".join([f"{shades[0]} less", *steps])
