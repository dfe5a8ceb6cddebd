"""What changed in how calls were made: launch configurations, shapes, types."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.compare import compare_costs
from dctx.analyzers.compare_detail import pair_detail
from dctx.analyzers.data_types import argument_type, kernel_types
from dctx.analyzers.launch_changes import named_changes
from dctx.analyzers.pairing import compare_traces
from dctx.queries.metric import Metric
from tests.analyzers.workload import Workload, opened


def launches(path: Path, configs: list[dict[str, int]], name: str = "gemm") -> Path:
    work = Workload(path)
    work.range("forward", 5, 1_000)
    for number, config in enumerate(configs):
        at = 20 + 30 * number
        work.kernel(at, at + 10 + number, name=name, launch=(at - 5, at - 3), **config)
    work.export.close()
    return path


def shape(grid: int, block: int, registers: int = 32, shared: int = 0) -> dict[str, int]:
    return {
        "gridX": grid, "gridY": 1, "gridZ": 1, "blockX": block, "blockY": 1, "blockZ": 1,
        "registersPerThread": registers, "staticSharedMemory": shared, "dynamicSharedMemory": 0,
    }  # fmt: skip


def texts(base: Path, target: Path, name: str) -> list[str]:
    with opened(base) as old, opened(target) as new:
        found = compare_costs(old, new, compare_traces(old, new))
        told: set[tuple[str, ...]] = set()
        for sides in (found.kernels, found.operations, found.paths):
            if name in sides.names:
                row = sides.names.index(name)
                changes = named_changes(old, new, sides)
                told.add(tuple(map(str, changes.get(row, ()))))
                detail = pair_detail(old, new, sides, row, Metric.GPU)
                assert detail.changes == changes.get(row, ())
        [only] = told
        return list(only)


def test_another_launch_configuration(tmp_path: Path) -> None:
    base = launches(tmp_path / "a.sqlite", [shape(64, 128)] * 3)
    target = launches(tmp_path / "b.sqlite", [shape(32, 256, registers=40, shared=49_152)] * 3)
    assert texts(base, target, "gemm") == [
        "grid 64→32", "block 128→256", "registers 32→40", "shared memory 0 B→48 KiB",
    ]  # fmt: skip


def test_most_calls_count_and_nothing_is_said_without_a_majority(tmp_path: Path) -> None:
    base = launches(tmp_path / "a.sqlite", [shape(64, 128)] * 4)
    most = launches(tmp_path / "b.sqlite", [shape(64, 256)] * 3 + [shape(64, 128)])
    assert texts(base, most, "gemm") == ["block 128→256 (most calls, 75 %)"]
    half = launches(tmp_path / "c.sqlite", [shape(64, 256)] * 2 + [shape(64, 128)] * 2)
    assert texts(base, half, "gemm") == []


def test_the_same_launches_say_nothing(tmp_path: Path) -> None:
    base = launches(tmp_path / "a.sqlite", [shape(64, 128), shape(1, 32)])
    target = launches(tmp_path / "b.sqlite", [shape(64, 128), shape(1, 32)])
    assert texts(base, target, "gemm") == []


def test_another_type_in_the_name(tmp_path: Path) -> None:
    base = launches(tmp_path / "a.sqlite", [shape(64, 128)], "gemm_fp32_tn")
    target = launches(tmp_path / "b.sqlite", [shape(64, 128)], "gemm_bf16_tn")
    assert texts(base, target, "gemm_bf16_tn") == ["fp32→bf16"]


def operators(path: Path, dims: list[Any], types: list[str]) -> Path:
    events: list[dict[str, Any]] = []
    for number in range(3):
        at = 100 * number
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at,
             "dur": 50, "args": {"Input Dims": dims, "Input type": types, "External id": number}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": at + 10, "dur": 5, "args": {"correlation": number + 1, "External id": number}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 20,
             "dur": 20, "args": {"correlation": number + 1, "device": 0, "stream": 7,
                                 "External id": number}},
        ]  # fmt: skip
    with gzip.open(path, "wt") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)
    return path


def test_other_shapes_and_types(tmp_path: Path) -> None:
    base = operators(tmp_path / "a.json.gz", [[32, 4096], [4096, 8]], ["float", "float"])
    target = operators(
        tmp_path / "b.json.gz", [[64, 4096], [4096, 8]], ["c10::BFloat16", "c10::BFloat16"]
    )
    assert texts(base, target, "aten::mm") == ["fp32→bf16", "shape [32,4096]→[64,4096]"]
    fewer = operators(tmp_path / "c.json.gz", [[32, 4096]], ["float"])
    assert texts(base, fewer, "aten::mm") == ["arguments 2→1"]


def test_the_detail_of_a_row(tmp_path: Path) -> None:
    base = launches(tmp_path / "a.sqlite", [shape(64, 128)] * 2, "gemm_64x64")
    target = launches(tmp_path / "b.sqlite", [shape(64, 128)] * 3, "gemm_128x64")
    with opened(base) as old, opened(target) as new:
        found = compare_costs(old, new, compare_traces(old, new))
        row = found.paths.names.index("forward")
        detail = pair_detail(old, new, found.paths, row, Metric.GPU)
        with pytest.raises(KeyError):
            pair_detail(old, new, found.paths, row, Metric.SAMPLES)
    assert (detail.steps, detail.no_steps) == (None, found.paths.no_intervals)
    [pair] = detail.kernels  # another tile is the same kernel
    assert (pair.name, pair.base_name) == ("gemm_128x64", "gemm_64x64")
    assert (pair.base, pair.target, pair.delta) == (21_000, 33_000, 12_000)
    assert (pair.base_calls, pair.target_calls) == (2, 3)
    histogram = detail.histogram
    assert histogram is not None
    assert (sum(histogram.base_counts), sum(histogram.target_counts)) == (2, 3)
    assert (histogram.base_p50_ns, histogram.target_p50_ns) == (11_000, 11_000)
    assert (histogram.edges_ns[0], histogram.edges_ns[-1]) == (10_000, 12_001)
    assert [path[-1] for path in detail.paths] == ["forward", "forward"]
    assert detail.sources == (None, None)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", {"bf16", "fp32"}),
        ("ampere_sgemm_128x64_tn", {"fp32"}),
        ("void at::native::vectorized_elementwise_kernel<4, BFloat16>", {"bf16"}),
        ("vectorized_kernel<c10::Half, float>", {"fp16", "fp32"}),
        ("nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", set[str]()),
        ("softmax_warp_forward", set[str]()),
        ("fp8_e4m3_gemm", {"fp8"}),
    ],
)
def test_types_in_the_names_of_kernels(name: str, types: set[str]) -> None:
    assert kernel_types(name) == types


def test_types_of_arguments() -> None:
    assert argument_type("c10::BFloat16") == "bf16"
    assert argument_type("c10::Float8_e4m3fn") == "fp8_e4m3"
    assert argument_type("ScalarList") == "ScalarList"
