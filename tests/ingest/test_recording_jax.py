"""A window of a JAX program inside a recording: its contexts and sums are those of the importer of
such files."""

import gzip
import json
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from dctx.analyzers.recording_job import read_files, recorded_job
from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store
from dctx.native import Recorder, monitor
from dctx.queries.operations import compiled_operations
from dctx.queries.trace import Trace
from dctx.reports.recording import job_text

DEMO = Path(__file__).parents[2] / "demo_data" / "jax-cpu-train.xplane.pb.gz"
META = {
    "program": "train.py",
    "event_ns": 250.0,
    "jax": {
        "window_ns": 1_500_000_000,
        "window_steps": 5,
        "compile": {"trace": [7, 40_000_000], "xla": [7, 1_600_000_000]},
    },
}


def recorded(path: Path, chunk: bytes, *, scopes: bool) -> None:
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(path), json.dumps(META), interval_ns=10**12)
    try:
        if scopes:
            with monitor.scope("epoch"):
                pass
        Recorder.attach("XPLN", chunk)
    finally:
        Recorder.stop()
        monitor.finalize()


def costs(store: Store) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Calls, own time and durations by path from below the process."""
    with store.cursor() as cursor:
        rows = cursor.execute(
            """SELECT n.id, n.parent, y.name || ' ' || s.text || ' ' || coalesce(f.line, 0),
                      m.calls, m.host_ns, m.host_dur_sum_ns, m.host_dur_min_ns, m.host_dur_max_ns
               FROM path_node n JOIN frame f ON f.id = n.frame JOIN string s ON s.id = f.name
               JOIN layer_name y ON y.code = f.layer LEFT JOIN path_metric m ON m.node = n.id
               ORDER BY n.id"""
        ).fetchall()
    paths: dict[int, tuple[str, ...]] = {}
    found: dict[tuple[str, ...], tuple[int, ...]] = {}
    for node, parent, name, *values in rows:
        paths[node] = (*paths.get(parent, ()), name)
        if values[0]:
            found[paths[node][2:]] = tuple(values)
    return found


@pytest.mark.parametrize("scopes", [False, True])
def test_contexts_are_those_of_the_importer(tmp_path: Path, scopes: bool) -> None:
    data = gzip.decompress(DEMO.read_bytes())
    path = tmp_path / "a.dctxrec"
    recorded(path, zlib.compress(data, 1), scopes=scopes)
    with closing(open_trace(DEMO, cache=False)) as store:
        expected = costs(store)
        [whole] = [row for row in expected if row[-1].startswith("hlo dot")][:1]
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        found = costs(store)
        own = {row: values for row, values in found.items() if row[-1] == "annotation epoch 0"}
        assert len(own) == scopes
        assert {row: values for row, values in found.items() if row not in own} == expected
        trace = Trace(store)
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        notes = [text for (text,) in cursor.execute("SELECT text FROM note").fetchall()]
        # What an operation is, is told as well.
        operations = compiled_operations(trace, 0)
        assert whole[-1].split()[1] in {operation.name for operation in operations}
    assert facts["capability.cpu_operators"] == facts["capability.python_frames"] == ""
    assert any("5 steps in 1.50 s of the run" in note for note in notes)
    assert any("tracing 7 in 0.04 s, compiling 7 in 1.60 s" in note for note in notes)
    assert "recording.own_cost_ns" not in facts
    told = job_text(recorded_job(read_files([path])))
    assert "operations of JAX: those of 5 steps in 1.50 s" in told
    assert "recording cost: n/a" in told


@pytest.mark.parametrize("chunk", [b"no deflate", zlib.compress(b"x" * 100)[:-6]])
def test_a_window_that_cannot_be_unpacked_is_damage(tmp_path: Path, chunk: bytes) -> None:
    path = tmp_path / "a.dctxrec"
    recorded(path, chunk, scopes=True)
    with pytest.raises(TraceError, match=r"XPLN chunk .* cannot be unpacked"):
        open_trace(path, cache=False)
