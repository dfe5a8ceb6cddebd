"""`dctx flame`: the call paths as a flame graph, for browsers and other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.command import Command
from ..reports.failures import UserError
from ..reports.stdio import output
from .opening import opened
from .options import opening_options, traces_argument
from .sheet_output import spare

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

    from ..analyzers.flame_tree import FlameTree
    from ..queries.trace import Trace

METRICS = ("gpu", "host", "samples", "gpu_samples", "launches", "kernels", "bytes")
HIDDEN = ("annotations", "python", "modules", "operators", "native", "api", "gpu")


def _file(option: str, variable: str, what: str) -> Callable[[Any], Any]:
    kind = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
    return click.option(option, variable, type=kind, metavar="FILE", help=what)


@click.command("flame", cls=Command)
@traces_argument()
@_file("--svg", "svg_file", "Write a picture for a browser.")
@_file("--speedscope", "speedscope_file", "Write JSON for https://www.speedscope.app.")
@_file("--folded", "folded_file", "Write folded stacks, one a line: a;b;c 123.")
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="What the widths are. [default: the first of gpu, host and samples that was recorded]",
)
@click.option("--bottom-up", is_flag=True, help="What costs first, its callers below it.")
@click.option("--device", type=click.IntRange(min=0), metavar="ID", help="Work of this GPU alone.")
@click.option(
    "--hide", "hidden", multiple=True, type=click.Choice(HIDDEN),
    help="Fold this layer away; its cost is its callers'. Repeatable.",
)  # fmt: skip
@click.option(
    "--limit",
    "limit_percent",
    type=click.FloatRange(0, 100, max_open=True),
    default=0.0,
    metavar="PERCENT",
    help="Leave out what is below this share of the whole; its cost is its callers'.",
)
@opening_options
def flame_command(
    trace: tuple[Path, ...],
    svg_file: Path | None,
    speedscope_file: Path | None,
    folded_file: Path | None,
    metric: str | None,
    bottom_up: bool,
    device: int | None,
    hidden: tuple[str, ...],
    limit_percent: float,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Write the call paths of TRACE as a flame graph.

    Files hold whole numbers: ns, bytes or counts. FILE can be -, the standard output; without any
    option folded stacks are written there. `f` in Call paths shows the same graph.
    """
    from ..reports.flame import write_folded, write_speedscope
    from ..reports.flame_svg import write_svg

    if svg_file is None and speedscope_file is None and folded_file is None:
        folded_file = Path("-")
    wanted = [path for path in (svg_file, speedscope_file, folded_file) if path is not None]
    if sum(str(path) == "-" for path in wanted) > 1:
        raise click.UsageError("There is one standard output: only one FILE can be -.")
    spare(wanted, trace)
    name = ", ".join(path.name for path in trace)
    with opened(trace, no_cache=no_cache, salvage=salvage) as found:
        tree = _tree(found, metric, device, hidden, limit_percent, bottom_up=bottom_up)
    if svg_file is not None:
        _write(svg_file, lambda out: write_svg(tree, name, out))
    if speedscope_file is not None:
        _write(speedscope_file, lambda out: write_speedscope(tree, name, out))
    if folded_file is not None:
        _write(folded_file, lambda out: write_folded(tree, out))


def _tree(
    trace: Trace,
    asked: str | None,
    device: int | None,
    hidden: tuple[str, ...],
    limit_percent: float,
    *,
    bottom_up: bool,
) -> FlameTree:
    """UserError for a metric or a GPU that the trace does not have."""
    from ..analyzers.flame_tree import flame_tree
    from ..queries.capture import devices
    from ..queries.layers import LayerGroup, folded
    from ..queries.metric import PRIMARY, Metric
    from ..queries.paths import CallTree

    known = [one.device for one in devices(trace)]
    if device is not None and device not in known:
        there = ", ".join(map(str, known)) or "none"
        raise UserError(f"There is no GPU {device} in this trace. Its GPUs: {there}.")
    tree = CallTree.load(trace, device)
    metric = next((m for m in PRIMARY if m in tree.available), None)
    metric = metric if asked is None else Metric(asked)
    if metric is None or metric not in tree.available:
        there = ", ".join(name for name in METRICS if Metric(name) in tree.available)
        raise UserError(
            f"The trace did not record {asked or 'any cost'}. "
            + (f"Choose another --metric: {there}." if there else "There is nothing to draw.")
        )
    shown = folded(tree, frozenset(LayerGroup[name.upper()] for name in hidden))
    view = shown.bottom_up(metric) if bottom_up else shown.top_down()
    view.sort(metric)
    if limit_percent:
        view.set_limit(limit_percent / 100)
    return flame_tree(view)


def _write(file: Path, write: Callable[[TextIO], None]) -> None:
    from ..reports.format import clean
    from ..reports.written import replacing

    if str(file) == "-":
        with output() as out:
            write(out)
        return
    try:
        with replacing(file) as place, place.open("w", encoding="utf-8") as out:
            write(out)
    except OSError as error:
        name = clean(str(error.filename))
        raise UserError(f"{name} cannot be written: {error.strerror}.") from error
