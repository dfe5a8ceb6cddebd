"""Architecture files, the choice among them, and rooflines."""

import json
from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.architecture import (
    Architecture,
    ArchitectureError,
    chosen,
    detected,
    of_folder,
    read,
    shipped,
)
from dctx.analyzers.perf_figures import Figures
from dctx.analyzers.roofline import COMPUTE_BOUND, MEMORY_BOUND, Roofline, roofline
from tests.near import near

MI300X = Architecture("MI300X", 5300, {"matrix_bf16": 708}, {"matrix_fp32": 163.4})


def test_every_shipped_file_is_read_and_names_its_source() -> None:
    assert {a.name for a in shipped()} == {
        "A100-80GB", "B200", "H100", "H200", "MI300X", "MI325X",
    }  # fmt: skip
    assert all(a.source and a.patterns and a.memory_gb for a in shipped())


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100-80GB"),
        ("NVIDIA A100 80GB PCIe", None),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA GH200 480GB", None),
        ("NVIDIA A100-SXM4-40GB", None),
        ("AMD Instinct MI300X", "MI300X"),
        ("AMD Instinct MI325X OAM", "MI325X"),
        ("NVIDIA B200", "B200"),
        ("NVIDIA GeForce RTX 3060", None),
        ("", None),
    ],
)
def test_devices_are_known_by_their_names(device: str, name: str | None) -> None:
    found = detected(device, [])
    assert (found.name if found else None) == name


def test_a_file_of_ones_own_in_either_form_wins(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'name = "Mine"\nmem_bw_gbps = 100\ndevice_patterns = ["H100"]\n'
        "[max_achievable_tflops]\nmatrix_bf16 = 10\n"
    )
    (tmp_path / "notes.txt").write_text("not one of them")
    own = of_folder(tmp_path)
    assert [a.name for a in own] == ["Mine"]
    found = detected("NVIDIA H100 80GB HBM3", own)
    assert found is not None
    assert (found.name, found.ridge) == ("Mine", {"matrix_bf16": 100.0})
    assert chosen("mine", own).bandwidth_gbps == 100
    assert chosen(str(tmp_path / "mine.toml"), []).name == "Mine"
    assert chosen("mi300x", []).name == "MI300X"
    assert of_folder(tmp_path / "none") == []


GOOD: dict[str, Any] = {"name": "X", "mem_bw_gbps": 1, "peak_tflops": {"vector_fp32": 1}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mem_bw_gbps": None}, "mem_bw_gbps"),
        ({"mem_bw_gbps": -1}, "mem_bw_gbps"),
        ({"peak_tflops": {"vector_fp31": 1}}, "vector_fp31"),
        ({"peak_tflops": {"vector_fp32": "fast"}}, "vector_fp32"),
        ({"peak_tflops": {}}, "max_achievable_tflops"),
        ({"peak_tflops": []}, "object of rates"),
        ({"device_patterns": ["("]}, "device_patterns"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(ArchitectureError, match=words) as error:
        read(path)
    assert str(path) in str(error.value)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    (tmp_path / "x.toml").write_text("= 1")
    (tmp_path / "list.json").write_text("[1]")
    for name, words in (("x.json", "no JSON"), ("x.toml", "no TOML"), ("list.json", "object"),
                        ("none.json", "cannot be read")):  # fmt: skip
        with pytest.raises(ArchitectureError, match=words):
            read(tmp_path / name)
    with pytest.raises(ArchitectureError, match=r"There is no architecture 'H9'.*MI300X"):
        chosen("H9", [])


def line(flops: float | None, moved: float | None, spec: str | None) -> Roofline | str:
    return roofline(Figures("GEMM", flops, moved, spec), MI300X)


def test_the_longer_of_computing_and_moving_bounds() -> None:
    """addmm of the data sheet example: 773,345,771,520 / 708·10^6 = 1092.3 µs."""
    found = line(773_345_771_520, 648_032_256, "matrix_bf16")
    assert isinstance(found, Roofline)
    assert (found.time_us, found.bound) == (near(1092.30, rel=1e-5), COMPUTE_BOUND)
    assert found.basis == "achievable"
    memory = line(5300, 5_300_000, "matrix_fp32")
    assert memory == Roofline(near(1.0), MEMORY_BOUND, "peak")


def test_nothing_computed_is_bound_by_memory() -> None:
    assert line(0, 5_300_000, None) == Roofline(near(1.0), MEMORY_BOUND, "peak")


def test_rates_that_are_missing_fall_back_or_are_said() -> None:
    """tf32 falls back to fp32; vector_bf16 to vector_fp32, which is not there either."""
    found = line(163.4e6, 1, "matrix_tf32")
    assert isinstance(found, Roofline)
    assert found.time_us == near(1.0)
    assert line(1, 1, "vector_bf16") == "MI300X has no rate for vector_bf16"
    assert line(1, 1, None) == "no rate is known for this element type"
    assert line(None, 1, "matrix_bf16") == "FLOPs or bytes are not known"
