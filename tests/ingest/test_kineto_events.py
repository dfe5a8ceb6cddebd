"""Times, launch shapes, memory, marks, counters, ranks, and what is told of a recording."""

from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.capabilities import Capability
from dctx.ingest.owners import Device
from dctx.ingest.registry import open_trace
from dctx.ingest.timeline import Timeline
from dctx.ingest.writer import StoreWriter
from dctx.native import ColumnStream
from dctx.queries.capture import capture
from dctx.queries.trace import Trace
from tests.kineto_files import (
    MAIN,
    PID,
    Event,
    Opened,
    call,
    device,
    event,
    gpu,
    kernel,
    op,
    opened,
    python,
    write_json,
)

WEEK_US = 7 * 86_400 * 10**6


# -------------------------------------------------------------------- times --


def test_an_operation_that_runs_over_later_ones_is_cut(tmp_path: Path) -> None:
    events = [kernel(f"k{at}", 10 * at, 4, at) for at in range(5)]
    events[1] |= {"dur": 1000}
    trace = opened(tmp_path / "t.json", events)
    assert trace.rows("SELECT dur_ns, recorded_dur_ns FROM gpu_op ORDER BY start_ns") == [
        (4000, None),
        (10_000, 1_000_000),
        (4000, None),
        (4000, None),
        (4000, None),
    ]
    assert trace.rows("SELECT sum(gpu_ns)::BIGINT FROM path_metric") == [(26_000,)]
    assert "1 GPU operations last over the starts of the next ones" in trace.notes()


def test_kernels_of_one_graph_launch_may_overlap(tmp_path: Path) -> None:
    events = [kernel(f"k{at}", 10 + at, 50, 1) for at in range(6)]
    trace = opened(tmp_path / "t.json", [call("cudaGraphLaunch", 0, 5, 1), *events])
    assert trace.rows("SELECT DISTINCT dur_ns FROM gpu_op") == [(50_000,)]


def test_durations_that_cannot_be_enter_no_sum(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("eight days", 0, WEEK_US + 1),
            op("negative", 5, -3),
            op("nothing", 9, 0),
            op("ten", 0, 10),
            kernel("long", 0, 2**53, 1),
        ],
    )
    durations = trace.rows(
        """SELECT s.text, e.dur_ns FROM (SELECT name, dur_ns FROM host_event UNION ALL
           SELECT name, dur_ns FROM gpu_op) e JOIN string s ON s.id = e.name"""
    )
    assert dict(durations) == {
        "eight days": 0,
        "negative": 0,
        "nothing": 0,
        "ten": 10_000,
        "long": 0,
    }
    assert "1 events last longer than 7 days" in trace.notes()
    assert "1 GPU operations of more than a week" in trace.notes()
    assert "1 events have a negative duration" in trace.notes()


def test_a_time_far_from_all_others_is_no_time(tmp_path: Path) -> None:
    events = [op(f"op{at}", at, 1) for at in range(20)]
    trace = opened(tmp_path / "t.json", [*events, op("lost", 9 * 10**15, 1)])
    assert trace.rows("SELECT count(*) FROM host_event") == [(20,)]
    assert trace.facts()["unused.events.bad_time"] == "1"
    assert trace.facts()["span_ns"] == "20000"


def test_work_that_starts_before_its_launch_is_told(tmp_path: Path) -> None:
    trace = opened(tmp_path / "t.json", [call("launch", 10, 5, 1), kernel("k", 8, 5, 1)])
    assert "1 GPU operations start before the call that launched them" in trace.notes()


@pytest.mark.parametrize(
    ("first", "base", "start_utc"),
    [
        (1_712_195_495_527_376, None, 1_712_195_495_527_376_000),
        (5, 1_700_000_000_000_000_000, 1_700_000_000_000_005_000),
        (5, None, None),
    ],
)
def test_the_start_is_absolute_when_it_can_be(
    tmp_path: Path, first: int, base: int | None, start_utc: int | None
) -> None:
    envelope = {} if base is None else {"baseTimeNanoseconds": base}
    trace = opened(tmp_path / "t.json", [op("a", first, 10), op("b", first + 3, 2)], **envelope)
    assert trace.rows("SELECT start_ns FROM host_event ORDER BY 1") == [(0,), (3000,)]
    assert trace.facts().get("start_utc_ns") == (None if start_utc is None else str(start_utc))


