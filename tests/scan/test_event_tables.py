"""Which table an event goes to, and what its columns hold."""

import json

import pytest

from tests.scan.trace_json import event, scan


@pytest.mark.parametrize(
    ("category", "table", "kind"),
    [
        ("cpu_op", "op", 0),
        ("Operator", "op", 0),
        ("user_annotation", "op", 1),
        ("python_function", "python", None),
        ("cuda_runtime", "launch", 0),
        ("Runtime", "launch", 0),
        ("cuda_driver", "launch", 1),
        ("kernel", "gpu", 0),
        ("gpu_memcpy", "gpu", 1),
        ("Memset", "gpu", 2),
        ("mtia_ccp_events", "gpu", 3),
        ("cuda_sync", "sync", None),
        ("gpu_user_annotation", "span", None),
        ("overhead", "overhead", None),
        ("Trace", "window", None),
        ("cuda_profiler_range", "range", None),
        ("anything", "other", None),
    ],
)
def test_a_category_has_its_table(category: str, table: str, kind: int | None) -> None:
    found = scan([event(cat=category)])
    assert {name for name in found.scan.tables() if found.scan.rows(name)} == {table, "lane"}
    (row,) = found.rows(table)
    assert row["ts_ns"] == 10_000
    assert row["dur_ns"] == 2_500
    assert row["name"] == "n"
    assert row["seq"] == 0
    assert row.get("kind") == kind
    assert found.scan.categories == {category: 1}


def test_an_operator() -> None:
    args = {
        "External id": 7, "Ev Idx": 8, "Record function id": 9, "Sequence number": 10,
        "Fwd thread id": 0, "Input Dims": [[2, 3], []], "Input type": ["float", ""],
        "Concrete Inputs": ["", "1"], "Call stack": "a;b", "stream": 0, "kernel_backend": "triton",
        "num_warps": 8, "extra": {"a": [1, "x y"]}, "finished": True,
    }  # fmt: skip
    found = scan([event(cat="cpu_op", args=args), event(cat="cpu_op", args=args)])
    first, second = found.rows("op")
    assert first == {
        "lane": 0, "ts_ns": 10_000, "dur_ns": 2_500, "name": "n", "flags": 0, "seq": 0, "kind": 0,
        "ext_id": 7, "ev_idx": 8, "rf_id": 9, "seq_nr": 10, "fwd_thread": 0, "shape": 0,
        "stack": "a;b", "stream": 0, "triton": 0, "args": '{"extra":{"a":[1,"x y"]}}',
    }  # fmt: skip
    assert second == {**first, "seq": 1}
    assert found.rows("shape") == [
        {"dims": "[[2,3],[]]", "types": '["float",""]', "concrete": '["","1"]'}
    ]
    assert found.rows("triton") == [{"backend": "triton", "num_warps": 8}]


def test_a_kernel() -> None:
    args = {
        "External id": 3, "queued": 0, "device": 0, "context": 1, "stream": 4294967295,
        "correlation": 99, "registers per thread": 40, "shared memory": 512,
        "blocks per SM": 4.740741, "warps per SM": 75.5, "grid": [512, 1, 2], "block": [128, 1, 1],
        "est. achieved occupancy %": 75, "graph id": 0, "graph node id": 12,
        "Collective name": "allreduce", "In msg nelems": 5, "Comms Id": 2**64 - 1,
    }  # fmt: skip
    flow = {"cat": "ac2g", "id": 99, "name": "ac2g", "pid": 1, "tid": 2}
    start, end = flow | {"ph": "s", "ts": 5}, flow | {"ph": "f", "ts": 10}
    found = scan([start, event(cat="kernel", args=args), end])
    (row,) = found.rows("gpu")
    expected = {
        "corr": 99, "ext_id": 3, "device": 0, "context": 1, "stream": -1, "config": 0, "coll": 0,
        "graph": 0, "graph_node": 12, "queued": 0, "flags": 16,
    }  # fmt: skip
    assert expected.items() <= row.items()
    assert found.rows("config") == [
        {
            "grid_x": 512, "grid_y": 1, "grid_z": 2, "block_x": 128, "block_y": 1, "block_z": 1,
            "registers": 40, "smem_bytes": 512, "blocks_per_sm": 4.740741, "warps_per_sm": 75.5,
            "occupancy_pct": 75.0,
        }
    ]  # fmt: skip
    assert found.rows("collective") == [{"name": "allreduce", "in_nelems": 5, "comms_id": -1}]
    assert found.scan.flows_dropped == {"ac2g": 2}
    assert found.report == {"wide_int": 1}


