"""What the Compare view draws: buckets of steps, and widths and signs of the flame graph."""

from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.compare import compare_costs
from dctx.analyzers.compare_first import first_metric
from dctx.analyzers.compare_order import Order
from dctx.analyzers.compare_view import CompareView
from dctx.analyzers.flame_costs import flame_costs
from dctx.analyzers.pairing import Compared, compare_traces
from dctx.analyzers.side_by_side import Compare
from dctx.analyzers.step_spread import spread_buckets
from dctx.ingest.registry import open_trace
from dctx.queries.metric import Metric
from dctx.queries.trace import Trace
from tests.near import near

DEMO = Path(__file__).parents[2] / "demo_data"
Found = tuple[Compared, Compare]


@pytest.fixture(scope="module")
def demo() -> Found:
    """The demo pair, compared."""
    paths = [DEMO / f"llama-1b-{name}.sqlite" for name in ("v1.1", "main")]
    base, target = (Trace(open_trace(path)) for path in paths)
    compared = compare_traces(base, target)
    return compared, compare_costs(base, target, compared)


def test_buckets_hold_all_values_of_both_sides() -> None:
    found = spread_buckets(np.array([10, 20, 1000]), np.array([10, 5000]))
    assert found is not None
    assert (found.edges[0], found.edges[-1]) == (10, 5001)
    assert sum(found.base_counts) == 3
    assert sum(found.target_counts) == 2
    assert found.base_counts[0] == found.target_counts[0] == 1
    assert found.target_counts[-1] == 1
    assert spread_buckets(np.array([], np.int64), np.array([], np.int64)) is None
    same = spread_buckets(np.array([0, 0]), np.array([0]))
    assert same is not None
    assert (same.edges, same.base_counts, same.target_counts) == ((0, 1), (2,), (1,))


def test_frames_of_both_traces_have_widths_that_add_up(demo: Found) -> None:
    paths = demo[1].paths
    costs = flame_costs(paths, Metric.HOST, swapped=False)
    row = paths.names.index("broadcast_requests")
    assert costs.size[row] == near(249_600 / 2, rel=1e-4)  # it is in the target only
    assert costs.sign[row] == 1
    assert costs.sign[paths.names.index("_sample_async")] == -1
    assert costs.sign[paths.names.index("_schedule")] == 0  # within noise
    assert costs.sign[0] == 0
    below = np.zeros(len(paths))
    np.add.at(below, paths.parent[paths.parent >= 0], costs.size[paths.parent >= 0])
    assert (below <= costs.size * (1 + 1e-9) + 1e-6).all()
    turned = flame_costs(paths, Metric.HOST, swapped=True)
    assert (turned.sign == -costs.sign).all()
    assert (turned.size == costs.size).all()


def test_the_first_metric_is_where_the_steps_lost_their_time(demo: Found) -> None:
    compared, found = demo
    assert first_metric(found.paths, compared) is Metric.HOST
    assert first_metric(found.kernels, compared) is Metric.GPU
    assert first_metric(found.collectives, compared) is Metric.GPU


def test_order_by_percent_has_what_is_new_first(demo: Found) -> None:
    view = CompareView(demo[1].kernels, Metric.GPU)
    view.sort(Order.PERCENT)
    rows = view.rows(0, 99)
    assert rows[0].name == "DeviceScanKernel"
    assert rows[0].base is None
    shares = [abs(row.percent) for row in rows[1:] if row.percent is not None]
    assert shares == sorted(shares, reverse=True)
    view.swap()
    # Now it is gone: -100 % is the largest of what has a percentage.
    assert view.rows(0, 1)[0].note == "gone"


def test_the_largest_of_the_matches(demo: Found) -> None:
    view = CompareView(demo[1].paths, Metric.HOST)
    assert view.largest_match() == -1
    view.filter("requests")
    assert demo[1].paths.names[view.largest_match()] == "_process_requests"
    hidden = view.largest_match()
    assert view.row_at_node(hidden).delta == near(-666_300, rel=1e-4)