# ------------------------------------------------------------ launch shapes --

AMD = {"hip_runtime_version": 60_443_483, "roctracer_version": 4.1}


def test_launch_shapes_of_nvidia(tmp_path: Path) -> None:
    shape = {
        "grid": [4, 2, 1],
        "block": [128, 1, 1],
        "registers per thread": 32,
        "shared memory": 1024,
        "blocks per SM": 0.5,
        "warps per SM": 2,
        "est. achieved occupancy %": 31,
    }
    trace = opened(
        tmp_path / "t.json", [kernel("a", 0, 1, 1, **shape), kernel("b", 2, 1, 2, **shape)]
    )
    assert trace.rows(
        """SELECT grid_x, grid_y, grid_z, block_x, registers_per_thread, shared_bytes,
                  blocks_per_sm, warps_per_sm, occupancy_percent FROM launch_config"""
    ) == [(4, 2, 1, 128, 32, 1024, 0.5, 2.0, 31.0)]
    assert trace.rows("SELECT DISTINCT config FROM gpu_op") == [(0,)]


@pytest.mark.parametrize(
    ("name", "envelope", "blocks"),
    [
        ("hipExtModuleLaunchKernel", AMD, 4),  # work-items: 1000 of them in blocks of 256
        ("hipLaunchKernel", AMD, 1000),
        ("cudaLaunchKernel", {}, 1000),
    ],
)
def test_grids_count_blocks(
    tmp_path: Path, name: str, envelope: dict[str, Any], blocks: int
) -> None:
    trace = opened(
        tmp_path / "t.json",
        [call(name, 0, 5, 1), kernel("k", 10, 5, 1, grid=[1000, 1, 1], block=[256, 1, 1])],
        **envelope,
    )
    assert trace.rows("SELECT grid_x, grid_y, block_x FROM launch_config") == [(blocks, 1, 256)]


def test_amd_names_the_agent_and_copies_are_kernels_in_the_record(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            call("hipMemcpyWithStream", 0, 5, 1, size="4096"),
            kernel("__amd_rocclr_copyBuffer", 10, 5, 1, device=2),
            kernel("__amd_rocclr_fillBufferAligned", 20, 5, None, device=2),
        ],
        deviceProperties=[device(id=0, name="", numSms=304), device(id=1, name="", numSms=304)],
        **AMD,
    )
    assert trace.rows("SELECT kind, bytes FROM gpu_op ORDER BY kind") == [(1, 4096), (2, None)]
    assert trace.rows("SELECT ordinal, name, sm_count FROM device") == [
        (2, "AMD GPU (model not recorded) · agent 2", 304)
    ]


def allocated(ts: float, size: int, total: int, dev: int) -> Event:
    """A memory event of the HIP device `dev`."""
    args = {"Bytes": size, "Total Allocated": total, "Device Type": 1, "Device Id": dev}
    return {**event("cpu_instant_event", "[memory]", ts, 0, MAIN, **args), "ph": "i", "s": "t"}


MEMORY = """SELECT d.label, d.ordinal, list(m.allocated_bytes ORDER BY m.time_ns)
    FROM memory_event m LEFT JOIN device d ON d.id = m.device GROUP BY ALL ORDER BY 2"""


def test_memory_of_several_amd_gpus_never_mixes(tmp_path: Path) -> None:
    memory = [allocated(10 * n, 8, 100 * (n % 2) + n, n % 2) for n in range(4)]
    work = [kernel("k", 5, 1, None, device=agent) for agent in (2, 3)]
    trace = opened(tmp_path / "t.json", [op("aten::empty", 0, 99), *memory, *work], **AMD)
    assert trace.rows(MEMORY) == [("HIP 0", 0, [0, 2]), ("HIP 1", 1, [101, 103])]
    assert "agents (2, 3), memory events name HIP devices (0, 1)" in trace.notes()
    assert capture(Trace(trace.store)).devices == 2


