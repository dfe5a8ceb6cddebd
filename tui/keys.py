"""Every key of the application, in one table.

Bindings, the footer, the help screen and `docs/keys.md` are all made from `KEYS`; nothing else
in the package names a key, but for the modules that hold a part of the table. A key belongs to one
or more places: the application, a view, or a widget that can stand in several views. The ids are
stable, so `App.set_keymap` can rebind them.
"""

from collections.abc import Iterator, Mapping

from textual.binding import Binding

from .app_keys import APP_KEYS
from .compare_keys import COMPARE_KEYS, FLAME_KEYS
from .key_model import Footer, Group, Key, Place
from .sql_keys import SQL_KEYS
from .timeline_keys import TIMELINE_KEYS, TIMELINE_SIGNS
from .views import TRACE_VIEWS, VIEWS

ROWS: tuple[Place, ...] = ("tree", "table")
LINES: tuple[Place, ...] = (*ROWS, "list", "strip")
VIEW_PLACES: tuple[Place, ...] = tuple(info.view for info in TRACE_VIEWS)
"""Of keys that every view of a trace has."""
PANELS: tuple[Place, ...] = (
    "start",
    *(place for place in VIEW_PLACES if place not in ("compare", "timeline")),
)
"""Where tab goes from panel to panel; in Compare it swaps the sides, the timeline has but one."""

