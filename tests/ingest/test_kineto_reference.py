"""Recorded PyTorch traces against reference values that were computed apart from this code."""

import gzip
import json
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dctx.ingest.registry import open_trace
from dctx.native import union_ns
from tests.kineto_files import Opened

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
EXPECTED = TRACES / "expected" / "independent" / "torch"
NAMES = sorted(str(path.relative_to(EXPECTED))[:-5] for path in EXPECTED.rglob("*.json"))
WORK = "kind IN (0, 1, 2)"

pytestmark = pytest.mark.skipif(not NAMES, reason="DCTX_TRACES names no folder with traces")


class Trace(Opened):
    """An opened trace and what is expected of it."""

    name: str
    expected: dict[str, Any]


@pytest.fixture(scope="module", params=NAMES)
def trace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        store = open_trace(TRACES / "torch" / request.param, cache=False)
        opened = Trace(store)
        opened.name = request.param
        opened.expected = json.loads((EXPECTED / f"{request.param}.json").read_text())
        yield opened
        store.close()


def test_events_are_counted_by_phase_and_category(trace: Trace) -> None:
    facts, expected = trace.facts(), trace.expected
    assert int(facts["events"]) == expected["events"]
    for what, counts in (("phase", expected["by_phase"]), ("category", expected["by_category"])):
        found = {
            key.removeprefix(f"events.{what}."): int(value)
            for key, value in facts.items()
            if key.startswith(f"events.{what}.")
        }
        assert found == counts


def test_calls_and_gpu_work_are_all_there_and_linked(trace: Trace) -> None:
    if "mtia" in trace.name:
        pytest.skip("the reference counts no work of this accelerator")
    expected = trace.expected
    assert trace.rows("SELECT count(*) FROM host_event WHERE kind IN (1, 2)") == [
        (expected["runtime_calls"],)
    ]
    work = f"SELECT count(*), count(launch) FROM gpu_op WHERE {WORK}"
    assert trace.rows(work) == [
        (expected.get("gpu_events", 0), expected.get("gpu_events_with_launch", 0))
    ]
    flows = f"SELECT count(launch) FROM gpu_op WHERE flow_linked AND {WORK}"
    assert trace.rows(flows) == [(expected.get("gpu_events_with_launch_and_ac2g_flow", 0),)]


def test_gpu_time_is_that_of_the_reference(trace: Trace) -> None:
    timeline = trace.expected.get("timeline_all")
    if timeline is None:
        pytest.skip("no GPU work")
    columns = trace.rows(f"SELECT start_ns, start_ns + dur_ns FROM gpu_op WHERE {WORK}")
    start, end = np.array(columns, np.int64).T.copy()
    busy = union_ns(np.zeros(len(start), np.int32), start, end, 1)
    assert (int((end - start).sum()), int(busy[0]), int(end.max() - start.min())) == (
        timeline["sum_ns"],
        timeline["busy_ns"],
        timeline["total_ns"],
    )
    for stream in trace.expected["streams"]:
        found = trace.rows(
            f"""SELECT o.start_ns, o.start_ns + o.dur_ns FROM gpu_op o
                JOIN lane l ON l.id = o.lane JOIN device d ON d.id = l.device
                WHERE o.{WORK} AND l.stream_id = {stream["stream"]}
                  AND d.ordinal = {stream["device"]}"""
        )
        start, end = np.array(found, np.int64).T.copy()
        busy = union_ns(np.zeros(len(start), np.int32), start, end, 1)
        assert (len(found), int((end - start).sum()), int(busy[0])) == (
            stream["events"],
            stream["sum_ns"],
            stream["busy_ns"],
        )


def test_names_are_summed_as_in_the_reference(trace: Trace) -> None:
    by_name = {
        name: (count, total)
        for name, count, total in trace.rows(
            f"""SELECT s.text, sum(count)::BIGINT, sum(sum_ns)::BIGINT FROM op_stat o
                JOIN string s ON s.id = o.name WHERE o.{WORK} GROUP BY s.text"""
        )
    }
    for row in trace.expected.get("top_kernels", []):
        assert by_name[row["name"]] == (row["count"], row["sum_ns"])
    copies = {
        name: found
        for name, *found in trace.rows(
            """SELECT s.text, count(*), sum(o.dur_ns)::BIGINT, coalesce(sum(o.bytes), 0)::BIGINT
               FROM gpu_op o JOIN string s ON s.id = o.name WHERE o.kind = 1 GROUP BY s.text"""
        )
    }
    for row in trace.expected.get("memcpy", []):
        count, total, size = copies[row["name"]]
        assert (count, total) == (row["count"], row["sum_ns"])
        # Where the copies carry no size, that of the call is taken.
        assert size == row["bytes"] or row["bytes"] == 0


def test_steps_are_annotations(trace: Trace) -> None:
    [(steps,)] = trace.rows(
        """SELECT count(*) FROM host_event h JOIN string s ON s.id = h.name
           WHERE h.kind = 0 AND starts_with(s.text, 'ProfilerStep#')"""
    )
    assert steps == len(trace.expected.get("profiler_steps", []))


