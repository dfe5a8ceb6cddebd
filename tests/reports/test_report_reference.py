"""Sheets of recorded PyTorch traces against reference values that were made apart from this code:
exact times in ns, and the sheets of TraceLens."""

import json
import os
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.architecture import Architecture, read
from dctx.analyzers.gpu_timeline import GpuTimeline
from dctx.analyzers.op_report import OpReport, op_report
from dctx.analyzers.report_rules import DCTX, TRACELENS
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.capture import device_times
from dctx.queries.trace import Trace
from dctx.reports.op_sheets import missing_sheets, sheet, sheet_names
from dctx.reports.perf_columns import FAMILIES
from dctx.reports.sheet_context import SheetOptions
from tests.near import near
from tests.reports.tracelens_sheets import NOT_HERE, TIMED, compare_sheet

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
TRUTH = TRACES / "expected" / "independent" / "torch"
TRACELENS_SHEETS = TRACES / "expected" / "tracelens"
NAMES = sorted(path.name[:-5] for path in TRUTH.glob("*.json"))
MICRO_IDLE_NS = 5_000

pytestmark = pytest.mark.skipif(not NAMES, reason="DCTX_TRACES names no folder with traces")


@pytest.fixture(scope="module", params=NAMES)
def trace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, dict[str, Any], Trace]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        truth = json.loads((TRUTH / f"{request.param}.json").read_text())
        store = open_trace(TRACES / "torch" / request.param, cache=False)
        yield request.param, truth, Trace(store)
        store.close()


def _times(found: GpuTimeline) -> dict[str, int]:
    return {
        "computation_ns": found.computation_ns,
        "exposed_comm_ns": found.exposed_comm_ns,
        "exposed_memcpy_ns": found.exposed_memcpy_ns,
        "busy_ns": found.busy_ns,
        "idle_ns": found.idle_ns,
        "micro_idle_below_5us_ns": found.micro_idle_ns,
        "total_ns": found.total_ns,
        "total_comm_ns": found.comm_ns,
        "total_memcpy_ns": found.memcpy_ns,
    }


def test_timelines_are_those_of_the_reference(trace: tuple[str, dict[str, Any], Trace]) -> None:
    _, truth, of = trace
    report = op_report(of, DCTX, MICRO_IDLE_NS)
    if not truth.get("timeline_all"):
        pytest.skip("no work of GPUs; other accelerators have no reference")
    if len(report.devices) > 1:
        pytest.skip("the reference unites devices")
    [device] = report.devices
    compared = [(device.timeline, "timeline_all")]
    if truth.get("timeline_with_launch") and device.linked_timeline is not None:
        compared.append((device.linked_timeline, "timeline_with_launch"))
    for found, name in compared:
        times = _times(found)
        assert times == {key: truth[name][key] for key in times}, name


def test_parts_are_the_whole(trace: tuple[str, dict[str, Any], Trace]) -> None:
    report = op_report(trace[2], DCTX)
    for device in report.devices:
        t = device.timeline
        exposed = t.exposed_comm_ns + t.exposed_memcpy_ns
        assert t.computation_ns + exposed == t.busy_ns
        assert t.busy_ns + t.idle_ns == t.total_ns
    assert {t.device: t.compute_ns for t in device_times(trace[2])} == {
        device.device: device.timeline.computation_ns for device in report.devices
    }
    made = _sheets(report, SheetOptions(DCTX))
    devices = len(report.devices)
    for name in ("ops_summary_by_category", "ops_summary", "ops_unique_args"):
        if name in made:
            for column in ("total_direct_kernel_time_sum", "total_direct_kernel_time_ms"):
                if column in made[name][0]:
                    scale = 1 if column.endswith("sum") else 1000
                    total = sum(row[column] * scale for row in made[name])
                    assert total == near(_direct_us(report)), name
            shares = [row["Percentage (%)"] or 0 for row in made[name]]
            assert sum(shares) == near(100 * devices), name
    for name, column in (
        ("kernel_summary", "Percent of kernels time (%)"),
        ("nn_modules", "Percentage (%)"),
    ):
        shares = [row[column] for row in made.get(name, [])]
        if any(share is not None for share in shares):
            told = {row.get("device", 0) for row in made[name] if row[column] is not None}
            assert sum(share or 0 for share in shares) == near(100 * len(told)), name
    kinds = ("computation_time", "exposed_comm_time", "exposed_memcpy_time", "idle_time")
    parts = [r["percent"] or 0 for r in made.get("gpu_timeline", []) if r["type"] in kinds]
    assert sum(parts) == near(100 * sum(d.timeline.total_ns > 0 for d in report.devices))
    _perf_parts_are_the_whole(report, made)
    if "ops_unique_args" in made:
        slots = [s for row in made["ops_unique_args"] for s in _slots(row)]
        assert sum(s["count"] for s in slots) == sum(int(d.ops.count.sum()) for d in report.devices)
    for name, column in (
        ("short_kernel_histogram", "count"),
        ("short_kernels_summary", "Short Kernel count"),
    ):
        assert sum(row[column] for row in made.get(name, [])) == _short_kernels(report)