# Two lines each: what Textual needs, and what people are told.
# fmt: off
KEYS: tuple[Key, ...] = (
    Key("rows.up", ("up", "k"), "cursor_up", "up",
        "One row up", Group.MOVE, LINES),
    Key("rows.down", ("down", "j"), "cursor_down", "down",
        "One row down", Group.MOVE, LINES),
    Key("rows.page_up", ("pageup", "ctrl+b"), "page_up", "page up",
        "One page up", Group.MOVE, LINES),
    Key("rows.page_down", ("pagedown", "ctrl+f"), "page_down", "page down",
        "One page down", Group.MOVE, LINES),
    Key("rows.first", ("home", "g"), "cursor_first", "first",
        "First row", Group.MOVE, LINES),
    Key("rows.last", ("end", "G"), "cursor_last", "last",
        "Last row", Group.MOVE, LINES),
    Key("rows.open", ("enter",), "open", "open",
        "Open what the row stands for", Group.MOVE, LINES, footer=2),
    Key("rows.scroll_left", ("shift+left", "<"), "label_left", "text left",
        "Move long names to the right, to see their beginning", Group.MOVE, ("tree",)),
    Key("rows.scroll_right", ("shift+right", ">"), "label_right", "text right",
        "Move long names to the left, to see their end", Group.MOVE, ("tree",)),
    Key("table.left", ("left", "h"), "columns_left", "columns left",
        "Columns further left", Group.MOVE, ("table",)),
    Key("table.right", ("right", "l"), "columns_right", "columns right",
        "Columns further right", Group.MOVE, ("table",)),
    Key("strip.left", ("left", "h"), "step_left", "step",
        "The step before", Group.MOVE, ("strip",), footer=3, label="←→"),
    Key("strip.right", ("right", "l"), "step_right", "next step",
        "The step after", Group.MOVE, ("strip",)),
    Key("strip.extend_left", ("shift+left", "H"), "extend_left", "range left",
        "Extend the range to the step before", Group.MOVE, ("strip",)),
    Key("strip.extend_right", ("shift+right", "L"), "extend_right", "range right",
        "Extend the range to the step after", Group.MOVE, ("strip",)),
    Key("strip.mark", ("space",), "mark", "mark",
        "Begin a range of steps here; enter then chooses from here to the cursor",
        Group.MOVE, ("strip",), footer=4),
    Key("app.next_panel", ("tab",), "app.focus_next", "panel",
        "Next panel", Group.MOVE, PANELS, footer=9),
    Key("app.previous_panel", ("shift+tab",), "app.focus_previous", "panel back",
        "Previous panel", Group.MOVE, ("app",)),
    Key("tree.open", ("right", "l"), "unfold", "fold",
        "Unfold the row; on an open row go to its first child",
        Group.FOLD, ("tree",), footer=4, label="←→"),
    Key("tree.close", ("left", "h"), "fold", "close",
        "Fold the row; on a folded row go to its parent", Group.FOLD, ("tree",)),
    Key("tree.toggle", ("space", "+"), "toggle_fold", "toggle",
        "Fold or unfold the row", Group.FOLD, ("tree",)),
    Key("tree.expand_subtree", ("*",), "expand_subtree", "unfold below",
        "Unfold everything below the row", Group.FOLD, ("tree",)),
    Key("tree.expand_all", ("E",), "expand_all", "unfold all",
        "Unfold all", Group.FOLD, ("tree",)),
    Key("tree.collapse_all", ("C",), "collapse_all", "fold all",
        "Fold all", Group.FOLD, ("tree",)),
    Key("view.filter", ("/",), "filter", "filter",
        "Filter by name; empty shows everything again", Group.FIND,
        ("paths", "kernels", "ops", "comms", "compare"), footer=3,
        words=("search", "find", "grep")),
    Key("view.next_match", ("n",), "next_match", "next match",
        "Next row that matches the filter", Group.FIND, ("paths", "compare")),
    Key("view.previous_match", ("N",), "previous_match", "previous match",
        "Previous row that matches the filter", Group.FIND, ("paths", "compare")),
    Key("rows.sort", ("s",), "sort", "sort",
        "Sort: then the letter shown in a column's heading, or s again for the next column",
        Group.FIND, ROWS, footer=5, words=("order",)),
    Key("rows.reverse", ("S",), "reverse", "reverse",
        "Reverse the order", Group.FIND, ROWS),
    Key("paths.hot_path", ("z",), "hot_path", "hot path",
        "Unfold the heaviest path below the row", Group.FIND, ("paths",), footer=6),
    Key("paths.bottom_up", ("b",), "bottom_up", "bottom-up",
        "Turn the tree over: callers below their callees, and back",
        Group.SHOW, ("paths",), footer=7),
    Key("paths.metric", ("m",), "next_metric", "metric",
        "Next metric for shares and order (GPU time, host time, samples, …)",
        Group.SHOW, ("paths", "compare"), footer=10),
    Key("paths.layers", ("L",), "layers", "layers",
        "Choose the layers: Python, modules, operators, API calls, kernels",
        Group.SHOW, ("paths",), footer=8, words=("fold", "python", "modules", "operators")),
    Key("paths.limit", ("%",), "limit", "limit",
        "Hide paths below a share of the whole", Group.SHOW, ("paths",)),
    Key("view.device", ("d",), "next_device", "device",
        "Next device, or all of them", Group.SHOW,
        ("paths", "kernels", "ops", "memory"), footer=11),
    Key("view.rank", ("r",), "next_rank", "rank",
        "Next rank (process) alone, or all of them",
        Group.SHOW, VIEW_PLACES, footer=7,
        words=("process", "worker")),
    Key("view.window", ("w",), "next_window", "window",
        "Judge another part of the trace: the benchmark phase, the steady state, or all of it",
        Group.SHOW, ("overview", "steps"), footer=5, words=("steady", "benchmark", "verdict")),
    Key("scope.clear", ("x",), "app.clear_scope", "all steps",
        "The whole trace again, after steps were chosen", Group.SHOW,
        VIEW_PLACES, footer=5, words=("scope", "unselect", "clear")),
    Key("view.detail", ("v",), "detail", "detail",
        "Show or hide the detail of the row", Group.SHOW,
        ("paths", "kernels", "ops", "compare"),
        footer=9),
    Key("kernels.copies", ("c",), "copies", "copies",
        "Copies and memsets too, or kernels alone", Group.SHOW, ("kernels",), footer=7),
    Key("kernels.launches", ("a",), "launches", "launches",
        "Every single launch on the GPUs, of all names", Group.SHOW, ("kernels",), footer=6),
    Key("kernels.inside", ("i",), "inside", "inside",
        "The kernel from inside: occupancy, waves, slow launches, how to collect its stalls",
        Group.SHOW, ("kernels",), footer=4,
        words=("occupancy", "stalls", "ncu", "outliers", "roofline", "samples", "waits")),
    Key("paths.flame", ("f",), "flame", "flame",
        "The tree as a flame graph, as wide as it costs, and back; e there writes it to a file",
        Group.SHOW, ("paths",), footer=5, words=("icicle", "speedscope", "folded")),
    *COMPARE_KEYS,
    *FLAME_KEYS,
    *TIMELINE_KEYS,
    Key("ops.roofline", ("p",), "roofline", "plot",
        "Show or hide the roofline plot", Group.SHOW, ("ops",), footer=6,
        words=("roofline", "scatter", "intensity")),
    Key("view.zoom", ("Z",), "app.zoom_panel", "zoom",
        "Give the whole screen to the focused panel; esc gives it back", Group.SHOW, VIEW_PLACES),
    Key("app.theme", ("t",), "app.next_theme", "theme",
        "Next theme", Group.SHOW, ("app",)),
    Key("view.copy", ("y",), "copy", "copy",
        "Copy the row's path or name to the clipboard (OSC 52)", Group.TAKE, VIEW_PLACES, footer=8),
    Key("view.export", ("e",), "export", "export",
        "Export the view to a file", Group.TAKE, VIEW_PLACES, footer=12,
        words=("csv", "save", "write", "txt", "svg", "screenshot")),
    Key("paths.source_pane", ("O",), "source_pane", "source pane",
        "The source around the row with the cost of each line, instead of the detail, and back",
        Group.SHOW, ("paths",), footer=13, words=("code", "lines", "annotate")),
    Key("paths.next_line", ("]",), "next_line", "next line",
        "In the source pane: the next line that costs anything", Group.FIND, ("paths",), footer=6),
    Key("paths.previous_line", ("[",), "previous_line", "line before",
        "In the source pane: the costly line before", Group.FIND, ("paths",)),
    Key("paths.source", ("o",), "open_source", "source",
        "Open the source line of the row, or of its nearest caller, in $EDITOR",
        Group.TAKE, ("paths", "compare"), footer=13),
    Key("kernels.source", ("o",), "open_source", "source",
        "The kernel from inside: open the source line of the row, or the one that waits most, "
        "in $EDITOR", Group.TAKE, ("kernels",)),
    *SQL_KEYS,
    Key("rows.kernel", ("u",), "kernels", "kernel",
        "Show the kernel that takes most of the row's time in Kernels",
        Group.GO, ("ops", "comms"), footer=7),
    Key("start.browse", ("o",), "browse", "browse",
        "Choose a file", Group.GO, ("start",), footer=3),
    Key("filter.accept", ("enter", "down"), "accept", "keep",
        "Keep the filter and go to the rows", Group.FIND, ("filter",), footer=1),
    Key("filter.cancel", ("escape",), "cancel", "clear",
        "Clear the filter and go to the rows", Group.FIND, ("filter",), footer=2),
    Key("message.copy", ("y",), "copy", "copy",
        "Copy the message", Group.TAKE, ("message", "text"), footer=2),
    Key("message.retry", ("r",), "app.retry", "retry",
        "Read the trace again", Group.GO, ("message",), footer=3),
    Key("progress.cancel", ("escape",), "cancel", "cancel",
        "Stop reading the trace", Group.GO, ("progress",), footer=1),
    *APP_KEYS,
)
# fmt: on

