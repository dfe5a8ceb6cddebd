"""What operators were called with: counted by context, kept in the file, told by the store."""

from contextlib import closing
from pathlib import Path

import pytest

from dctx.ingest.recording.chunks import FormatError
from dctx.ingest.recording.content import Recording, parse
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, monitor
from dctx.native._core import Operator
from dctx.queries.operators import Arguments, arguments_at, usual_arguments
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.arguments import tensor_note
from dctx.tui.screens.details import argument_rows

MOST_SETS = 32
"""Of a context; further ones are not told apart."""


def call(size: int, times: int = 1) -> None:
    for _ in range(times):
        with Operator("mm", shapes=f"[[{size}, 4], []]", types='["float", "Scalar"]'):
            pass


def program() -> None:
    call(2, times=5)
    for size in range(100, 140):
        call(size)
    with monitor.scope("part"):
        call(2, times=3)
        with Operator("bare"):
            pass


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two snapshots of two runs of the program, without Python frames; then more calls."""
    place = tmp_path_factory.mktemp("calls") / "a.dctxrec"
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(place), "{}", interval_ns=10**12)
    try:
        for _ in range(2):
            program()
            assert Recorder.snapshot()
        grown = place.read_bytes()
    finally:
        Recorder.stop()
        monitor.finalize()
    assert sums(parse(grown)) == sums(parse(place.read_bytes()))
    return place


def sums(recording: Recording) -> dict[str, int]:
    """Calls by shapes, over all contexts."""
    found: dict[str, int] = {}
    for (_, _, number), (count, _) in recording.calls.counts.items():
        row = int(recording.calls.sets[number][0]) if number >= 0 else -1
        text = recording.strings[row] if row >= 0 else "others"
        found[text] = found.get(text, 0) + count
    return found


def test_the_file_tells_the_first_sets_apart_and_counts_the_rest(path: Path) -> None:
    found = sums(parse(path.read_bytes()))
    assert found.pop("[[2, 4], []]") == 2 * (5 + 3)
    assert found.pop("others") == 2 * (40 - (MOST_SETS - 1))
    assert found == {f"[[{size}, 4], []]": 2 for size in range(100, 100 + MOST_SETS - 1)}


def test_contexts_tell_what_they_were_called_with(path: Path) -> None:
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        trace = Trace(store)
        tree = CallTree.load(trace)
        mm = [node for node in range(len(tree.last)) if tree.names(node)[-1:] == ("mm",)]
        by_calls = {sum(one.calls for one in arguments_at(trace, n, n, limit=99)): n for n in mm}
        assert sorted(by_calls) == [6, 90]
        [inside] = arguments_at(trace, by_calls[6], by_calls[6])
        assert (inside.shapes, inside.types) == ("[[2, 4], []]", '["float", "Scalar"]')
        assert not inside.further
        outside = arguments_at(trace, by_calls[90], by_calls[90], limit=99)
        assert len(outside) == MOST_SETS + 1
        [rest] = [one for one in outside if one.further]
        assert (rest.calls, rest.shapes) == (18, None)
        usual = {one.node: one for one in usual_arguments(trace)}
        assert set(usual) == set(mm)
        assert usual[by_calls[90]].sets == MOST_SETS
        assert tensor_note(usual[by_calls[6]]) == "f32[2,4]"
        # Calls and durations are those of the contexts themselves, of all that had arguments.
        told = cursor.execute(
            """SELECT sum(a.calls), sum(a.ns), sum(m.calls), sum(m.host_dur_sum_ns)
               FROM (SELECT node, sum(calls) AS calls, sum(host_dur_sum_ns) AS ns
                     FROM path_args GROUP BY node) a
               JOIN path_metric m ON m.node = a.node"""
        ).fetchall()
        assert told[0][0] == told[0][2] == 96
        assert told[0][1] == told[0][3] > 0
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        assert facts["capability.shapes"] == ""


def test_further_ones_are_called_that() -> None:
    rows = argument_rows([Arguments(None, None, None, None, 3, 10, 0, further=True)])
    assert rows[0].label == "others"


@pytest.mark.parametrize(
    ("kind", "columns"), [("ARGS", [[99], [0]]), ("CALL", [[0], [9999], [1], [1]])]
)
def test_rows_of_what_is_not_there_are_refused(
    tmp_path: Path, kind: str, columns: list[list[int]]
) -> None:
    place = tmp_path / "a.dctxrec"
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(place), "{}", interval_ns=10**12)
    with monitor.scope("a"):
        Recorder.attach(kind, Recorder.table(columns))
    Recorder.stop()
    monitor.finalize()
    with pytest.raises(FormatError, match=kind):
        parse(place.read_bytes())
