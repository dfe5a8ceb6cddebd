"""`dctx kernel`: one kernel from inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reports.command import Command
from ..reports.failures import UserError
from ..reports.source_map import SourceMap
from ..reports.source_option import source_map_option
from ..reports.stdio import output
from .host import text_width
from .opening import opened
from .options import opening_options, trace_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..queries.kernels import OpStat

_LISTED = 8


def _some_of(kernels: Sequence[OpStat]) -> str:
    """The names of those that cost most."""
    some = "; ".join(op.name for op in kernels[:_LISTED])
    return some + (f"; and {len(kernels) - _LISTED} more" if len(kernels) > _LISTED else "")


@click.command("kernel", cls=Command)
@trace_argument
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option(
    "--ncu",
    "ncu_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="What Nsight Compute measured: a report (.ncu-rep), or a CSV export of its raw, details "
    "or source page. Repeatable.",
)
@click.option(
    "--arch",
    metavar="NAME|FILE",
    help="Limits of the GPU for the roofline: an architecture by name, or a JSON or TOML file. "
    "[default: by the GPU's name in the trace]",
)
@source_map_option
@opening_options
def kernel_command(
    trace: Path,
    name: str,
    as_json: bool,
    ncu_files: tuple[Path, ...],
    arch: str | None,
    sources: SourceMap,
    no_cache: bool,
    salvage: bool,
) -> None:
    """Print how the kernel NAME of TRACE is launched, and what limits it.

    Launch shapes with occupancy and its limiter, waves and their tail, the distribution of
    durations with outliers, the callers, what its warps wait for by source line and instruction,
    or the command that collects samples of this kernel.
    NAME is the kernel's name or a part that only one has.
    """
    from ..reports.own_files import own_files

    own = own_files(arch)
    with opened(trace, no_cache=no_cache, salvage=salvage) as opened_trace:
        from ..analyzers.kernel_panel import kernel_panel
        from ..analyzers.kernel_roofline import roofline_point
        from ..analyzers.ncu_figures import of_panel
        from ..analyzers.op_report import op_report
        from ..analyzers.report_rules import DCTX
        from ..ingest.ncu import read_ncu
        from ..queries.kernel_panel import launch_ids
        from ..queries.kernels import OpSelection
        from ..queries.named_kernel import named_kernels
        from ..reports.kernel_panel import kernel_panel_text
        from ..reports.kernel_panel_json import kernel_panel_json
        from ..reports.ncu_text import not_measured

        found = named_kernels(opened_trace, name)
        if not found:
            known = named_kernels(opened_trace, "")
            if not known:
                raise UserError(
                    f"{trace.name} has no kernels. dctx info {trace} tells what it lacks and why."
                )
            raise UserError(
                f"{trace.name} has no kernel with {name!r} in its name. "
                f"Give a part of one: {_some_of(known)}"
            )
        if len(found) > 1:
            raise UserError(
                f"{len(found)} kernels have {name!r} in their names. "
                f"Give more of one: {_some_of(found)}"
            )
        panel = kernel_panel(opened_trace, found[0])
        measured = [kernel for file in ncu_files for kernel in read_ncu(file)]
        joined = of_panel(panel, measured)
        if measured and not joined:
            raise UserError(f"{found[0].name}: {not_measured(measured)}")
        launches = launch_ids(opened_trace, OpSelection(found[0].kind, name_id=found[0].name_id))
        report = op_report(opened_trace, own.rules(DCTX))
        point = roofline_point(report, own.architecture, launches)
        with output() as out:
            if as_json:
                out.write(kernel_panel_json(str(trace), panel, joined, point))
            else:
                width = text_width()
                out.write(
                    kernel_panel_text(panel, joined, width=width, sources=sources, roofline=point)
                )