def test_memory_of_two_amd_gpus_of_which_one_worked_never_mixes(tmp_path: Path) -> None:
    memory = [allocated(10 * n, 8, 100 * (n % 2) + n, n % 2) for n in range(4)]
    trace = opened(tmp_path / "t.json", [kernel("k", 5, 1, None, device=2), *memory], **AMD)
    assert trace.rows(MEMORY) == [("HIP 0", 0, [0, 2]), ("HIP 1", 1, [101, 103])]


def test_memory_of_the_only_amd_gpu_is_its_own(tmp_path: Path) -> None:
    work = kernel("k", 5, 1, None, device=2)
    trace = opened(tmp_path / "t.json", [work, allocated(7, 8, 8, 0)], **AMD)
    assert trace.rows(MEMORY) == [(None, 2, [8])]
    # Without GPU work there is one numbering only.
    trace = opened(tmp_path / "u.json", [op("a", 0, 9), allocated(7, 8, 8, 1)], **AMD)
    assert trace.rows(MEMORY) == [(None, 1, [8])]


# --------------------------------------------------------- memory, arguments --


def test_memory_events_in_every_dress(tmp_path: Path) -> None:
    args = {
        "Addr": 140_000_000_000_000,
        "Bytes": 512,
        "Total Allocated": 1024,
        "Total Reserved": 4096,
        "Device Type": 1,
        "Device Id": 0,
    }
    instant = event("cpu_instant_event", "[memory]", 5, 0, **args) | {"ph": "i", "s": "t"}
    complete = event("cpu_instant_event", "[memory]", 6, 77, **args | {"Bytes": -512})
    bare = event("", "[memory]", 90, 0, **{"Bytes": 64, "Device Type": 0, "Device Id": -1})
    del bare["cat"]
    trace = opened(
        tmp_path / "t.json", [op("aten::empty", 0, 10), instant, complete, bare | {"ph": "i"}]
    )
    assert trace.rows(
        """SELECT time_ns, bytes, device, host, allocated_bytes, reserved_bytes, p.name
           FROM memory_event m JOIN paths p ON p.id = m.node ORDER BY time_ns"""
    ) == [
        (5000, 512, 0, False, 1024, 4096, "aten::empty"),
        (6000, -512, 0, False, 1024, 4096, "aten::empty"),
        (90_000, 64, None, True, None, None, "main thread 100"),
    ]
    assert trace.rows("SELECT count(*) FROM host_event") == [(1,)]


def test_arguments_are_interned(tmp_path: Path) -> None:
    shapes: dict[str, Any] = {"Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"]}
    triton: dict[str, Any] = {"kernel_backend": "triton", "num_warps": 4, "odd": True}
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::add", 0, 1, **shapes),
            op("aten::add", 2, 1, **shapes),
            op("triton_poi", 4, 1, **triton),
            op("aten::relu", 6, 1),
        ],
    )
    assert trace.rows(
        """SELECT n.text, s.text, t.text, o.text FROM host_event h JOIN string n ON n.id = h.name
           LEFT JOIN op_args a ON a.id = h.args LEFT JOIN string s ON s.id = a.shapes
           LEFT JOIN string t ON t.id = a.types LEFT JOIN string o ON o.id = a.other
           ORDER BY h.start_ns"""
    ) == [
        ("aten::add", "[[2,3],[]]", '["float","Scalar"]', None),
        ("aten::add", "[[2,3],[]]", '["float","Scalar"]', None),
        (
            "triton_poi",
            None,
            None,
            '{"kernel_backend": "triton", "num_warps": 4, "odd": true}',
        ),
        ("aten::relu", None, None, None),
    ]
    assert trace.rows("SELECT count(*) FROM op_args") == [(2,)]


