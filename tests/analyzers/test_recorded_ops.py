"""Operators by what they were called with, of a recording: calls, times, GPU work, and what the
analyzers and the report make of them."""

import json
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.recorded_ops import RecordedOp, recorded_ops
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.recording.chunks import read_chunks
from dctx.ingest.recording.content import Recording, parse
from dctx.ingest.recording.work import COLUMNS
from dctx.ingest.registry import open_trace
from dctx.native import Recorder, monitor
from dctx.native._core import Operator
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.called_sheet import CALLED
from dctx.reports.report_sheets import report_sheets
from dctx.reports.sheet_context import SheetOptions
from tests.ingest.test_recording import chunk
from tests.near import near
from tests.planted import found, gain_us, places

META = {
    "argv": ["a.py"],
    "program": "a.py",
    "shapes": True,
    "devices": [{"ordinal": 0, "name": "NVIDIA H100 80GB HBM3", "sm_count": 132}],
}
KERNEL, COPY = "sm90_xmma_gemm_bf16", "direct_copy_kernel_cuda"
GEMM_NS, GOOD_NS, COPY_NS = 4_000_000, 9_000_000, 1_500_000


def call(name: str, *sizes: list[int], kind: str = "c10::BFloat16") -> Operator:
    return Operator(name, shapes=json.dumps(sizes), types=json.dumps([kind] * len(sizes)))


def program() -> None:
    for kernel in (KERNEL, COPY):  # so that the recording has the names
        with monitor.scope(kernel):
            pass
    for _ in range(10):
        with monitor.scope("odd"), call("aten::mm", [4096, 4097], [4097, 4095]):
            pass
        with monitor.scope("good"), call("aten::mm", [4096, 4096], [4096, 4096]):
            pass
        with monitor.scope("mixed"):
            for size in (4095, 4096):
                with call("aten::mm", [size, size], [size, size]):
                    pass
        with monitor.scope("block"), call("aten::contiguous", [8, 128, 64, 32]):
            pass


def with_gpu(data: bytes) -> bytes:
    """The recording, with GPU work below the operators as CUPTI tells it."""
    recording = parse(data)
    times = {"odd": GEMM_NS, "good": GOOD_NS, "mixed": GEMM_NS, "block": COPY_NS}
    [index] = recording.threads
    kernels = {"block": recording.strings.index(COPY)}
    product = recording.strings.index(KERNEL)
    rows: list[list[int]] = []
    for (_, node, _), _ in sorted(recording.calls.counts.items()):
        around = parent_name(recording, index, node)
        if all(row[2] != node for row in rows):
            values = dict.fromkeys((name for name in COLUMNS if name), 1)
            values |= {"row": len(rows), "thread": index, "node": node, "kind": 0, "device": 0}
            values |= {
                "name": kernels.get(around, product),
                "alternate_thread": -1,
                "alternate_node": -1,
                "graph": 0,
            }
            values |= {"count": 10, "sum_ns": times[around], "bytes": 0}
            rows.append([values.get(name, 0) for name in COLUMNS])
    totals = {**recording.commit, "work_rows": len(rows), "work_records": 10 * len(rows)}
    columns = {at: [row[at] for row in rows] for at, name in enumerate(COLUMNS) if name}
    commit = {at: [value] for at, value in enumerate(totals.values())}
    number = len(read_chunks(data).chunks)
    gpu = chunk(b"GMET", number, integers(columns))
    return data + gpu + chunk(b"COMM", number + 1, integers(commit))


def integers(columns: dict[int, list[int]]) -> bytes:
    """A table of whole numbers, as in docs/recording-format.md."""
    [rows] = {len(values) for values in columns.values()}
    head = struct.pack("<IIIHH", rows, 0, 0, len(columns), 0)
    head += b"".join(struct.pack("<BBBBI", at, 0, 8, 0, 8 * rows) for at in columns)
    return head + b"".join(struct.pack(f"<{rows}q", *values) for values in columns.values())