def test_a_flow_that_has_a_start_marks_its_gpu_operations() -> None:
    flow = {"cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2}
    kernels = [event(cat="kernel", ts=ts, args={"correlation": corr})
               for ts, corr in ((10, 1), (20, 1), (30, 2), (40, 3))]  # fmt: skip
    ends = [flow | {"ph": "f", "id": corr, "ts": ts} for ts, corr in ((10, 1), (20, 1), (30, 2))]
    found = scan([flow | {"ph": "s", "id": 1, "ts": 1}, *kernels, *ends])
    assert [row["flags"] for row in found.rows("gpu")] == [16, 16, 0, 0]


def test_launches_of_amd() -> None:
    found = scan([
        event(cat="cuda_runtime", name="hipExtModuleLaunchKernel", args={
            "kernel": "k", "cid": 65, "correlation": 5254, "grid": [65536, 1, 1],
            "block": [256, 1, 1], "shared memory": 0, "stream": "0x7f00"}),
        event(cat="cuda_runtime", name="hipMemcpyWithStream", args={
            "src": "0xffffffffffffff00", "dst": "0x10", "bytes": "536870912", "kind": 1}),
        event(cat="cuda_runtime", name="hipMalloc", args={"ptr": "0x30", "size": "2560"}),
    ])  # fmt: skip
    launch, copy, allocate = found.rows("launch")
    assert (launch["kernel"], launch["cbid"], launch["config"]) == ("k", 65, 0)
    assert (launch["stream"], launch["corr"]) == (0x7F00, 5254)
    assert (copy["addr0"], copy["addr1"]) == (-0x100, 0x10)
    assert (copy["bytes"], copy["copy_kind"]) == (536870912, "1")
    assert (allocate["addr0"], allocate["bytes"]) == (0x30, 2560)
    assert not any("args" in row for row in found.rows("launch"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("__amd_rocclr_copyBufferAligned", 1),
        ("MEMORY_COPY_DEVICE_TO_HOST", 1),
        ("__amd_rocclr_fillBufferAligned", 2),
        ("copyBuffer", 0),
    ],
)
def test_copies_that_are_recorded_as_kernels(name: str, kind: int) -> None:
    assert scan([event(cat="kernel", name=name)]).rows("gpu")[0]["kind"] == kind


@pytest.mark.parametrize("fields", [{"ph": "i", "cat": "cpu_instant_event"}, {"ph": "X"}])
def test_memory_events_of_any_phase(fields: dict[str, str]) -> None:
    args = {
        "Total Reserved": 100, "Total Allocated": 50, "Bytes": -4, "Addr": 2**63 + 2,
        "Device Id": -1, "Device Type": 0, "Ev Idx": 3,
    }  # fmt: skip
    (row,) = scan([event(name="[memory]", args=args) | fields]).rows("memory")
    assert row == {
        "lane": 0, "ts_ns": 10_000, "dur_ns": 0, "name": "[memory]", "flags": 0, "seq": 0,
        "addr": -(2**63) + 2, "bytes": -4, "total_alloc": 50, "total_reserved": 100, "dev_type": 0,
        "dev_id": -1,
    }  # fmt: skip


def test_lanes_are_told_apart_by_category_not_by_pid() -> None:
    found = scan([
        event(cat="python_function", pid=0, tid=0),
        event(cat="kernel", pid=0, tid=0),
        event(cat="kernel", pid="0", tid="stream 7 "),
        event(cat="Trace", pid="Spans", tid="PyTorch Profiler"),
        event(ph="b", id=1, pid=2**64 - 1, tid=-1),
    ])  # fmt: skip
    assert found.rows("lane") == [
        {"side": 0, "pid": "0", "tid": "0", "pid_num": 0, "tid_num": 0},
        {"side": 1, "pid": "0", "tid": "0", "pid_num": 0, "tid_num": 0},
        {"side": 1, "pid": "0", "tid": "stream 7 ", "pid_num": 0, "tid_num": 7},
        {"side": 4, "pid": "Spans", "tid": "PyTorch Profiler"},
        {"side": 2, "pid": "18446744073709551615", "tid": "-1", "pid_num": -1, "tid_num": -1},
    ]


def test_marks_counters_flows_and_metadata() -> None:
    found = scan([
        {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 1, "args": {"bytes": 3}},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 2},
        {"ph": "b", "cat": "c", "id": "0x1", "name": "a", "pid": 1, "ts": 3, "scope": "s"},
        {"ph": "C", "name": "mem", "pid": 1, "ts": 4, "args": {"bytes": 5, "x": "6.5", "y": "no"}},
        {"ph": "s", "cat": "fwdbwd", "id": 4, "name": "fwdbwd", "pid": 1, "tid": 1, "ts": 5},
        {"ph": "f", "cat": "other", "id": "left", "name": "o", "pid": 1, "tid": 1, "ts": 6},
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_sort_index", "pid": 1, "tid": 0, "args": {"sort_index": 5}},
    ])  # fmt: skip
    begin, end, asynchronous = found.rows("mark")
    assert (begin["ph"], begin["args"], end["name"]) == (ord("B"), '{"bytes":3}', "(no name)")
    assert (asynchronous["id"], asynchronous["scope"], asynchronous["cat"]) == ("0x1", "s", "c")
    assert [(row["series"], row["value"]) for row in found.rows("counter")] == [
        ("bytes", 5.0), ("x", 6.5),
    ]  # fmt: skip
    first, second = found.rows("flow")
    assert (first["id"], first["ph"], "id_text" in first) == (4, ord("s"), False)
    assert (second["id_text"], second["cat"], "id" in second) == ("left", "other", False)
    name, index = found.rows("meta")
    assert (name["name"], name["value"], name["pid"]) == ("process_name", "python", "1")
    assert (index["name"], index["sort_index"]) == ("process_sort_index", 5)
    assert found.scan.phases == {"B": 1, "C": 1, "E": 1, "M": 2, "b": 1, "f": 1, "s": 1}


def test_empty_lists_of_the_old_layout_are_left_out() -> None:
    args = {"Input names": [], "Output dims": [[1]], "Device": 24572, "external id": 4}
    (row,) = scan([event(cat="Operator", args=args)]).rows("op")
    assert row["ext_id"] == 4
    assert json.loads(row["args"]) == {"Output dims": [[1]]}


def test_a_table_is_taken_once() -> None:
    found = scan([event(cat="kernel")])
    columns = found.scan.take("gpu")
    assert columns["name"].base is not None
    assert not columns["name"].flags.writeable
    assert columns["graph"].strides == (0,)
    with pytest.raises(KeyError, match="gpu has been taken"):
        found.scan.take("gpu")
    with pytest.raises(KeyError, match="no table nothing"):
        found.scan.take("nothing")
    assert found.scan.rows("gpu") == 1