def test_what_a_collective_was_called_with(tmp_path: Path) -> None:
    nccl: dict[str, Any] = {
        "Collective name": "allreduce",
        "dtype": "BFloat16",
        "In msg nelems": 1024,
        "Out msg nelems": 1024,
        "Group size": 8,
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]",
        "Seq": 12,
    }
    trace = opened(
        tmp_path / "t.json",
        [
            op("record_param_comms", 0, 10, **nccl),
            call("cudaLaunchKernel", 2, 3, 1),
            kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 30, 1, **nccl),
        ],
    )
    for table in ("host_event", "gpu_op"):
        assert trace.rows(
            f"""SELECT n.text, d.text, c.in_elements, c.group_size, r.text, c.sequence, c.rank
                FROM {table} e JOIN collective c ON c.id = e.collective
                JOIN string n ON n.id = c.name JOIN string d ON d.id = c.dtype
                JOIN string r ON r.id = c.group_ranks"""
        ) == [("allreduce", "BFloat16", 1024, 8, "[0, 1, 2, 3, 4, 5, 6, 7]", 12, None)]
    assert trace.facts()["capability.collectives"] == ""


# ------------------------------------------------------ marks and other events --


def mark(phase: str, name: str | None, ts: float, tid: int = MAIN, **more: Any) -> Event:
    made: Event = {"ph": phase, "cat": "mine", "pid": 100, "tid": tid, "ts": ts, **more}
    return made if name is None else made | {"name": name}


def test_begin_and_end_marks(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            mark("B", "outer", 0),
            mark("B", "inner", 10),
            mark("E", None, 20),  # closes the latest
            mark("E", "outer", 50),
            mark("E", "never begun", 55),
            mark("B", "crossing a", 60),
            mark("B", "crossing b", 65),
            mark("E", "crossing a", 70),
            mark("E", "crossing b", 75),
            mark("B", "same time", 80),
            mark("E", "same time", 80),
            mark("B", "left open", 85),
            mark("B", "of another thread", 0, tid=5),
            mark("E", "of another thread", 90, tid=5),
            mark("X", "complete", 86, dur=4),
        ],
    )
    rows = trace.rows(
        """SELECT s.text, start_ns / 1000, dur_ns / 1000, open FROM host_event h
           JOIN string s ON s.id = h.name ORDER BY start_ns, s.text"""
    )
    assert rows == [
        ("of another thread", 0, 90, False),
        ("outer", 0, 50, False),
        ("inner", 10, 10, False),
        ("crossing a", 60, 10, False),
        ("crossing b", 65, 10, False),
        ("same time", 80, 0, False),
        ("left open", 85, 0, True),
        ("complete", 86, 4, False),
    ]
    assert trace.parents()["inner"] == "outer"
    assert trace.facts()["unused.events.unmatched_end"] == "1"
    assert "1 begin marks have no end" in trace.notes()


def test_asynchronous_events_stay_out_of_the_tree(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::mm", 0, 100),
            mark("b", "request", 10, id="0x1"),
            mark("b", "request", 20, id="0x2"),
            mark("n", "half way", 30, id="0x1"),
            mark("e", "request", 40, id="0x1"),
            mark("e", "request", 60, id="0x2"),
        ],
    )
    rows = trace.rows(
        """SELECT s.text, k.name, h.dur_ns / 1000, h.node, l.name FROM host_event h
           JOIN string s ON s.id = h.name JOIN host_kind_name k ON k.code = h.kind
           JOIN lane l ON l.id = h.lane WHERE h.node IS NULL ORDER BY h.start_ns"""
    )
    assert rows == [
        ("request", "range", 30, None, "asynchronous events"),
        ("request", "range", 40, None, "asynchronous events"),
        ("half way", "mark", 0, None, "asynchronous events"),
    ]
    assert trace.rows("SELECT self_ns FROM host_event WHERE node IS NOT NULL") == [(100_000,)]


