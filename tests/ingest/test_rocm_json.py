"""rocprofv3 JSON: ids of their own in each process, names by id, any bytes in arguments."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from tests.rocm_files import (
    rocprof_counted,
    rocprof_dispatch,
    rocprof_document,
    rocprof_process,
    rocprof_record,
    rocprof_sample,
)

BASE = 63_857_982_000_000


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        found = cursor.execute(sql).fetchall()
    store.close()
    return found


def written(tmp_path: Path, data: bytes, name: str = "results.json") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


BUFFERS = {
    "kernel_dispatch": [
        rocprof_dispatch(8, BASE + 100, BASE + 150, 2),
        rocprof_dispatch(9, BASE + 200, BASE + 230, 99),
    ],
    "hip_api": [rocprof_record(1, 1, BASE + 50, BASE + 60, 2)],
    "marker_api": [
        rocprof_record(2, 1, BASE, BASE + 500, 21),
        rocprof_record(2, 0, BASE + 5, BASE + 5, 22),
    ],
    "memory_copy": [
        rocprof_record(
            4,
            1,
            BASE + 300,
            BASE + 310,
            2,
            dst_agent_id={"handle": 90},
            src_agent_id={"handle": 80},
            bytes=77,
        )
    ],
    "memory_allocation": [
        rocprof_record(
            5, 0, BASE + 1, BASE + 2, 3, agent_id={"handle": 90}, allocation_size=64, address="0x1f"
        ),
        rocprof_record(
            5, 1, BASE + 9, BASE + 9, 4, agent_id={"handle": 90}, allocation_size=0, address="0x1f"
        ),
    ],
}


def test_every_kind_of_record_is_read_and_linked(tmp_path: Path) -> None:
    path = written(tmp_path, rocprof_document(rocprof_process(11, BUFFERS)))
    assert rows(
        path,
        "SELECT s.text, o.start_ns, o.dur_ns, o.bytes, c.text FROM gpu_op o"
        " JOIN string s ON s.id = o.name LEFT JOIN host_event h ON h.id = o.launch"
        " LEFT JOIN string c ON c.id = h.name ORDER BY o.start_ns",
    ) == [
        ("gemm", 100, 50, None, "hipLaunchKernel"),
        ("_Z3fooPf.kd", 200, 30, None, None),
        ("memcpy HtoD", 300, 10, 77, "hipLaunchKernel"),
    ]
    assert rows(path, "SELECT kind, name FROM host_events ORDER BY start_ns, kind") == [
        ("annotation", "step 3"),
        ("mark", "roctxMarkA"),
        ("runtime", "hipLaunchKernel"),
    ]
    assert rows(path, "SELECT DISTINCT grid_x, block_x, shared_bytes FROM launch_config") == [
        (4, 256, 64)
    ]
    assert rows(path, "SELECT registers_per_thread FROM kernels ORDER BY start_ns") == [
        (64,),
        (16,),
    ]
    assert rows(path, "SELECT time_ns, bytes FROM memory_event ORDER BY 1") == [(1, 64), (9, -64)]
    assert rows(path, "SELECT name, pid FROM process") == [("train", 11)]
    assert rows(path, "SELECT ordinal, name, sm_count FROM device") == [
        (0, "AMD Instinct MI350X", 256)
    ]


def test_processes_of_one_document_do_not_share_ids(tmp_path: Path) -> None:
    first = rocprof_process(11, {"hip_api": [rocprof_record(1, 0, BASE, BASE + 5, 2)]})
    second = rocprof_process(
        12, {"kernel_dispatch": [rocprof_dispatch(8, BASE + 10, BASE + 20, 2)]}
    )
    path = written(tmp_path, rocprof_document(first, second))
    assert rows(path, "SELECT launch FROM gpu_op") == [(None,)]
    assert rows(path, "SELECT pid FROM process ORDER BY id") == [(11,), (12,)]


def test_a_gzipped_file_and_two_files_of_a_run(tmp_path: Path) -> None:
    one = rocprof_document(rocprof_process(11, BUFFERS))
    two = rocprof_document(rocprof_process(12, BUFFERS))
    written(tmp_path, gzip.compress(one), "11_results.json.gz")
    written(tmp_path, two, "12_results.json")
    assert rows(tmp_path / "11_results.json.gz", "SELECT count(*) FROM gpu_op") == [(3,)]
    store = open_trace([tmp_path / "11_results.json.gz", tmp_path / "12_results.json"], cache=False)
    with store.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM gpu_op").fetchall() == [(6,)]
        assert cursor.execute("SELECT count(*) FROM device").fetchall() == [(1,)]
        assert cursor.execute("SELECT count(DISTINCT name) FROM process").fetchall() == [(2,)]
    store.close()


def test_bytes_that_are_no_text_cost_nothing(tmp_path: Path) -> None:
    record = rocprof_record(1, 1, BASE + 50, BASE + 60, 2, args={"src": "HERE"})
    process = rocprof_process(11, {**BUFFERS, "hip_api": [record]})
    data = rocprof_document(process).replace(b"HERE", b"\xff\xfe\x01\x80\xc3(")
    path = written(tmp_path, data)
    assert rows(path, "SELECT count(*) FROM gpu_op") == [(3,)]
    assert rows(path, "SELECT count(*) FROM host_event WHERE correlation = 2") == [(1,)]
    broken = rocprof_document(rocprof_process(11, BUFFERS)).replace(b'"gemm"', b'"g\xffmm"')
    path = written(tmp_path, broken, "name.json")
    assert rows(path, "SELECT name FROM kernels ORDER BY start_ns LIMIT 1") == [("g�mm",)]
    assert "1 texts hold bytes that are no UTF-8" in str(rows(path, "SELECT text FROM note"))


def test_a_cut_file_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    buffers = {
        "kernel_dispatch": [rocprof_dispatch(8, BASE + i, BASE + i + 1, i) for i in range(9)]
    }
    whole = rocprof_document(rocprof_process(11, buffers))
    end = whole.index(b'"start_timestamp":%d' % (BASE + 7))
    path = written(tmp_path, whole[: end + 22])
    assert rows(path, "SELECT count(*) FROM gpu_op") == [(7,)]
    facts = dict(rows(path, "SELECT key, value FROM trace"))
    assert facts["unused.kernel_dispatch.cut"] == "1"
    assert f"is cut at byte {end + 22:,}; what" in str(rows(path, "SELECT text FROM note"))


def test_damage_in_the_middle_tells_its_place_and_how_much_is_lost(tmp_path: Path) -> None:
    buffers = {
        "kernel_dispatch": [rocprof_dispatch(8, BASE + i, BASE + i + 1, i) for i in range(9)]
    }
    whole = rocprof_document(rocprof_process(11, buffers))
    at = whole.index(b'"start_timestamp":%d' % (BASE + 7))
    path = written(tmp_path, whole[:at] + b'"' + whole[at:])
    assert rows(path, "SELECT count(*) FROM gpu_op") == [(7,)]
    [note] = [text for (text,) in rows(path, "SELECT text FROM note") if "damaged" in text]
    lost = int(note.partition("the ")[2].partition(" bytes")[0].replace(",", ""))
    assert 0 <= len(whole) + 1 - at - lost <= 20
    assert f"{100 * lost / (len(whole) + 1):.0f} %, are lost; what comes before is shown" in note


def test_damage_before_the_first_record_is_refused(tmp_path: Path) -> None:
    whole = rocprof_document(rocprof_process(11, BUFFERS))
    at = whole.index(b'"agents"')
    path = written(tmp_path, whole[:at] + b'"' + whole[at:])
    with pytest.raises(TraceError, match=r"damaged at byte .* nothing that ran is in what comes"):
        rows(path, "SELECT 1")


def test_counters_of_dispatches(tmp_path: Path) -> None:
    dispatch = rocprof_dispatch(8, BASE + 100, BASE + 150, 2)
    counted = rocprof_counted(dispatch, (5, 3.0), (5, 4.0), (6, 1.0))
    process = rocprof_process(11, {}, callback_records={"counter_collection": [counted]})
    path = written(tmp_path, rocprof_document(process))
    assert rows(path, "SELECT name, dur_ns FROM kernels") == [("gemm", 50)]
    assert rows(path, "SELECT text, value FROM counter JOIN string ON id = name") == [
        ("SQ_WAVES", 7.0)
    ]


def test_operations_without_names_are_named_by_their_table(tmp_path: Path) -> None:
    process = rocprof_process(11, BUFFERS, strings={"buffer_records": []})
    path = written(tmp_path, rocprof_document(process))
    assert ("(hip_api)",) in rows(path, "SELECT name FROM host_events")
    assert ("memcpy",) in rows(path, "SELECT s.text FROM gpu_op JOIN string s ON s.id = name")


def test_only_kernels_say_how_to_record_the_calls(tmp_path: Path) -> None:
    process = rocprof_process(11, {"kernel_dispatch": [rocprof_dispatch(8, BASE, BASE + 5, 2)]})
    path = written(tmp_path, rocprof_document(process))
    facts = dict(rows(path, "SELECT key, value FROM trace"))
    assert facts["capability.launches"] == (
        "recorded without API calls: record with rocprofv3 --sys-trace, or add --hip-trace."
    )
    assert facts["format"] == "rocprofv3"


def test_nothing_in_the_document_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="nothing that ran is in what comes before"):
        rows(written(tmp_path, b'{"rocprofiler-sdk-tool":['), "SELECT 1")
    path = written(tmp_path, rocprof_document(rocprof_process(11, {})), "empty.json")
    assert rows(path, "SELECT count(*) FROM gpu_op") == [(0,)]


STALLS = """SELECT s.* EXCLUDE (function, node, spread), p.name FROM stalls s
 LEFT JOIN paths p ON p.id = s.node ORDER BY ALL"""


def test_samples_of_instructions(tmp_path: Path) -> None:
    process = rocprof_process(
        11,
        {
            **BUFFERS,
            "pc_sample_stochastic": [
                rocprof_sample(2, 64, 0, "WAITCNT"),
                rocprof_sample(2, 64, 0, "WAITCNT"),
                rocprof_sample(2, 64, 0, "OTHER_WAIT", issued=1),  # issued: it waited for nothing
                rocprof_sample(2, 72, 1, "OTHER_WAIT"),
                rocprof_sample(77, 72, 1, "OTHER_WAIT"),  # nothing tells what ran
            ],
            "pc_sample_host_trap": [rocprof_sample(99, 8, -1)],
        },
    )
    process["strings"].update(
        pc_sample_instructions=["s_waitcnt vmcnt(0)", "v_add_f32 v1, v2, v3"],
        pc_sample_comments=["/src/a.hip:16 -> /src/b.hip:2", ""],
    )
    path = written(tmp_path, rocprof_document(process))
    second = ("gemm", "code object 2", 72, "v_add_f32 v1, v2, v3")
    first = ("gemm", "code object 2", 64, "s_waitcnt vmcnt(0)", "/src/a.hip", 16, 0)
    assert rows(path, STALLS) == [
        ("_Z3fooPf.kd", "code object 2", 8, None, None, None, 0, None, 1, None, "_Z3fooPf.kd"),
        (*first, "selected", 1, None, "gemm"),
        (*first, "waitcnt", 2, None, "gemm"),
        (*second, None, None, 0, "other_wait", 1, None, "gemm"),
    ]
    facts = dict(rows(path, "SELECT key, value FROM trace WHERE key LIKE '%pc_sample%'"))
    assert facts == {
        "rows.pc_sample_stochastic": "5",
        "used.pc_sample_stochastic": "4",
        "unused.pc_sample_stochastic.no_dispatch": "1",
        "rows.pc_sample_host_trap": "1",
        "used.pc_sample_host_trap": "1",
    }


def test_samples_of_the_runtimes_copies_are_no_stalls(tmp_path: Path) -> None:
    process = rocprof_process(11, {**BUFFERS, "pc_sample_host_trap": [rocprof_sample(2, 8, 0)]})
    process["kernel_symbols"][1]["formatted_kernel_name"] = "__amd_rocclr_copyBuffer"
    path = written(tmp_path, rocprof_document(process))
    assert rows(path, "SELECT count(*) FROM stalls") == [(0,)]