SIGNS: Mapping[Footer, tuple[tuple[str, str], ...]] = {
    "paths": (("…21", "A row 21 levels deep, too deep to be indented further"),),
    "compare": (
        ("▲", "The target takes more, beyond chance"),
        ("▼", "The target takes less, beyond chance"),
        ("≈", "The change is within noise: no more than steps vary by chance"),
        ("-", "This side has no such row"),
    ),
    "timeline": TIMELINE_SIGNS,
    "flame": (
        ("▲", "The target takes more, beyond chance (orange)"),
        ("▼", "The target takes less, beyond chance (blue)"),
    ),
}
"""What signs in the rows of a view mean, for the help."""

CHAINS: Mapping[Footer, tuple[Place, ...]] = {
    "start": ("list", "start", "app"),
    "overview": ("list", "overview", "app"),
    "paths": ("tree", "paths", "app"),
    "kernels": ("table", "kernels", "app"),
    "ops": ("tree", "list", "ops", "app"),
    "comms": ("table", "list", "comms", "app"),
    "memory": ("list", "memory", "app"),
    "timeline": ("timeline", "app"),
    "steps": ("strip", "list", "steps", "app"),
    "compare": ("tree", "compare", "app"),
    "sql": ("table", "list", "sql", "app"),
    "statement": ("statement",),
    "flame": ("flame", "compare", "app"),
    "paths-flame": ("flame", "paths", "app"),
    "filter": ("filter",),
    "message": ("message", "app"),
    "progress": ("progress", "app"),
}
"""The places whose keys work at once, innermost first, under the name of the view or panel."""

TITLES: Mapping[Footer, str] = {
    **{info.view: info.title for info in VIEWS},
    "filter": "Filter",
    "message": "Messages",
    "progress": "Reading a trace",
    "statement": "Statement",
    "flame": "Flame graph",
    "paths-flame": "Flame graph",
}


def keys_at(*places: Place) -> Iterator[Key]:
    """The keys of any of the places, in the table's order."""
    return (key for key in KEYS if not set(places).isdisjoint(key.places))


def bindings(*places: Place) -> list[Binding]:
    """Textual bindings for the owner of the places (a `BINDINGS` class variable)."""
    return [
        Binding(
            ",".join(key.keys),
            key.action,
            key.short,
            show=bool(key.footer),
            id=key.id,
            tooltip=key.help,
            group=Binding.Group(key.group.value),
        )
        for key in keys_at(*places)
    ]