def test_counters_overhead_and_instants(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "memory", "pid": 100, "ts": 5, "args": {"used": 1.5, "free": 2}}
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::mm", 0, 10),
            counter,
            event("overhead", "Buffer Flush", 3, 4, 0) | {"pid": -1},
            {"ph": "i", "name": "Iteration Start", "pid": "Traces", "tid": "T", "ts": 2, "s": "g"},
        ],
    )
    assert trace.rows(
        "SELECT s.text, value FROM counter c JOIN string s ON s.id = c.name ORDER BY 1"
    ) == [("memory · free", 2.0), ("memory · used", 1.5)]
    kinds = dict(
        trace.rows(
            """SELECT s.text, k.name FROM host_event h JOIN string s ON s.id = h.name
               JOIN host_kind_name k ON k.code = h.kind"""
        )
    )
    assert kinds == {"aten::mm": "op", "Buffer Flush": "overhead", "Iteration Start": "mark"}
    assert trace.rows("SELECT count(*) FROM process") == [(1,)]


def test_a_plain_chrome_trace_shows_threads_and_their_events(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        """[{"ph":"M","name":"process_name","pid":1,"args":{"name":"browser"}},
            {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"io"}},
            {"ph":"X","name":"task 12","cat":"x","pid":1,"tid":2,"ts":0,"dur":9,"args":{"a":1}}]"""
    )
    trace = Opened(open_trace(path, cache=False))
    assert trace.lanes() == {"task 12": "io (thread 2)"}
    assert trace.rows("SELECT name, pid FROM process") == [("browser", 1)]
    assert trace.path("task 12", "host_event") == ["io (thread 2)", "task #"]
    facts = trace.facts()
    assert facts["producer"] == "Chrome trace"
    [lacking] = [key for key in facts if key.startswith("capability.")]
    assert lacking == "capability.gpu_work"
    assert "shown as host events" in facts[lacking]
    assert "nsys" not in facts[lacking]


# ----------------------------------------------------- ranks and capabilities --


