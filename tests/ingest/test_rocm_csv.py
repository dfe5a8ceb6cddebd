"""CSV files of rocprofv3: several tables of one process become one trace."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.kernel_panel import kernel_panel
from dctx.ingest.csv_head import csv_table, run_in_name
from dctx.ingest.errors import TraceError
from dctx.ingest.model import Severity
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import op_stats
from dctx.queries.trace import Trace
from tests.rocm_files import CSV_RUN, rocprof_document, rocprof_process, write_csv

GEMM = "gemm(float*, int)"


def rows(asked: Path | Sequence[Path], sql: str) -> list[tuple[Any, ...]]:
    with closing(open_trace(asked, cache=False)) as store, store.cursor() as cursor:
        return cursor.execute(sql).fetchall()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files of a run but those of the other way to sample."""
    folder = tmp_path_factory.mktemp("csv") / "host"
    write_csv(folder, *(table for table in CSV_RUN if table != "pc_sampling_host_trap"))
    return folder


def test_a_folder_of_tables_is_one_trace(run: Path) -> None:
    with closing(open_trace(run, cache=False)) as store, store.cursor() as cursor:
        found = cursor.execute(
            """SELECT s.text, o.kind, d.gpu_id, d.name, o.start_ns, o.dur_ns, p.name
               FROM gpu_op o JOIN string s ON s.id = o.name JOIN device d ON d.id = o.device
               JOIN paths n ON n.id = o.node JOIN paths p ON p.id = n.parent ORDER BY o.start_ns"""
        ).fetchall()
        shapes = cursor.execute(
            """SELECT grid_x, grid_y, block_x, registers_per_thread, shared_bytes FROM kernels
               ORDER BY start_ns"""
        ).fetchall()
        calls = cursor.execute(
            "SELECT name, kind, thread, start_ns, dur_ns FROM host_events ORDER BY start_ns"
        ).fetchall()
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        memory = cursor.execute(
            "SELECT time_ns, bytes FROM memory_event ORDER BY time_ns"
        ).fetchall()
        [(process, pid)] = cursor.execute("SELECT name, pid FROM process").fetchall()
    # Times count from the first call, the range at 990.
    model = "AMD Instinct MI300X"
    assert found == [
        (GEMM, 0, 2, model, 40, 600, "hipLaunchKernel"),
        ("memcpy HtoD", 1, 2, model, 120, 290, "hipMemcpy"),
        ("__amd_rocclr_fillBufferAligned", 2, 2, model, 650, 10, "[launch not recorded]"),
        ("add", 0, 4, model, 1050, 10, "hipLaunchKernel"),
    ]
    assert shapes == [(4, 2, 256, 40, 512), (1, 1, 64, 8, 0)]
    assert calls == [
        ("step, 1", "annotation", "main thread 4242", 0, 610),
        ("hipLaunchKernel", "runtime", "main thread 4242", 10, 20),
        ("hipMemcpy", "runtime", "main thread 4242", 110, 400),
        ("here", "mark", "main thread 4242", 710, 0),
        ("hipLaunchKernel", "runtime", "thread 4243", 1010, 30),
    ]
    assert memory == [(-90, 1024), (910, -1024)]
    assert (process, pid) == ("pid 4242", 4242)
    assert (facts["producer"], facts["format"]) == ("rocprofv3", "rocprofv3-csv")
    for table, text in CSV_RUN.items():
        name = "api_trace" if "api_trace" in table else table.partition("_stoch")[0]
        if f"rows.{name}" in facts and name != "api_trace":
            assert facts[f"rows.{name}"] == str(text.count("\n") - 1), name
    assert facts["rows.api_trace"] == "5"
    assert facts["unused.pc_sampling.no_dispatch"] == "1"