def parent_name(recording: Recording, thread: int, node: int) -> str:
    of = recording.threads[thread]
    return recording.strings[int(of.label[of.parent[node]])]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Without GPU work, and with."""
    folder = tmp_path_factory.mktemp("recorded")
    plain, on_gpu = folder / "cpu.dctxrec", folder / "gpu.dctxrec"
    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(plain), json.dumps(META), interval_ns=10**12)
    try:
        program()
    finally:
        Recorder.stop()
        monitor.finalize()
    on_gpu.write_bytes(with_gpu(plain.read_bytes()))
    return plain, on_gpu


@pytest.fixture
def plain(recordings: tuple[Path, Path]) -> Iterator[Trace]:
    with closing(open_trace(recordings[0], cache=False)) as store:
        yield Trace(store)


@pytest.fixture
def on_gpu(recordings: tuple[Path, Path]) -> Iterator[Trace]:
    with closing(open_trace(recordings[1], cache=False)) as store:
        yield Trace(store)


def by_context(trace: Trace) -> dict[tuple[str, str], RecordedOp]:
    """By the scope around and the first shape."""
    tree = CallTree.load(trace)
    return {
        (tree.names(op.node)[-2], str(op.shapes[0])): op for op in recorded_ops(trace, tree, DCTX)
    }


def test_calls_and_host_time_are_known_by_arguments(plain: Trace) -> None:
    found = by_context(plain)
    assert {key: op.calls for key, op in found.items()} == {
        ("odd", "(4096, 4097)"): 10,
        ("good", "(4096, 4096)"): 10,
        ("mixed", "(4095, 4095)"): 10,
        ("mixed", "(4096, 4096)"): 10,
        ("block", "(8, 128, 64, 32)"): 10,
    }
    odd = found["odd", "(4096, 4097)"]
    assert odd.figures is not None
    assert odd.figures.flops == 2 * 4096 * 4097 * 4095
    assert odd.self_ns == odd.host_ns > 0
    assert found["mixed", "(4096, 4096)"].self_ns is None, "two sets share it"
    assert all(op.gpu_ns is None for op in found.values())


def test_gpu_work_belongs_to_a_set_of_arguments_that_is_alone(on_gpu: Trace) -> None:
    found = by_context(on_gpu)
    assert found["odd", "(4096, 4097)"].gpu_ns == GEMM_NS
    assert found["good", "(4096, 4096)"].gpu_ns == GOOD_NS
    assert found["mixed", "(4095, 4095)"].gpu_ns is None
    assert found["block", "(8, 128, 64, 32)"].gpu_ns == COPY_NS


def test_the_sheet_sums_contexts_up_and_says_what_is_not_known(plain: Trace, on_gpu: Trace) -> None:
    sheets, missing = report_sheets(plain, SheetOptions(DCTX))
    [sheet] = [sheet for sheet in sheets if sheet.name == CALLED]
    assert CALLED not in missing
    of = {c.name: c.values for c in sheet.columns}
    assert sorted(zip(of["name"], of["Input Dims"], of["calls"], strict=True)) == [
        ("aten::contiguous", "((8, 128, 64, 32),)", 10),
        ("aten::mm", "((4095, 4095), (4095, 4095))", 10),
        ("aten::mm", "((4096, 4096), (4096, 4096))", 20),
        ("aten::mm", "((4096, 4097), (4097, 4095))", 10),
    ]
    ops = by_context(plain).values()
    assert sum(of["host_time_ms"]) == near(sum(op.host_ns for op in ops) / 1e6)
    assert of["host_time_ms"] == sorted(of["host_time_ms"], reverse=True)
    assert "gpu_time_ms" not in of
    flops, rate, time = of["GFLOPS"], of["TFLOPS/s"], of["host_time_us_mean"]
    for at, name in enumerate(of["name"]):
        assert (rate[at] is None) == (name != "aten::mm")
        if rate[at] is not None:
            assert rate[at] == near(flops[at] * 1e3 / time[at])  # 10^9 a µs are 10^15 a second

    sheets, missing = report_sheets(on_gpu, SheetOptions(DCTX))
    assert "only their sums" in missing["gpu_timeline"], "no zeros for what is not known"
    [sheet_of_gpu] = [sheet for sheet in sheets if sheet.name == CALLED]
    of = {c.name: c.values for c in sheet_of_gpu.columns}
    told = dict(zip(zip(of["name"], of["Input Dims"], strict=True), of["gpu_time_ms"], strict=True))
    assert told["aten::mm", "((4096, 4097), (4097, 4095))"] == GEMM_NS / 1e6
    assert told["aten::mm", "((4096, 4096), (4096, 4096))"] is None
    at = of["gpu_time_ms"].index(None)
    assert "several sets of arguments" in of["note"][at]
    assert of["TFLOPS/s"][at] is None


def test_unsuitable_products_of_a_recording_are_found(on_gpu: Trace) -> None:
    facts = Facts(on_gpu)
    finding = found(facts, "matrix-shapes")
    assert finding is not None
    assert finding.sentence.endswith(
        "most to gain: M 4096 N 4095 K 4097 (N and K should be multiples of 8)."
    )
    assert places(facts, finding) == ["aten::mm"]
    limits = facts.limits_of("NVIDIA H100 80GB HBM3")
    assert limits is not None
    rate = limits.rate("matrix_bf16")
    assert rate is not None
    least_us = 2 * 4096 * 4095 * 4097 / (rate.tflops * 1e6)
    assert gain_us(finding) == near(GEMM_NS / 1e3 - 10 * least_us, 1e-4)
    assert finding.gain is not None
    assert "called with several shapes are left out" in finding.gain.basis


def test_a_cpu_has_no_tiles_to_fill(plain: Trace) -> None:
    assert found(Facts(plain), "matrix-shapes") is None


def test_copies_of_a_recording_are_told_with_their_shape(on_gpu: Trace) -> None:
    facts = Facts(on_gpu)
    finding = found(facts, "layout-conversion")
    assert gain_us(finding) == COPY_NS / 1e3
    assert finding is not None
    assert finding.evidence[0].what == "block, aten::contiguous of 8 x 128 x 64 x 32"
    assert places(facts, finding)[0] == "block"