def test_rank_files_make_one_trace_aligned_by_their_base(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in (0, 1):
        write_json(
            folder / f"rank{rank}.json",
            [
                op("aten::mm", 100 + rank, 10),
                call("cudaLaunchKernel", 101 + rank, 2, 7),
                kernel("gemm", 120, 10, 7),
            ],
            baseTimeNanoseconds=1_700_000_000_000_000_000 + 5000 * rank,
            distributedInfo={"rank": rank, "world_size": 2, "backend": "nccl"},
        )
    trace = Opened(open_trace(folder, cache=False))
    assert trace.rows("SELECT rank FROM process ORDER BY id") == [(0,), (1,)]
    assert trace.rows(
        """SELECT p.rank, h.start_ns FROM host_event h JOIN lane l ON l.id = h.lane
           JOIN process p ON p.id = l.process WHERE h.kind = 7 ORDER BY 1"""
    ) == [(0, 0), (1, 6000)]
    assert trace.rows(
        """SELECT p.rank, d.process FROM gpu_op o JOIN device d ON d.id = o.device
           JOIN process p ON p.id = d.process ORDER BY 1"""
    ) == [(0, 0), (1, 1)]
    assert trace.launches() == [("gemm", "cudaLaunchKernel", "aten::mm")] * 2
    launches = trace.rows(
        """SELECT DISTINCT lo.process = lh.process FROM gpu_op o
           JOIN host_event h ON h.id = o.launch JOIN lane lo ON lo.id = o.lane
           JOIN lane lh ON lh.id = h.lane"""
    )
    assert launches == [(True,)]
    assert trace.facts()["distributed.world_size"] == "2"


def test_what_a_recording_lacks_is_told_with_how_to_record_it(tmp_path: Path) -> None:
    trace = opened(tmp_path / "t.json", [op("aten::mm", 0, 10)])
    facts = trace.facts()
    lacking = {
        key.removeprefix("capability."): value
        for key, value in facts.items()
        if key.startswith("capability.") and value
    }
    assert "cpu_operators" not in lacking
    assert "with_stack=True" in lacking["python_frames"]
    assert "with_stack=True" in lacking["modules"]
    assert "record_shapes=True" in lacking["shapes"]
    assert "profile_memory=True" in lacking["memory"]
    assert "ProfilerActivity.CUDA" in lacking["gpu_work"]
    assert "prof.step()" in lacking["steps"]
    assert all(reason.endswith(".") for reason in lacking.values())
    full = opened(
        tmp_path / "u.json",
        [
            python("a.py(1): f", 0, 50),
            python("nn.Module: Net_0", 0, 50),
            event("user_annotation", "ProfilerStep#3", 0, 50),
            event("cpu_op", "aten::mm", 0, 10, MAIN, **{"Input Dims": [[1]]}),
            call("cudaLaunchKernel", 1, 1, 1),
            kernel("k", 20, 1, 1),
            gpu("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 30, 1, None, bytes=8),
            event("cpu_instant_event", "[memory]", 5, 0, Bytes=8),
        ],
    )
    assert [v for k, v in full.facts().items() if k.startswith("capability.") and v] == []


def test_a_file_without_events_opens_and_says_so(tmp_path: Path) -> None:
    trace = opened(tmp_path / "t.json", [], deviceProperties=[device()])
    assert trace.rows("SELECT count(*) FROM host_event") == [(0,)]
    assert "no events" in trace.notes()


def test_the_log_of_the_profiler_is_passed_on(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [op("aten::mm", 0, 10)],
        WARNING=["Profiler stopped early", 3],
        ERROR="not a list",
        HOME="/home/someone",
    )
    assert trace.rows("SELECT severity, text FROM note WHERE source = 'profiler'") == [
        (2, "Profiler stopped early")
    ]
    assert "someone" not in str(trace.facts())


# ------------------------------------------------------------ impossible envelopes --


def test_events_whose_time_cannot_be_are_counted_as_not_used(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    times = [
        ("1", "2"),
        ("1e400", "1"),
        ("99999999999999999999", "1"),
        ("5", "1e400"),
        ("8e18", "1"),
    ]
    events = [
        f'{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}'
        for ts, dur in times
    ]
    events.append('{"ph":"C","name":"c","pid":1,"tid":1,"ts":5,"args":{}}')
    events.append('{"ph":"C","name":"c","pid":1,"tid":1,"ts":5,"args":{"a":1,"b":2}}')
    path.write_text('{"schemaVersion":1,"traceEvents":[' + ",".join(events) + "]}")
    trace = Opened(open_trace(path, cache=False))
    facts = trace.facts()
    assert trace.rows("SELECT count(*) FROM host_event") == [(2,)]
    assert (facts["rows.events"], facts["used.events"]) == ("7", "3")
    assert facts["unused.events.bad_time"] == "3"
    assert facts["unused.events.counter_without_a_value"] == "1"
    assert "4 times or durations cannot be" in trace.notes()


@pytest.mark.parametrize("base", [10**30, 2**62, -1, -(2**63), "1", None, [1]])
def test_an_impossible_base_time_is_none(tmp_path: Path, base: object) -> None:
    trace = opened(tmp_path / "t.json", [op("aten::mm", 5, 10)], baseTimeNanoseconds=base)
    assert trace.facts().get("start_utc_ns") is None
    assert trace.rows("SELECT start_ns, dur_ns FROM host_event") == [(0, 10_000)]


def test_more_processes_than_can_be_told_apart_share_one(tmp_path: Path) -> None:
    number = 2**15 + 9
    events = [{**op("aten::mm", 5, 10), "pid": pid, "tid": pid} for pid in range(1, number + 1)]
    trace = opened(tmp_path / "t.json", events)
    assert trace.rows("SELECT count(*) FROM process") == [(2**15 - 2,)]
    assert "More than 32765 processes: the others are shown as one." in trace.notes()
    assert trace.rows("SELECT sum(calls)::BIGINT FROM path_metric") == [(number,)]


def test_many_gpus_cost_no_statement_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 300
    events = [op("aten::mm", 0, 10_000)]
    for gpu_ in range(number):
        events.append(call("cudaLaunchKernel", 10 * gpu_, 5, gpu_ + 1))
        events.append(kernel(f"k{gpu_ % 3}", 10 * gpu_ + 5, 1 + gpu_, gpu_ + 1, device=gpu_))
    inserts: list[str] = []
    insert = StoreWriter.insert

    def counted(self: StoreWriter, table: str, stream: ColumnStream) -> None:
        inserts.append(table)
        insert(self, table, stream)

    monkeypatch.setattr(StoreWriter, "insert", counted)
    trace = opened(tmp_path / "t.json", events)
    assert len(inserts) < 30
    # Every context above a kernel has the whole time of each GPU: root, process, thread, op, call.
    time = "SELECT device, gpu_ns FROM path_total WHERE node = {} AND device IS NOT NULL ORDER BY 1"
    expected = [(gpu_, 1000 * (1 + gpu_)) for gpu_ in range(number)]
    for node in range(5):
        assert trace.rows(time.format(node)) == expected
    assert trace.rows("SELECT count(*) FROM path_total WHERE device IS NOT NULL") == [(6 * number,)]


def test_more_gpus_than_can_be_told_apart_share_one() -> None:
    timeline = Timeline("t")
    ids = [timeline.add_device(Device(ordinal, "GPU")) for ordinal in range(2**15 + 9)]
    assert ids[-12:] == [2**15 - 3] * 12
    assert len(timeline.devices) == 2**15 - 2
    assert timeline.devices[-1].name == "more GPUs"


# ---------------------------------------------------------- counter ranges --


def counted(name: str, ts: float, gpu_: int, **values: Any) -> Event:
    """A range of the CUPTI range profiler: its process is the GPU."""
    return event("cuda_profiler_range", name, ts, 10, 0, **values) | {"pid": gpu_}


def test_counter_ranges_are_spans_of_their_gpu_and_values_over_time(tmp_path: Path) -> None:
    trace = opened(
        tmp_path / "t.json",
        [
            op("aten::mm", 0, 30),
            counted("gemm", 5, 0, **{"ffma.sum": 100, "ratio": 0.5, "not a number": "N/A"}),
            counted("gemm", 20, 0, **{"ffma.sum": 40, "huge": 10**400, "yes": True}),
            counted("add", 20, 1, **{"ffma.sum": 7}),
        ],
    )
    assert trace.rows(
        """SELECT d.ordinal, s.text, c.time_ns, c.value FROM counter c
           JOIN device d ON d.id = c.device JOIN string s ON s.id = c.name ORDER BY ALL"""
    ) == [
        (0, "ffma.sum", 5000, 100.0),
        (0, "ffma.sum", 20_000, 40.0),
        (0, "ratio", 5000, 0.5),
        (1, "ffma.sum", 20_000, 7.0),
    ]
    assert trace.rows(
        """SELECT d.ordinal, k.name, l.name, s.text, o.start_ns, o.dur_ns FROM gpu_op o
           JOIN device d ON d.id = o.device JOIN gpu_kind_name k ON k.code = o.kind
           JOIN lane l ON l.id = o.lane JOIN string s ON s.id = o.name ORDER BY ALL"""
    ) == [
        (0, "span", "counter ranges", "gemm", 5000, 10_000),
        (0, "span", "counter ranges", "gemm", 20_000, 10_000),
        (1, "span", "counter ranges", "add", 20_000, 10_000),
    ]
    # They are no work: nothing of theirs is busy time, and no thread has them.
    assert trace.rows("SELECT count(*) FROM op_stat") == [(0,)]
    assert trace.rows("SELECT count(*) FROM host_event") == [(1,)]
    assert "counters of kernels" in trace.facts()[f"capability.{Capability.GPU_WORK.value}"]


def test_counter_ranges_of_a_process_with_threads_are_its_own(tmp_path: Path) -> None:
    found = counted("r", 5, PID, **{"instructions": 3})
    trace = opened(tmp_path / "t.json", [op("aten::mm", 0, 30), found])
    assert trace.rows("SELECT kind, start_ns FROM host_event ORDER BY 1") == [(5, 5000), (7, 0)]
    assert trace.rows("SELECT count(*) FROM counter") == [(0,)]
