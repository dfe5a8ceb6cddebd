"""The steps of a recording: in the store, in the Steps view and in Compare."""

import json
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers.errors import RequestError
from dctx.analyzers.markers import Method
from dctx.analyzers.report_range import step_scope
from dctx.analyzers.step_use import step_use
from dctx.analyzers.step_view import view_steps
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, monitor
from dctx.native._core import Monitor
from dctx.queries.recorded_steps import recorded_steps
from dctx.queries.trace import Trace
from dctx.reports.step_use import use_rows
from dctx.reports.steps import steps_text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")


@contextmanager
def recorded(path: Path, steps: int) -> Generator[tuple[Trace, list[tuple[int, ...]]]]:
    """A recording of so many steps, opened, and the steps as the engine counted them."""
    monitor.init(monitor.Source.PYTHON | monitor.Source.SCOPE)
    Recorder.start(str(path), json.dumps({"event_ns": 200.0}), interval_ns=10**12)
    try:
        for number in range(steps):
            with monitor.scope("work"):
                sum(range(200 * (1 + number % 3)))
            Monitor.mark_step()
            if number == 1:
                Recorder.record(False)
                sum(range(20_000))
                Recorder.record(True)
        spans = [tuple(span) for span in Monitor.steps()]
    finally:
        Recorder.stop()
        monitor.finalize()
    with closing(open_trace(path, cache=False)) as store:
        yield Trace(store), spans


def test_each_step_is_told_with_what_it_used(tmp_path: Path) -> None:
    with recorded(tmp_path / "a.dctxrec", 20) as (trace, spans):
        kept = recorded_steps(trace)
        view = view_steps(trace)
        steps, profile = view.steps, view.profile
        text = steps_text("a", view)
        with pytest.raises(RequestError, match="it tells no single event"):
            step_scope(trace, 5)
    _, count, begin, end, _, wall, cpu, gap = (
        np.array(column) for column in zip(*spans, strict=True)
    )
    assert kept.steps.tolist() == count.tolist() == [1] * 20
    assert kept.number.tolist() == list(range(20))
    assert kept.wall_ns.tolist() == wall.tolist()
    assert kept.longest_ns.tolist() == wall.tolist()
    assert kept.cpu_ns.tolist() == cpu.tolist()
    assert kept.host_gap_ns.tolist() == gap.tolist()
    assert (kept.start_ns - kept.start_ns[0]).tolist() == (begin - begin[0]).tolist()
    assert (end - begin).tolist() == wall.tolist()
    assert begin[2] > end[1]  # the pause is in no step
    assert (kept.rss_bytes > 1_000_000).all()
    assert (kept.gpu_busy_ns == -1).all()  # nothing told of work of GPUs
    assert (kept.copied_bytes == -1).all()
    assert steps.method is Method.RECORDED
    assert steps.number.tolist() == list(range(20))
    assert (steps.end_ns - steps.start_ns).tolist() == wall.tolist()
    assert profile.use is not None
    compared = steps.pairs
    assert profile.use.gpu_busy_ns is None
    assert profile.use.copied_bytes is None
    assert profile.use.cpu_ns is not None
    assert profile.use.host_gap_ns is not None
    assert abs(profile.use.cpu_ns - cpu[compared].mean()) < 1
    assert abs(profile.use.host_gap_ns - gap[compared].mean()) < 1
    assert profile.host is None
    assert profile.gpu is None
    assert "Operations: n/a, the recording counted the steps" in text
    assert "CPU time of all threads" in text


def test_many_steps_are_kept_as_few_rows(tmp_path: Path) -> None:
    with recorded(tmp_path / "a.dctxrec", 450) as (trace, spans):
        kept = recorded_steps(trace)
        steps = view_steps(trace).steps
    longest, wall = (np.array([span[place] for span in spans]) for place in (4, 5))
    assert len(kept.steps) <= 200
    assert int(kept.steps.sum()) == len(steps) == 450
    assert int(kept.wall_ns.sum()) == int(wall.sum())
    assert int(kept.longest_ns.max()) == int(longest.max())
    assert steps.number.tolist() == list(range(450))
    lost = int(wall.sum()) - int((steps.end_ns - steps.start_ns).sum())
    assert 0 <= lost < 450  # means are whole nanoseconds
    assert "steps of one row are shown with their mean" in steps.reason
    assert f"{longest.max() / 1e6:,.3f} ms" in steps.reason


def test_steps_tell_of_gpus_where_their_work_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.dctxrec"
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(path), "{}", interval_ns=10**12)
    try:
        with monitor.scope("work"):
            pass
        # Columns of two steps: their number, wall time … as the format tells.
        used = [[1, 1], [10_000, 20_000], [0, 0], [0, 0], [0, 0], [9, 9], [1, 1], [0, 0], [0, 0]]
        columns = [*used, [4096, 4096], [5_000, 7_000], [64, 0], [2**30, 2**31]]
        Recorder.attach("STEP", Recorder.table(columns))
    finally:
        Recorder.stop()
        monitor.finalize()
    with closing(open_trace(path, cache=False)) as store:
        trace = Trace(store)
        kept = recorded_steps(trace)
        use = step_use(trace, view_steps(trace).steps, np.arange(2))
    assert kept.gpu_busy_ns.tolist() == [5_000, 7_000]
    assert kept.copied_bytes.tolist() == [64, 0]
    assert use is not None
    assert (use.gpu_busy_ns, use.copied_bytes, use.device_peak_bytes) == (6_000, 32, 2**31)
    assert dict(use_rows(use)) == {
        "CPU time of all threads, µs": "0.0",
        "GPUs busy, µs": "6.0",
        "Python between operators, µs": "0.0",
        "page faults": "0.0",
        "context switches": "0.0",
        "most memory at a step's end": "4.00 KiB",
        "most memory in use of a GPU": "2.00 GiB",
        "copied by GPUs": "32 B",
    }
