"""What lines of a file cost, against a tree worked out by hand.

main
  f (a.py:3)        own 1
    g (a.py:9)      own 2
      f (a.py:3)    own 4      f again, below itself: counts once
  g (a.py:9)        own 8
  h (b.py:3)        own 16     another file
  f (a.py)          own 32     no line
"""

import numpy as np

from dctx.analyzers.source_costs import LineCost, source_costs
from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.paths import CostTree, cost_columns
from dctx.queries.pathview import Frames, PathTable


def test_a_line_costs_what_runs_below_it_once() -> None:
    parent = np.array([-1, 0, 1, 2, 0, 0, 0], np.int32)
    frame = np.array([0, 1, 2, 1, 2, 3, 4], np.int32)
    own = {
        Metric.GPU: np.array([0, 1, 2, 4, 8, 16, 32], np.int64),
        Metric.SAMPLES: np.array([0, 0, 0, 1, 1, 1, 1], np.int64),
    }
    frames = Frames(
        [Layer.ROOT, *[Layer.PYTHON] * 4],
        ["main", "f", "g", "h", "f"],
        [None, "a.py", "a.py", "b.py", "a.py"],
        [None, 3, 9, 3, None],
    )
    ids = np.arange(7, dtype=np.int32)
    depth = np.array([0, 1, 2, 3, 1, 1, 1], np.int16)
    tree = CostTree(PathTable(parent, depth, frame, ids, cost_columns(parent, own), frames), own)
    assert source_costs(tree, "a.py") == {
        3: LineCost("f", {Metric.GPU: 7, Metric.SAMPLES: 1}, 2),
        9: LineCost("g", {Metric.GPU: 14, Metric.SAMPLES: 2}, 2),
    }
    assert source_costs(tree, "none.py") == {}
