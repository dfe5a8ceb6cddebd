"""Opens two traces and works out what the first screen of their comparison shows: the steps, the
verdict, the tree of both and its first rows. A process of its own, without a terminal.

python -m bench.compare_view BASE TARGET
"""

import sys
from pathlib import Path

from dctx.analyzers.compare import compare_costs
from dctx.analyzers.compare_view import CompareView
from dctx.analyzers.pairing import compare_traces, pair_steps
from dctx.ingest.registry import open_trace
from dctx.queries.metric import Metric
from dctx.queries.trace import Trace

_ROWS = 70


def main() -> None:
    base, target = (Trace(open_trace(Path(path))) for path in sys.argv[1:3])
    pair = pair_steps(base, target)
    compared = compare_traces(base, target, pair=pair)
    found = compare_costs(base, target, compared)
    metric = Metric.GPU if Metric.GPU in found.paths.metrics else next(iter(found.paths.metrics))
    rows = CompareView(found.paths, metric).rows(0, _ROWS)
    assert compared.conclusion is not None
    print(compared.conclusion.sentences[0])
    print(f"{len(rows)} of {len(found.paths)} rows")
    for trace in (base, target):
        trace.store.close()


if __name__ == "__main__":
    main()
