"""Sheets of recorded PyTorch traces against reference values that were made apart from this code:
exact times in ns, and the sheets of TraceLens."""

import csv
import json
import os
from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.gpu_timeline import GpuTimeline
from dctx.analyzers.op_report import OpReport, op_report
from dctx.analyzers.report_rules import DCTX, TRACELENS
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from dctx.reports.op_sheets import SHEET_NAMES, missing_sheets, sheet
from dctx.reports.sheet_context import SheetOptions
from tests.near import near

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
    if "ops_unique_args" in made:
        slots = [s for row in made["ops_unique_args"] for s in _slots(row)]
        assert sum(s["count"] for s in slots) == sum(int(d.ops.count.sum()) for d in report.devices)
    for name, column in (
        ("short_kernel_histogram", "count"),
        ("short_kernels_summary", "Short Kernel count"),
    ):
        assert sum(row[column] for row in made.get(name, [])) == _short_kernels(report)


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
    missing = missing_sheets(report, SHEET_NAMES)
    made = {name: sheet(report, name, options) for name in SHEET_NAMES if name not in missing}
    return {
        name: [dict(zip(found.headings, row, strict=True)) for row in found.rows()]
        for name, found in made.items()
        if len(found)
    }


_KEYS = {
    "gpu_timeline": ["type"],
    "ops_summary_by_category": ["op category"],
    "ops_summary": ["name", "Categories"],
    "ops_unique_args": ["name", "op category", "Input Dims", "Input type", "Input Strides",
                        "Concrete Inputs"],
    "kernel_summary": ["Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream"],
    "short_kernels_summary": ["Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs",
                              "Kernel name"],
}  # fmt: skip
_FLOW_COUNTED = {"gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args"}
_NOT_COMPARED = {"UID", "ex_UID", "process_name", "process_label", "thread_name"}
"""Numbers of events and names of threads: each tool has its own."""


def test_compat_gives_the_sheets_of_tracelens(trace: tuple[str, dict[str, Any], Trace]) -> None:
    file, truth, of = trace
    folder = TRACELENS_SHEETS / file.removesuffix(".gz").removesuffix(".json")
    if not folder.is_dir():
        pytest.skip("no sheets of TraceLens")
    flows = truth.get("gpu_events_with_launch_and_ac2g_flow")
    by_flow = flows == truth.get("gpu_events_with_launch")
    found = _sheets(op_report(of, TRACELENS), SheetOptions(TRACELENS, tracelens=True))
    compared = 0
    for name, keys in _KEYS.items():
        path = folder / f"{name}.csv"
        path = path if path.exists() else folder / "full" / f"{name}.csv"
        # TraceLens counts only work that a flow leads to: the store does not keep flows.
        if not path.exists() or name not in found or (name in _FLOW_COUNTED and not by_flow):
            continue
        with path.open(encoding="utf-8", newline="") as text:
            reader = csv.DictReader(text)
            if name == "ops_unique_args" and reader.fieldnames:
                ours = [c for c in found[name][0] if c in reader.fieldnames]
                assert ours == [c for c in reader.fieldnames if c in found[name][0]]
            assert set(reader.fieldnames or ()) <= set(found[name][0]), name
            expected = list(reader)
        _compare(name, expected, found[name], keys)
        compared += 1
    assert compared or not by_flow


def _compare(
    name: str, expected: list[dict[str, str]], found: list[dict[str, Any]], keys: list[str]
) -> None:
    keys = [key for key in keys if key in expected[0]]

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple("" if row[k] is None else str(row[k]) for k in keys)

    ours: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        ours[key(row)].append(row)
    assert len(expected) == len(found), name
    for row in expected:
        candidates = ours[key(row)]
        assert candidates, (name, key(row))
        mine = candidates.pop(0)
        for column, text in row.items():
            if column in keys or column in _NOT_COMPARED or column.startswith("Cumulative"):
                continue
            value = mine[column]
            if not text:
                assert value is None, (name, column)
                continue
            # TraceLens adds microseconds as floating-point numbers: half a ns an event.
            count = next((int(float(row[c])) for c in row if "ount" in c), 1)
            slack = 0.0005 * count if "µs" in column or "kernel_time" in column else 1e-3
            slack = 5e-2 if "ercent" in column else slack
            assert value == near(float(text), rel=1e-5, abs=slack), (name, column, row)
