"""`dctx report`: communication, pauses, what to trust, and traces that lack something."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers import op_report
from tests.cli.conftest import Run
from tests.kineto_files import Event, call, event, gpu, kernel, op, python, write_json
from tests.near import near
from tests.rank_files import all_reduces, arguments


def sheets(run: Run, trace: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    result = run("report", trace, "--json", "-", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["sheets"]
    return {name: sheet["rows"] for name, sheet in found.items()}


def paused() -> list[Event]:
    """A kernel, and five more after pauses of each cause; times in µs."""
    return [
        python("train.py(1): step", 0, 900, 1),
        op("aten::first", 1, 8),
        call("cudaLaunchKernel", 2, 2, 1),
        kernel("a", 10, 10, 1),  # ends at 20
        op("aten::late", 15, 60),
        call("cudaLaunchKernel", 60, 2, 2),
        kernel("host_bound", 70, 10, 2),  # launched in the pause from 20 to 70
        op("aten::queued", 76, 2),
        call("cudaLaunchKernel", 76, 1, 3),
        kernel("launch_latency", 90, 10, 3),  # 10 µs after 80, launched before
        call("cudaLaunchKernel", 92, 1, 4),
        call("cudaDeviceSynchronize", 95, 200, 9),
        kernel("sync", 200, 10, 4),  # its thread waited from 95 on
        call("cudaLaunchKernel", 296, 1, 5),
        kernel("c", 298, 12, 5),
        call("cudaLaunchKernel", 305, 1, 6),
        kernel("dependency", 400, 10, 6, stream=9),  # launched at 305, nobody waits
        kernel("unknown", 500, 10, None),
    ]


def test_every_pause_has_its_cause(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "t.json", paused())
    found = sheets(run, trace, "--sheet", "idle_gaps", "--sheet", "gpu_timeline")
    gaps = found["idle_gaps"]
    assert [(row["after"], row["cause"], row["length_us"]) for row in gaps] == [
        ("host_bound", "host_bound", 50.0),
        ("launch_latency", "launch_latency", 10.0),
        ("sync", "sync", 100.0),
        ("c", "host_bound", 88.0),
        ("dependency", "dependency", 90.0),
        ("unknown", "unknown", 90.0),
    ]
    assert [row["before"] for row in gaps][:2] == ["a", "host_bound"]
    assert (gaps[0]["cpu_op"], gaps[0]["python_frame"]) == ("aten::late", "train.py(1): step")
    assert (gaps[5]["cpu_op"], gaps[5]["python_frame"]) == (None, None)
    [idle] = [r["time ms"] for r in found["gpu_timeline"] if r["type"] == "idle_time"]
    assert sum(row["length_us"] for row in gaps) == near(idle * 1000)


def test_pauses_are_listed_when_asked_for(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "t.json", paused())
    assert "idle_gaps" not in sheets(run, trace)
    assert len(sheets(run, trace, "--idle-gaps")["idle_gaps"]) == 6


def step(number: int, start: float) -> Event:
    return event("user_annotation", f"ProfilerStep#{number}", start, 90)


def test_what_is_odd_is_counted(run: Run, tmp_path: Path) -> None:
    events = [step(n, 100.0 * n) for n in range(4)]
    number = 0
    for n in (0, 1, 3):
        for i in range(2 if n == 3 else 6):
            number += 1
            events.append(call("cudaLaunchKernel", 100 * n + i, 0.5, number))
            events.append(kernel("k", 100 * n + 10 + i, 1, number))
    events += [
        call("cudaLaunchKernel", 306, 0.5, 90),
        kernel("early", 305.5, 0, 90),  # before its launch, and without length
        kernel("lost", 320, 3, None),
    ]
    rows = sheets(run, write_json(tmp_path / "t.json", events))["data_quality"]
    counts = {row["check"]: (row["severity"], row["count"], row["affected_us"]) for row in rows}
    assert counts["unlinked GPU work"] == ("warning", 1, 3.0)
    assert counts["work without length"] == ("info", 1, 0.0)
    assert counts["work before its launch"] == ("warning", 1, None)
    assert counts["steps without GPU work"] == ("warning", 1, 100.0)
    assert counts["overruns"] == ("ok", 0, 0.0)
    assert counts["no operator shapes"][0] == "info"
    grades = ["warning", "info", "ok"]  # what weighs most comes first
    order = [grades.index(row["severity"]) for row in rows]
    assert order == sorted(order)


def test_work_over_the_next_of_its_stream_is_told(run: Run, tmp_path: Path) -> None:
    events = [kernel("k", 100.0 * n, 10, None) for n in range(5)]
    events += [kernel("k", 600, 5_000, None), kernel("k", 700, 10, None)]
    rows = sheets(run, write_json(tmp_path / "t.json", events))["data_quality"]
    [overruns] = [row for row in rows if row["check"] == "overruns"]
    assert (overruns["severity"], overruns["count"]) == ("warning", 1)
    assert overruns["affected_us"] == 4_900.0


def test_types_of_unknown_size_are_told(run: Run, tmp_path: Path) -> None:
    own = arguments((0, 1), dtype="Odd")
    trace = write_json(tmp_path / "t.json", all_reduces((100.0,), (200.0,), own))
    found = sheets(run, trace)
    [row] = [r for r in found["data_quality"] if r["check"] == "unknown element types"]
    assert row["count"] == 1
    assert "Odd" in row["explanation"]
    [of_calls] = found["coll_analysis"]
    assert of_calls["In msg size (MB)_first"] is None
    assert (of_calls["dur_sum"], of_calls["exposed_sum"]) == (100.0, 100.0)


def test_more_names_are_communication_and_the_time_is_told(run: Run, tmp_path: Path) -> None:
    events = [kernel("gemm", 0, 10, None), kernel("msccl_sum", 5, 10, None)]
    trace = write_json(tmp_path / "t.json", events)
    found = sheets(run, trace)
    times = {row["type"]: row["time ms"] for row in found["gpu_timeline"]}
    assert (times["exposed_comm_time"], times["total_comm_time"]) == (0.005, 0.01)
    told = [row["value"] for row in found["report_info"] if row["key"] == "communication"]
    assert len(told) == 1
    assert "0.010000 ms" in told[0]


def test_only_cpu_work_is_an_empty_timeline(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "t.json", [op("aten::add", 0, 5)])
    found = sheets(run, trace)
    assert set(found) == {"report_info", "data_quality", "gpu_timeline"}
    assert {row["time ms"] for row in found["gpu_timeline"]} == {0}
    assert {row["percent"] for row in found["gpu_timeline"]} == {None}
    assert any("no GPU work" in row["value"] for row in found["report_info"])
    assert sheets(run, trace, "--sheet", "gpu_timeline")["gpu_timeline"][0]["time ms"] == 0
    assert run("report", trace, "--sheet", "idle_gaps").exit_code == 2


def test_only_gpu_work_has_the_sheets_of_kernels(run: Run, tmp_path: Path) -> None:
    events = [kernel("gemm", 0, 10, None), kernel("ncclDevKernel_AllReduce", 5, 10, None)]
    events.append(gpu("gpu_memset", "Memset (Device)", 30, 1, None))
    found = sheets(run, write_json(tmp_path / "t.json", events))
    assert set(found) == {
        "report_info",
        "data_quality",
        "gpu_timeline",
        "kernel_summary",
        "short_kernel_histogram",
        "short_kernels_summary",
        "coll_analysis",
    }
    [row] = found["coll_analysis"]
    assert (row["Collective name"], row["exposed_sum"]) == ("allreduce", 5.0)


@pytest.mark.parametrize("kind", ["--csv", "--json"])
def test_compat_has_none_of_our_own_sheets(run: Run, tmp_path: Path, kind: str) -> None:
    trace = write_json(tmp_path / "t.json", all_reduces((100.0,), (200.0,), arguments((0, 1))))
    out = tmp_path / "out"
    assert run("report", trace, "--compat", "tracelens", kind, out).exit_code == 0
    if kind == "--csv":
        names = {path.stem for path in out.iterdir()}
        with (out / "coll_analysis.csv").open(newline="", encoding="utf-8") as file:
            head = next(csv.reader(file))
        assert head[-1] == "operation_count"
    else:
        names = set(json.loads(out.read_text(encoding="utf-8"))["sheets"])
    assert not names & {"report_info", "data_quality", "idle_gaps"}
    assert {"gpu_timeline", "coll_analysis"} <= names


def annotation(name: str, start: float, dur: float) -> Event:
    return event("user_annotation", name, start, dur)


def test_gpu_time_by_annotation(run: Run, tmp_path: Path) -> None:
    events = [
        annotation("outer", 0, 50),
        annotation("inner", 5, 20),
        annotation("inner", 6, 10),  # within itself: counts once
        call("cudaLaunchKernel", 7, 1, 1),
        kernel("a", 100, 10, 1),
        call("cudaLaunchKernel", 20, 1, 2),
        kernel("b", 105, 10, 2, stream=9),
        call("cudaLaunchKernel", 40, 1, 3),
        kernel("ncclDevKernel_AllReduce", 120, 30, 3),
        annotation("inner", 60, 10),
        call("cudaLaunchKernel", 62, 1, 4),
        kernel("a", 200, 5, 4),
        annotation("nothing", 80, 5),
        call("cudaLaunchKernel", 90, 1, 5),
        kernel("alone", 300, 5, 5),
    ]
    trace = write_json(tmp_path / "t.json", events)
    rows = sheets(run, trace, "--sheet", "annotation_summary")["annotation_summary"]
    words = ("range", "count", "host_time_ms", "gpu_time_ms", "direct_gpu_time_ms", "comm_time_ms",
             "gpu_ops")  # fmt: skip
    assert [tuple(row[word] for word in words) for row in rows] == [
        ("outer", 1, 0.05, 0.045, 0.03, 0.03, 3),
        ("inner", 2, 0.03, 0.02, 0.02, 0.0, 3),
    ]
    bare = write_json(tmp_path / "bare.json", [kernel("k", 1, 2, None)])
    assert run("report", bare, "--sheet", "annotation_summary").exit_code == 2


def test_a_report_tells_a_bounded_number_of_gpus(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(op_report, "MOST_DEVICES", 2)
    events: list[Event] = []
    for device in range(3):
        events.append(call("cudaLaunchKernel", 10 * device, 2, device + 1))
        one = kernel("gemm", 100 + device, 10, device + 1)
        one["pid"] = one["args"]["device"] = device
        events.append(one)
    trace = write_json(tmp_path / "many.pt.trace.json", events)
    result = run("report", trace, "--json", "-")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    rows = document["sheets"]["gpu_timeline"]["rows"]
    assert {row["device"] for row in rows} == {0, 1}
    remark = "GPUs beyond the first 2: a report tells no more of the 3 in the trace."
    assert remark in result.stderr
    about = document["sheets"]["report_info"]["rows"]
    assert remark in {row["value"] for row in about if row["key"] == "missing"}


def checkpointed() -> list[Event]:
    """A convolution of a module, run again within a checkpoint's backward beside communication:
    16 µs of computation, 6 µs of them (two with the first run) again; 8 µs of communication."""
    return [
        python("nn.Module: Conv2d_3", 0, 20),
        op("aten::conv", 1, 10),
        call("cudaLaunchKernel", 2, 2, 1),
        call("cudaLaunchKernel", 5, 2, 2),
        kernel("first", 100, 6, 1),
        kernel("second", 106, 4, 2),
        op("CheckpointFunctionBackward", 30, 40),
        op("aten::conv", 31, 10),
        call("cudaLaunchKernel", 32, 2, 3),
        kernel("first", 108, 8, 3, stream=8),
        op("aten::c10d", 50, 10),
        call("cudaLaunchKernel", 51, 2, 4),
        kernel("ncclDevKernel_AllReduce", 114, 8, 4, stream=9),
    ]


def test_recomputation_is_told_apart(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "again.pt.trace.json", checkpointed())
    found = sheets(run, trace, "--detect-recompute")
    part = {row["type"]: row["recompute ms"] for row in found["gpu_timeline"]}
    # The first run ends at 110: of 108 to 116 six are the second's own. The communication from
    # 114 to 122 is recomputed too, exposed from 116.
    assert part == {
        "computation_time": 0.006,
        "exposed_comm_time": 0.006,
        "exposed_memcpy_time": 0.0,
        "busy_time": 0.012,
        "idle_time": None,
        "total_time": None,
        "total_comm_time": 0.008,
        "total_memcpy_time": 0.0,
    }
    for name in ("ops_summary_by_category", "ops_summary", "ops_unique_args"):
        times = {
            row["is_recompute"]: row.get("total_direct_kernel_time_ms")
            or row["total_direct_kernel_time_sum"] / 1000
            for row in found[name]
        }
        assert times == {False: near(0.010), True: near(0.008)}
    assert {row["is_recompute"] for row in found["ops"]} == {False, True}
    assert {row["is_recompute"] for row in found["unified_perf_summary"]} == {False, True}
    assert "is_recompute" not in sheets(run, trace)["ops_summary"][0]


def test_rows_are_told_apart_by_what_is_asked_for(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "again.pt.trace.json", checkpointed())
    together = sheets(run, trace, "--sheet", "ops_unique_args")["ops_unique_args"]
    assert [row["operation_count"] for row in together] == [2]
    by_kernels = sheets(run, trace, "--sheet", "ops_unique_args", "--by-num-kernels")
    rows = {row["num_kernels"]: row for row in by_kernels["ops_unique_args"]}
    assert {n: row["total_direct_kernel_time_sum"] for n, row in rows.items()} == {2: 10, 1: 8}
    by_module = sheets(run, trace, "--by-module")
    for name in ("ops_summary_by_category", "ops_summary", "ops_unique_args"):
        assert {row["parent_module"] for row in by_module[name]} == {"Conv2d", None}
    heads = list(by_module["ops_unique_args"][0])
    assert heads[:4] == ["name", "op category", "parent_module", "process_name"]


def test_communication_may_be_left_out(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "again.pt.trace.json", checkpointed())
    assert "coll_analysis" in sheets(run, trace)
    assert "coll_analysis" not in sheets(run, trace, "--no-collectives")


def test_a_graph_launch_may_be_one_operator(run: Run, tmp_path: Path) -> None:
    events = [op("aten::mm", 0, 5), call("cudaGraphLaunch", 10, 5, 1)]
    events += [kernel("a", 20, 5, 1), kernel("b", 30, 5, 1)]
    trace = write_json(tmp_path / "graph.pt.trace.json", events)
    apart = sheets(run, trace, "--sheet", "ops_summary")["ops_summary"]
    assert len(apart) == 2
    [one] = sheets(run, trace, "--sheet", "ops_summary", "--graph-as-op")["ops_summary"]
    assert (one["name"], one["total_direct_kernel_time_sum"]) == ("cudaGraphLaunch", 10)


def test_short_kernels_may_be_cut_to_the_longest(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "again.pt.trace.json", checkpointed())
    asked = ("--sheet", "short_kernels_summary")
    rows = sheets(run, trace, *asked)["short_kernels_summary"]
    assert len(rows) > 1
    assert sheets(run, trace, *asked, "--top-short", "1")["short_kernels_summary"] == rows[:1]
