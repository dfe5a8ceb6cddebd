"""Without a terminal to draw on: the overview, or what changed, as text."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ..reports.startup import cancel_by_exception

if TYPE_CHECKING:
    from ..ingest.selection import Asked
    from ..ingest.store import Store


def print_text(
    trace: Asked | None, base: Asked | None, *, cache: bool, salvage: bool, debug: bool
) -> int:
    """Print what the first screen would tell; the exit code."""
    from ..reports.failures import UserError, report
    from ..reports.stdio import output

    cancel_by_exception()
    try:
        if trace is None:
            raise UserError(
                "there is no terminal to draw on. Give a TRACE to print its overview as text, or "
                "see `dctx --help` for scripts."
            )
        from ..ingest.registry import open_trace

        with closing(open_trace(trace, cache=cache, salvage=salvage)) as store:
            if base is None:
                text = _overview(store)
            else:
                with closing(open_trace(base, cache=cache, salvage=salvage)) as other:
                    text = _comparison(other, store, base, trace)
        with output() as out:
            out.write(text)
    except (Exception, KeyboardInterrupt) as error:
        return report(error, "dctx-tui", sys.stderr, debug=debug)
    return 0


def _overview(store: Store) -> str:
    from ..queries.overview import overview
    from ..queries.trace import Trace
    from ..reports.overview import overview_text

    return overview_text(overview(Trace(store)))


def _comparison(base: Store, target: Store, base_path: Asked, target_path: Asked) -> str:
    from ..analyzers.compare_pair import compare_pair
    from ..analyzers.config import default_config
    from ..queries.trace import Trace
    from ..reports.compare import compare_text
    from ..reports.compare_labels import labels
    from ..reports.host_json import HostReport

    paths = [path if isinstance(path, Path) else path[0] for path in (base_path, target_path)]
    found = compare_pair(Trace(base), Trace(target), default_config())
    names = labels(paths)
    report = HostReport(
        inputs=(str(paths[0]), str(paths[1])),
        judged=found.judged,
        compared=found.compared,
        labels=(names[0], names[1]),
    )
    return compare_text(report)