def _perf_parts_are_the_whole(report: OpReport, made: dict[str, list[dict[str, Any]]]) -> None:
    if "unified_perf_summary" not in made:
        return
    for device in report.devices:
        work = int((~device.source.comm).sum())
        assert int(device.exclusive.table.count.sum()) == work
        # Work of one operator that overlaps itself over launchers is counted once here.
        exclusive = int(device.exclusive.table.direct_ns.sum())
        assert exclusive == near(int(device.ops.direct_ns.sum()), rel=2e-4)
    rows = made["unified_perf_summary"]
    assert sum(row["Percentage (%)"] or 0 for row in rows) == near(100 * len(report.devices))
    assert all(literal_eval(row["perf_params"] or "{}") is not None for row in rows)
    busy_us = sum(device.timeline.busy_ns for device in report.devices) / 1000
    for name in made.keys() & FAMILIES.keys():
        assert sum(row["Kernel Time (µs)_sum"] for row in made[name]) <= busy_us * 1.000001


def _slots(row: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = literal_eval(row["kernel_details_summary"])
    assert found
    return found


def _short_kernels(report: OpReport) -> int:
    limit = SheetOptions(DCTX).short_ns
    return sum(
        int(((d.work.kind == GpuKind.KERNEL) & (d.work.end_ns - d.work.start_ns < limit)).sum())
        for d in report.devices
    )


def _direct_us(report: OpReport) -> float:
    return sum(int(device.ops.direct_ns.sum()) for device in report.devices) / 1000


def _sheets(report: OpReport, options: SheetOptions) -> dict[str, list[dict[str, Any]]]:
    names = sheet_names(report, options)
    missing = missing_sheets(report, names, options)
    made = {name: sheet(report, name, options) for name in names if name not in missing}
    return {
        name: [dict(zip(found.headings, row, strict=True)) for row in found.rows()]
        for name, found in made.items()
        if len(found)
    }


def test_compat_gives_the_sheets_of_tracelens(trace: tuple[str, dict[str, Any], Trace]) -> None:
    file, truth, of = trace
    folder = TRACELENS_SHEETS / file.removesuffix(".gz").removesuffix(".json")
    if not folder.is_dir():
        pytest.skip("no sheets of TraceLens")
    report = op_report(of, TRACELENS)
    # Where launches have no correlation, TraceLens links by numbers that repeat those of arrows.
    linked = truth.get("gpu_events_with_launch", 0) > 0
    compared = 0
    for part, architecture in ((folder, None), (folder / "full", _architecture(file))):
        options = SheetOptions(TRACELENS, tracelens=True, architecture=architecture)
        found = _sheets(report, options)
        for path in sorted(part.glob("*.csv")):
            if path.stem in NOT_HERE or (path.stem in TIMED and not linked):
                continue
            if path.stem == "gpu_timeline" and part != folder:
                continue  # of other pauses
            compared += compare_sheet(path, found.get(path.stem, []), times=linked)
    assert compared


@pytest.mark.parametrize(
    "trace_file",
    ["mi300x-vllm-decode-graph/graph_execution", "mi300x-sglang-decode-graph/sglang_decode"],
)
def test_kernels_of_graphs_get_the_operators_of_the_capture(trace_file: str) -> None:
    folder = (TRACES / "torch" / trace_file).parent
    store = open_trace(TRACES / "torch" / f"{trace_file}.json.gz", cache=False)
    capture = open_trace(folder / "capture_traces", cache=False)
    report = op_report(Trace(store), TRACELENS, capture=Trace(capture))
    assert report.grafted is not None
    assert (report.grafted.replays, report.grafted.unmatched) == (1, 0)
    found = _sheets(report, SheetOptions(TRACELENS, tracelens=True))
    for path in sorted((TRACELENS_SHEETS / trace_file / "with-capture").glob("*.csv")):
        compare_sheet(path, found[path.stem])
    whole = op_report(Trace(store), DCTX, capture=Trace(capture))
    assert _direct_us(whole) == near(_direct_us(op_report(Trace(store), DCTX)))
    store.close()
    capture.close()


def _architecture(file: str) -> Architecture | None:
    """The one that the reference was made with, by the start of the trace's name."""
    made = {"h100": "H100", "a100": "A100", "mi300x": "MI300X", "analytic": "MI300X"}
    name = next((made[start] for start in made if file.startswith(start)), None)
    return None if name is None else read(TRACELENS_SHEETS / "arch" / f"{name}.json")
