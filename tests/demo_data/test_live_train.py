"""The demo recording holds what its program does, and making it again gives the same contexts."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dctx.demo_data import live_train
from dctx.demo_data.live_train import BATCH, EVALUATE_EVERY, STEPS
from dctx.ingest.registry import open_trace

DEMO = Path(live_train.__file__).with_name("live-train.dctxrec")
Row = tuple[str, str, int]


def contexts(path: Path) -> tuple[list[Row], dict[str, str]]:
    """Layer, name and calls of each context that was called, and the facts."""
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        rows = cursor.execute(
            """SELECT y.name, s.text, sum(m.calls)::BIGINT FROM path_metric m
               JOIN path_node n ON n.id = m.node JOIN frame f ON f.id = n.frame
               JOIN layer_name y ON y.code = f.layer JOIN string s ON s.id = f.name
               WHERE m.calls > 0 GROUP BY ALL ORDER BY ALL"""
        ).fetchall()
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
    return rows, facts


def test_the_demo_holds_what_the_program_does() -> None:
    rows, facts = contexts(DEMO)
    evaluations = STEPS // EVALUATE_EVERY
    assert rows == [
        ("annotation", "backward", STEPS),
        ("annotation", "evaluate after #", evaluations),
        ("annotation", "forward", STEPS),
        ("annotation", "load", STEPS),
        ("annotation", "update", STEPS),
        ("op", "demo::add_scaled", STEPS * (BATCH + 1)),
        ("op", "demo::dot", (STEPS + evaluations) * BATCH),
    ]
    assert facts["recording.steps"] == str(STEPS)
    assert facts["recording.complete"] == "1"
    assert int(facts["recording.own_cost_ns"]) > 0
    assert facts["capability.cpu_operators"] == facts["capability.python_frames"] == ""
    assert DEMO.stat().st_size < 200_000


@pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")
def test_it_can_be_made_again(tmp_path: Path) -> None:
    again = tmp_path / "again.dctxrec"
    command = [sys.executable, "-m", "dctx.demo_data.live_train", str(again)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    assert contexts(again)[0] == contexts(DEMO)[0]