def test_sums_over_the_tree_are_those_over_the_events(trace: Trace) -> None:
    host = "SELECT coalesce(sum({}), 0)::BIGINT, count(*) FROM host_event WHERE node IS NOT NULL"
    gpu = """SELECT coalesce(sum(dur_ns), 0)::BIGINT, count(*), coalesce(sum(bytes), 0)::BIGINT
             FROM gpu_op WHERE node IS NOT NULL"""
    assert trace.rows(
        "SELECT coalesce(sum(host_ns), 0)::BIGINT, coalesce(sum(calls), 0)::BIGINT FROM path_metric"
    ) == trace.rows(host.format("self_ns"))
    for table, where in (("path_metric", ""), ("path_total", "WHERE node = 0")):
        found = trace.rows(
            f"""SELECT coalesce(sum(gpu_ns), 0)::BIGINT, coalesce(sum(gpu_ops), 0)::BIGINT,
                       coalesce(sum(bytes), 0)::BIGINT FROM {table} {where}"""
        )
        assert found == trace.rows(gpu)
    assert trace.rows(
        "SELECT coalesce(sum(host_ns), 0)::BIGINT FROM path_total WHERE node = 0"
    ) == [trace.rows(host.format("self_ns"))[0][:1]]


def test_self_times_of_a_thread_sum_to_its_union(trace: Trace) -> None:
    rows = trace.rows(
        "SELECT lane, start_ns, start_ns + dur_ns, self_ns FROM host_event WHERE node IS NOT NULL"
    )
    if not rows:
        pytest.skip("no host events")
    lane, start, end, self_ns = np.array(rows, np.int64).T.copy()
    lanes = int(lane.max()) + 1
    union = union_ns(lane.astype(np.int32), start, end, lanes)
    assert int(self_ns.min()) >= 0
    assert np.bincount(lane, self_ns.astype(np.float64), lanes).astype(np.int64).tolist() == (
        union.tolist()
    )


def test_forward_operators_are_those_that_the_flows_name(trace: Trace) -> None:
    path = TRACES / "torch" / trace.name
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if b'"fwdbwd"' not in data or trace.name.startswith("mtia"):
        pytest.skip("no flows between forward and backward operators")
    events = json.loads(data.decode(errors="replace"), strict=False, parse_float=Decimal)
    ends: dict[tuple[str, str], tuple[str, int]] = {
        (event["id"], event["ph"]): (str(event["tid"]), int(Decimal(event["ts"]) * 1000))
        for event in events["traceEvents"]
        if event.get("cat") == "fwdbwd"
    }
    found: dict[tuple[str, int], set[tuple[str, int]]] = {}
    shift = int(trace.facts()["start_utc_ns"]) - events.get("baseTimeNanoseconds", 0)
    for tid, start, forward_tid, forward_start in trace.rows(
        """SELECT bl.tid, b.start_ns, fl.tid, f.start_ns FROM host_event b
           JOIN host_event f ON f.id = b.forward JOIN lane bl ON bl.id = b.lane
           JOIN lane fl ON fl.id = f.lane"""
    ):
        key = str(tid), start + shift
        found.setdefault(key, set()).add((str(forward_tid), forward_start + shift))
    pairs = [
        (start, ends[number, "f"])
        for (number, phase), start in ends.items()
        if phase == "s" and (number, "f") in ends
    ]
    assert pairs
    assert all(start in found[finish] for start, finish in pairs)


EDGE_EXPECTED: dict[str, dict[str, Any]] = (
    json.loads((TRACES / "expected" / "edge.json").read_text()) if NAMES else {}
)


@pytest.mark.parametrize("name", sorted(EDGE_EXPECTED))
def test_what_can_be_read_of_odd_files_is_read(name: str) -> None:
    expected = EDGE_EXPECTED[name]
    trace = Opened(open_trace(TRACES / "torch-edge" / name, cache=False))
    facts = trace.facts()
    assert int(facts["events"]) == expected["events"]
    assert int(facts.get("events.phase.X", 0)) == expected["x_events"]
    [(count, total)] = trace.rows(
        f"SELECT count(*), coalesce(sum(dur_ns), 0)::BIGINT FROM gpu_op WHERE {WORK}"
    )
    assert count == expected["gpu_events"]
    assert total == expected.get("gpu_sum_ns", total)
    if facts["events"] == "0":
        assert "no events" in trace.notes()


CHROME = sorted((TRACES / "torch-edge" / "chrome").glob("*.json"))


@pytest.mark.parametrize("path", CHROME, ids=lambda path: path.stem)
def test_plain_chrome_files_lose_no_event(path: Path) -> None:
    """Each X event and each B mark is a host event; what is not used is counted."""
    trace = Opened(open_trace(path, cache=False))
    facts = trace.facts()
    phases = {phase: int(facts.get(f"events.phase.{phase}", 0)) for phase in "XBE"}
    nested = trace.rows("SELECT count(*) FROM host_event WHERE node IS NOT NULL")
    assert nested == [(phases["X"] + phases["B"],)]
    unmatched = int(facts.get("unused.events.unmatched_end", 0))
    assert trace.rows("SELECT count(*) FROM host_event WHERE open") == [
        (phases["B"] - (phases["E"] - unmatched),)
    ]


RANKS = sorted(path for path in (TRACES / "multirank").glob("*") if path.is_dir())


@pytest.mark.parametrize("folder", RANKS, ids=lambda path: path.name)
def test_ranks_keep_what_they_have_alone(folder: Path) -> None:
    """One trace of all ranks holds, rank by rank, what the files hold one by one."""
    sums = f"""SELECT count(*), sum(o.dur_ns)::BIGINT, count(o.launch) FROM gpu_op o
               JOIN lane l ON l.id = o.lane JOIN process p ON p.id = l.process WHERE o.{WORK}"""
    together = Opened(open_trace(folder, cache=False))
    files = sorted(folder.glob("*.json.gz"))
    ranks = [rank for (rank,) in together.rows("SELECT rank FROM process ORDER BY rank")]
    assert ranks == list(range(len(files)))
    alone = [Opened(open_trace(path, cache=False)).rows(sums)[0] for path in files]
    assert [together.rows(f"{sums} AND p.rank = {rank}")[0] for rank in ranks] == alone