def test_samples_and_counters_are_those_of_their_kernels(run: Path) -> None:
    stalls = rows(run, "SELECT kernel, instruction, file, line, reason, samples FROM stalls")
    assert sorted(stalls, key=str) == [
        ("add", None, None, None, "barrier", 1),
        (GEMM, "s_waitcnt vmcnt(0)", "/src/a.hip", 16, "selected", 1),
        (GEMM, "s_waitcnt vmcnt(0)", "/src/a.hip", 16, "waitcnt", 2),
        (GEMM, "v_add_f32 v1, v2, v3", None, None, "alu_dependency", 1),
    ]
    with closing(open_trace(run, cache=False)) as store:
        trace = Trace(store)
        panels = {op.name: kernel_panel(trace, op) for op in op_stats(trace)}
    gemm = panels[GEMM]
    assert gemm.samples is not None
    assert (gemm.samples.total, gemm.samples.waiting, gemm.samples.issued_share) == (4, 3, 0.25)
    [counter] = gemm.counters
    assert (counter.name, counter.launches, counter.mean) == ("SQ_WAVES", 1, 8.0)


def test_host_traps_tell_where_and_not_why(tmp_path: Path) -> None:
    files = write_csv(tmp_path, "kernel_trace", "pc_sampling_host_trap")
    assert rows(files, "SELECT kernel, instruction, reason, samples FROM stalls ORDER BY 4") == [
        (GEMM, "s_waitcnt vmcnt(0)", None, 1),
        (GEMM, "s_nop 0", None, 2),
    ]
    [(name,)] = rows(files, "SELECT DISTINCT name FROM device WHERE gpu_id = 1")
    assert name == "GPU (agent 1, model not recorded)"


def test_counters_alone_tell_the_dispatches(tmp_path: Path) -> None:
    files = write_csv(tmp_path, "counter_collection", "pc_sampling_host_trap")
    assert rows(files, "SELECT name, dur_ns, grid_x FROM kernels ORDER BY start_ns") == [
        (GEMM, 600, None),
        ("add", 10, None),
    ]
    assert rows(files, "SELECT sum(samples) FROM stalls") == [(3,)]


def test_samples_without_a_kernel_trace_are_refused(tmp_path: Path) -> None:
    [path] = write_csv(tmp_path, "pc_sampling_stochastic")
    with pytest.raises(TraceError, match="no kernel trace is there") as error:
        rows(path, "SELECT 1")
    assert "dctx-tui 4242_*.csv" in error.value.remedy
    assert "--kernel-trace" in error.value.remedy
    plain = path.rename(tmp_path / "pc_sampling_stochastic.csv")
    with pytest.raises(TraceError) as error:
        rows(plain, "SELECT 1")
    assert "dctx-tui *.csv." in error.value.remedy
    for table in ("agent_info", "kernel_stats"):
        with pytest.raises(TraceError, match="of nothing that ran"):
            rows(write_csv(tmp_path, table), "SELECT 1")


def test_each_process_is_its_own(tmp_path: Path) -> None:
    for number in (11, 12):
        write_csv(tmp_path, "kernel_trace", "pc_sampling_host_trap", run=f"out_{number}")
    found = rows(tmp_path, "SELECT pid, rank FROM process ORDER BY pid")
    assert found == [(11, 0), (12, 1)]
    assert rows(tmp_path, "SELECT sum(samples) FROM stalls") == [(6,)]
    assert rows(tmp_path, "SELECT count(*) FROM kernels") == [(4,)]


def test_tables_beside_the_whole_recording_are_not_read_twice(run: Path, tmp_path: Path) -> None:
    write_csv(tmp_path, "kernel_trace")
    (tmp_path / "4242_results.json").write_bytes(rocprof_document(rocprof_process(11, {})))
    assert rows(tmp_path, "SELECT count(*) FROM gpu_op") == [(0,)]
    notes = str(rows(tmp_path, "SELECT text FROM note"))
    assert "4242_kernel_trace.csv: taken to be of the same run as 4242_results.json" in notes


