"""The keys that lead from view to view, and those of the whole application, part of the one table
in `keys`."""

from .key_model import Group, Key

# fmt: off
APP_KEYS: tuple[Key, ...] = (
    Key("app.overview", ("1",), "app.view('overview')", "overview",
        "Overview", Group.GO, ("app",)),
    Key("app.paths", ("2",), "app.view('paths')", "paths",
        "Call paths", Group.GO, ("app",)),
    Key("app.kernels", ("3",), "app.view('kernels')", "kernels",
        "Kernels", Group.GO, ("app",)),
    Key("app.ops", ("4",), "app.view('ops')", "ops",
        "Ops", Group.GO, ("app",),
        words=("operators", "roofline", "shapes", "gemm", "flops", "arguments")),
    Key("app.timeline", ("5",), "app.view('timeline')", "timeline",
        "Timeline", Group.GO, ("app",), words=("gantt", "trace", "streams", "threads", "lanes")),
    Key("app.steps", ("6",), "app.view('steps')", "steps",
        "Steps", Group.GO, ("app",), words=("iterations", "idle", "gaps")),
    Key("app.comms", ("7",), "app.view('comms')", "comms",
        "Comms", Group.GO, ("app",),
        words=("collectives", "communication", "nccl", "stragglers", "allreduce", "bandwidth")),
    Key("app.compare", ("8",), "app.view('compare')", "compare",
        "Compare", Group.GO, ("app",), words=("diff", "regression", "versions")),
    Key("app.sql", ("9",), "app.view('sql')", "SQL",
        "SQL", Group.GO, ("app",), words=("query", "database", "duckdb", "console", "tables")),
    Key("app.memory", ("M",), "app.view('memory')", "memory",
        "Memory", Group.GO, ("app",), words=("allocations", "oom", "peak")),
    Key("app.open", ("ctrl+o",), "app.open_trace", "trace",
        "Open another trace", Group.GO, ("app",)),
    Key("app.palette", (":", "ctrl+p"), "app.command_palette", "commands",
        "Command palette", Group.GO, ("app",), footer=14),
    Key("app.help", ("?", "f1"), "app.help", "keys",
        "These keys", Group.GO, ("app", "dialog"), footer=1),
    Key("app.cancel", ("escape",), "app.cancel", "back",
        "One step back: zoom, filter, panel, view; never quits", Group.GO, ("app", "dialog")),
    Key("app.back", ("q",), "app.back", "back",
        "One step back, as esc; on the Overview, quit", Group.GO, ("app", "dialog"), footer=1),
    Key("app.quit", ("ctrl+q", "ctrl+c"), "app.quit", "quit",
        "Quit at once", Group.GO, ("app", "dialog"), words=("exit", "close", "leave")),
    Key("app.suspend", ("ctrl+z",), "app.suspend_process", "suspend",
        "Suspend; `fg` in the shell comes back", Group.GO, ("app",)),
)
# fmt: on
