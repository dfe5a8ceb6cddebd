"""Source lines of instructions of GPU code: of a cubin that nvcc 13.0 made of saxpy.cu, beside it
(nvcc -cubin -lineinfo -arch=sm_90)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.ingest.recording.cubin_lines import can_read_lines, line_table
from dctx.ingest.recording.stalls import shared_out

DATA = Path(__file__).parent / "data"
needs_reader = pytest.mark.skipif(not can_read_lines(), reason="pyelftools is not installed")


def lines(*texts: str) -> list[int]:
    """Numbers of the lines of saxpy.cu that hold these texts."""
    source = (DATA / "saxpy.cu").read_text().splitlines()
    return [next(n for n, line in enumerate(source, 1) if text in line) for text in texts]


@needs_reader
def test_instructions_of_both_kernels_have_their_lines() -> None:
    table = line_table((DATA / "saxpy_sm90.cubin").read_bytes())
    # As `readelf --debug-dump=rawline` tells them.
    saxpy = {0x0: "void saxpy", 0x10: "int i =", 0x40: "int i =", 0x50: "if (i < n)",
             0xB0: "return x", 0xC0: "y[i] = a"}  # fmt: skip
    for offset, text in saxpy.items():
        assert table.find("_Z5saxpyifPKfPf", offset) == ("/src/saxpy.cu", lines(text)[0]), offset
    assert table.find("_Z4filliPf", 0xE0) == ("/src/saxpy.cu", lines("= 3.0f")[0])
    assert table.find("_Z5saxpyifPKfPf", 0x200) is None  # behind its end
    assert table.find("_Z5other", 0) is None


@needs_reader
def test_code_without_lines_and_damaged_code_have_none() -> None:
    code = (DATA / "saxpy_sm90.cubin").read_bytes()
    assert line_table(b"no code").find("f", 0) is None
    for cut in range(0, len(code), 997):
        line_table(code[:cut])
        damaged = bytearray(code)
        damaged[cut : cut + 8] = b"\xff" * len(damaged[cut : cut + 8])
        line_table(bytes(damaged))


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**12), min_size=1, max_size=20))
def test_shares_add_up_and_are_in_proportion(total: int, weights: list[int]) -> None:
    parts = shared_out(total, weights)
    assert sum(parts) == total
    whole = sum(weights)
    for part, weight in zip(parts, weights, strict=True):
        exact = total * weight / whole if whole else total / len(weights)
        assert abs(part - exact) <= 1 + 1e-6 * exact
    below = total // 3
    for part, some in zip(parts, shared_out(below, parts), strict=True):
        assert total == 0 or some <= part