def test_what_is_cut_is_told(tmp_path: Path) -> None:
    whole = CSV_RUN["kernel_trace"].encode()
    path = tmp_path / "cut_kernel_trace.csv.gz"
    path.write_bytes(gzip.compress(whole[:-30]))
    assert rows(path, "SELECT count(*) FROM kernels") == [(2,)]
    facts = dict(rows(path, "SELECT key, value FROM trace WHERE key LIKE '%kernel_trace%'"))
    assert facts == {
        "rows.kernel_trace": "3",
        "used.kernel_trace": "2",
        "unused.kernel_trace.cut": "1",
    }
    assert "1 rows are cut" in str(rows(path, "SELECT text FROM note"))


def test_a_date_in_the_name_is_no_process(tmp_path: Path) -> None:
    files = write_csv(tmp_path, "kernel_trace", run="out_20260131120000")
    assert rows(files, "SELECT name, pid FROM process") == [("process", None)]


def test_a_process_id_that_no_system_has_is_not_known(tmp_path: Path) -> None:
    [path] = write_csv(tmp_path, "counter_collection")
    path.write_text(path.read_text().replace(",4242,", f",{10**12},"))
    assert rows(path, "SELECT pid FROM process") == [(None,)]


def test_of_columns_with_one_name_the_first_counts(tmp_path: Path) -> None:
    [path] = write_csv(tmp_path, "hip_api_trace")
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f'{head},"Domain"', *(f'{line},"HSA"' for line in lines), ""]))
    assert rows(path, "SELECT DISTINCT kind FROM host_events") == [("runtime",)]


def test_kernels_of_no_agent_count_all_the_same(tmp_path: Path) -> None:
    [path] = write_csv(tmp_path, "kernel_trace")
    path.write_text(re.sub('"Agent [12]"', "", path.read_text()))
    assert rows(path, "SELECT sum(gpu_ns) FROM path_metric") == [(600 + 10 + 10,)]
    assert rows(path, "SELECT label FROM device") == [("GPU not recorded",)]


def test_tables_that_cannot_be_read_are_a_warning(tmp_path: Path) -> None:
    calls, copies, _ = write_csv(tmp_path, "hip_api_trace", "memory_copy_trace", "kernel_trace")
    calls.write_text(CSV_RUN["hip_api_trace"].replace("Function", "What"))
    copies.write_text("")
    notes = dict(rows(tmp_path, "SELECT text, severity FROM note"))
    [told] = [text for text in notes if "named as tables of rocprofv3" in text]
    assert f"{calls.name}, {copies.name}: empty, or the first line lacks columns" in told
    assert notes[told] == Severity.WARNING


@pytest.mark.parametrize("seed", range(2))
def test_no_damage_is_a_traceback(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for name in ("kernel_trace", "pc_sampling_stochastic", "agent_info", "hip_api_trace"):
        data = bytearray(CSV_RUN[name].encode())
        head = data.index(b"\n")
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(head, len(data))] = chance.choice(b'",\n\0\xff9-')
        (tmp_path / f"4242_{name}.csv").write_bytes(data)
    with suppress(TraceError):
        [(kernels,)] = rows(tmp_path, "SELECT count(*) FROM kernels")
        assert kernels <= 4


def test_tables_are_told_by_their_columns_in_any_case() -> None:
    for table, text in CSV_RUN.items():
        expected = {"kernel_stats": "sums"}.get(table, table)
        if "pc_sampling" in table or "api" in table:
            expected = "pc_sampling" if "pc" in table else "api_trace"
        assert csv_table(text.encode()) == expected
        assert csv_table(("\ufeff" + text.upper()).encode()) == expected
        assert run_in_name(f"host_1_{table}.csv") == "host_1"
        assert run_in_name(f"{table}.csv") == ""
    assert csv_table(b"a,b\n1,2\n") is None
    assert csv_table(b'"ID","Kernel Name"\n') is None
    assert csv_table(CSV_RUN["kernel_trace"].encode()[:40]) is None
    assert run_in_name("notes.csv") is None
