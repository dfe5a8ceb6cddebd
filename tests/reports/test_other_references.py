"""Reports against the sheets that other tools made of the same traces: HTA's breakdowns, and
TraceLens' timelines of JAX and rocprofv3 recordings."""

import csv
import os
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dctx.analyzers.gpu_timeline import gpu_timeline
from dctx.analyzers.op_report import OpReport, op_report
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.comm import is_communication
from dctx.ingest.model import GpuKind
from dctx.ingest.registry import open_trace
from dctx.queries.report_events import Work
from dctx.queries.trace import Trace
from dctx.reports.op_sheets import missing_sheets, sheet, sheet_names
from dctx.reports.sheet_context import SheetOptions
from tests.near import near

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
HTA = TRACES / "expected" / "hta"
TRACELENS = TRACES / "expected" / "tracelens"
SINGLE = [
    path.parent.name
    for path in sorted(HTA.glob("*/temporal_breakdown.csv"))
    if (TRACES / "torch" / f"{path.parent.name}.json.gz").exists()
]

pytestmark = pytest.mark.skipif(not SINGLE, reason="DCTX_TRACES names no folder with traces")


@contextmanager
def _report(path: Path) -> Generator[OpReport]:
    store = open_trace(path, cache=False)
    try:
        yield op_report(Trace(store), DCTX)
    finally:
        store.close()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def _within(work: Work, rows: NDArray[np.bool_]) -> Work:
    return Work(**{field.name: getattr(work, field.name)[rows] for field in fields(work)})


@pytest.mark.parametrize("name", SINGLE)
def test_breakdowns_of_hta(name: str) -> None:
    """It leaves out what began before the first step of the profiler, which is the work without a
    launch in one trace, and calls memory sets memory, which are computation here: the sum of both
    is compared. Its times are differences of floating-point microseconds."""
    [theirs] = _rows(HTA / name / "temporal_breakdown.csv")
    with _report(TRACES / "torch" / f"{name}.json.gz") as report:
        [device] = report.devices
        lead = name == "mi300x-resnet-act-checkpoint"
        times = device.linked_timeline if lead else device.timeline
        assert times is not None
        told = device.linked if lead else np.ones(len(device.linked), bool)
        busy = float(theirs["compute_time(us)"]) + float(theirs["non_compute_time(us)"])
        assert times.busy_ns / 1000 == near(busy, rel=1e-5, abs=1)
        assert times.idle_ns / 1000 == near(float(theirs["idle_time(us)"]), rel=1e-5, abs=1)
        assert times.total_ns / 1000 == near(float(theirs["kernel_time(us)"]), rel=1e-5, abs=1)
        counted = told & (device.work.kind != GpuKind.MEMSET)
        comm = np.isin(
            device.work.name, [i for i, t in report.texts.items() if is_communication(t)]
        )
        of = gpu_timeline(_within(device.work, counted), comm[counted])
        overlap = _rows(HTA / name / "comm_comp_overlap.csv")[0]["comp_comm_overlap_pctg"]
        hidden = 100 * (of.comm_ns - of.exposed_comm_ns) / of.comm_ns if of.comm_ns else None
        assert hidden == (near(float(overlap), abs=0.006) if overlap else None)
        ours: Counter[str] = Counter()
        lengths = (device.work.end_ns - device.work.start_ns)[told]
        for text, ns in zip(device.work.name[told].tolist(), lengths.tolist(), strict=True):
            ours[report.texts[text]] += ns
        compared = 0
        for row in _rows(HTA / name / "gpu_kernel_breakdown_1.csv"):
            if row["name"] in ours:  # the smallest are put together as `others`
                assert ours[row["name"]] / 1000 == near(float(row["sum (us)"]), rel=1e-5)
                compared += 1
        assert compared >= 4


@pytest.mark.parametrize(
    "name", [path.name for path in sorted(TRACELENS.glob("jax-*")) if path.is_dir()]
)
def test_timelines_of_jax(name: str) -> None:
    """TraceLens knows no copies there: they are computation to it."""
    rows = _rows(TRACELENS / name / "gpu_timeline.csv")
    expected = {(int(row["gpu_pid"]) - 1, row["type"]): float(row["time ms"]) for row in rows}
    with _report(TRACES / "jax" / f"{name.removeprefix('jax-')}.xplane.pb") as report:
        assert {device.device for device in report.devices} == {gpu for gpu, _ in expected}
        for device in report.devices:
            times = device.timeline
            for kind, ns in (
                ("computation_time", times.computation_ns + times.exposed_memcpy_ns),
                ("exposed_comm_time", times.exposed_comm_ns),
                ("busy_time", times.busy_ns),
                ("idle_time", times.idle_ns),
                ("total_time", times.total_ns),
                ("total_comm_time", times.comm_ns),
            ):
                assert ns / 1e6 == near(expected[device.device, kind]), (device.device, kind)


def test_the_busy_time_of_rocprof() -> None:
    """TraceLens counts its total from the start of the program."""
    name = "mi300x-rocprofv3-results"
    rows = _rows(TRACELENS / f"rocprof-{name}" / "gpu_timeline.csv")
    expected = {row["type"]: float(row["time ms"]) for row in rows}
    with _report(TRACES / "rocm" / f"{name}.json.gz") as report:
        [device] = report.devices
        assert device.timeline.busy_ns / 1e6 == near(expected["busy_time"])


OTHERS = [
    *sorted((TRACES / "nsys").glob("*.sqlite")),
    *sorted((TRACES / "jax").glob("*.pb")),
    *sorted((TRACES / "rocm").glob("*.*")),
    *sorted(path for path in (TRACES / "multirank").glob("*") if path.is_dir()),
]


@pytest.mark.parametrize("path", OTHERS, ids=[path.name for path in OTHERS])
def test_parts_are_the_whole_in_traces_of_other_tools(path: Path) -> None:
    with _report(path) as report:
        options = SheetOptions(DCTX)
        names = sheet_names(report, options)
        missing = missing_sheets(report, names, options)
        made = {name: sheet(report, name, options) for name in names if name not in missing}
        for device in report.devices:
            t = device.timeline
            assert t.computation_ns + t.exposed_comm_ns + t.exposed_memcpy_ns == t.busy_ns
            assert t.busy_ns + t.idle_ns == t.total_ns
        for found in made.values():
            for column in found.columns:
                if column.name in ("Percentage (%)", "Percent of kernels time (%)"):
                    wholes = sum(value or 0 for value in column.values) / 100  # one a device
                    assert wholes == near(round(wholes), abs=1e-8), (found.name, column.name)
        kernels = sum(
            int((d.work.end_ns - d.work.start_ns)[d.work.kind == GpuKind.KERNEL].sum())
            for d in report.devices
        )
        if "kernel_summary" in made:
            [durations] = [
                c.values for c in made["kernel_summary"].columns if c.name.endswith("(µs)_sum")
            ]
            assert sum(durations) == near(kernels / 1000)
