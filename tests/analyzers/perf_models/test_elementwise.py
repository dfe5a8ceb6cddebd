"""Operators by element, reductions and what moves elements only, against figures by hand."""

import pytest

from dctx.analyzers.perf_models.elementwise import broadcast
from dctx.analyzers.perf_models.perf import NotKnownError
from tests.analyzers.perf_models.calls import (
    BF16,
    BOOL,
    FLOAT,
    LONG,
    NONE,
    Argument,
    numbers,
    perf,
    scalar,
    tensor,
)


def test_unary_reads_and_writes_each_element() -> None:
    found = perf("aten::silu", tensor(4, 6))
    assert (found.flops, found.bytes, found.precision) == (24, 24 * 4, "bf16")
    assert perf("aten::pow", tensor(4, 6, dtype=FLOAT), scalar(2)).bytes == 24 * 8


def test_copies_compute_nothing() -> None:
    """To bf16 from fp32: 2 and 4 bytes; of bool and of a tensor without dimensions."""
    found = perf("aten::copy_", tensor(8, 3), tensor(8, 3, dtype=FLOAT), scalar(False))
    assert (found.flops, found.bytes) == (0, 24 * 6)
    assert perf("aten::copy_", tensor(8, dtype=BOOL), tensor(8, dtype=BOOL)).bytes == 16
    none: Argument = ((), LONG, "")
    assert perf("aten::copy_", none, none, scalar(True)).bytes == 16


def test_filling_writes_only() -> None:
    found = perf("aten::fill_", tensor(8, 3, dtype=FLOAT), scalar(0))
    assert (found.flops, found.bytes) == (0, 96)


def test_padding_and_upsampling_have_two_sizes() -> None:
    """[1, 2, 3, 4] pads the last size by 3 and the one before by 7: (1, 2, 11, 8)."""
    padded = perf("aten::replication_pad2d", tensor(1, 2, 4, 5), numbers(1, 2, 3, 4))
    assert padded.params["output_shape"] == (1, 2, 11, 8)
    assert (padded.flops, padded.bytes) == (0, 2 * (40 + 176))
    wide = perf("aten::upsample_nearest2d", tensor(1, 2, 4, 4), NONE, numbers(2.0, 2.0))
    assert (wide.flops, wide.bytes) == (0, 2 * (32 + 128))
    sized = perf("aten::upsample_nearest2d", tensor(1, 2, 4, 4), numbers(6, 6), NONE)
    assert sized.bytes == 2 * (32 + 72)


def test_binary_broadcasts() -> None:
    """(4, 1, 6) and (5, 1): a result of (4, 5, 6) = 120."""
    found = perf("aten::add", tensor(4, 1, 6), tensor(5, 1), scalar(1))
    assert (found.flops, found.bytes) == (120, 2 * (24 + 5 + 120))
    assert broadcast((3,), (2, 1)) == (2, 3)
    with pytest.raises(NotKnownError, match="do not fit"):
        broadcast((3,), (4,))


def test_numbers_do_not_widen_the_result() -> None:
    """bf16 times a double without dimensions: 8 bytes read, a bf16 result, either way round."""
    double: Argument = ((), "double", "")
    assert perf("aten::mul", tensor(10), double).bytes == 20 + 8 + 20
    assert perf("aten::mul", double, tensor(10)).bytes == 8 + 20 + 20
    wide = perf("aten::mul", tensor(10), tensor(10, dtype=FLOAT))
    assert wide.bytes == 20 + 40 + 40
    recorded = perf("aten::mul", tensor(10), double, tensor(10))
    assert recorded.bytes == 48


def test_comparisons_write_truth_values() -> None:
    found = perf("aten::eq", tensor(10, dtype=FLOAT), tensor(10, dtype=FLOAT))
    assert (found.flops, found.bytes) == (10, 40 + 40 + 10)
    chosen = perf("aten::where", tensor(10, dtype=BOOL), tensor(10), tensor(10))
    assert (chosen.flops, chosen.bytes) == (10, 10 + 20 + 20 + 20)


def test_softmax_and_its_gradient() -> None:
    found = perf("aten::_softmax", tensor(4, 8, dtype=FLOAT), scalar(-1), scalar(False))
    assert (found.flops, found.bytes) == (160, 2 * 128)
    back = perf("aten::_softmax_backward_data", *[tensor(4, 8, dtype=FLOAT)] * 2)
    assert (back.flops, back.bytes) == (160, 3 * 128)


def test_rows_that_are_looked_up_are_read_and_written() -> None:
    """6 rows of 8 elements of a table of 100, and 6 indices of 8 bytes."""
    found = perf("aten::embedding", tensor(100, 8), tensor(2, 3, dtype=LONG))
    assert (found.flops, found.bytes) == (0, 2 * 48 * 2 + 48)
    picked = perf("aten::index_select", tensor(10, 8), scalar(1), tensor(3, dtype=LONG))
    assert picked.bytes == 2 * 30 * 2 + 24


def test_joined_tensors_are_moved_once() -> None:
    many = (((2, 3), (2, 5)), (BF16, BF16), "")
    found = perf("aten::cat", many, scalar(1))  # type: ignore[arg-type]
    assert (found.flops, found.bytes) == (0, 2 * 16 * 2)


def test_gated_activations() -> None:
    """The result (4, 6) first, the input (4, 12): 5, 8 and 10 operations an element."""
    pair = (tensor(4, 6), tensor(4, 12))
    for name, cost in (("silu", 5), ("gelu", 8), ("gelu_tanh", 10)):
        found = perf(f"aiter::{name}_and_mul", *pair)
        assert (found.flops, found.bytes) == (cost * 24, 2 * 24 * 2 + 24 * 2)
    alone = perf("_C::silu_and_mul", tensor(4, 12))
    assert (alone.flops, alone.bytes) == (120, 144)


def test_fused_optimizer() -> None:
    many = (((10,), (2, 5)), (FLOAT, FLOAT), "")
    found = perf("aten::_fused_adamw_", many)  # type: ignore[arg-type]
    assert (found.flops, found.bytes) == (12 * 20, 7 * 20 * 4)


SUM = "aten::sum"


@pytest.mark.parametrize(
    ("dims", "keep", "left"),
    [((-1,), False, 10), ((0, 2), True, 5), ((), False, 1)],
)
def test_reductions_along_dimensions(dims: tuple[int, ...], keep: bool, left: int) -> None:
    found = perf(SUM, tensor(2, 5, 8, dtype=FLOAT), numbers(*dims), scalar(keep), NONE)
    assert (found.flops, found.bytes) == (80, 4 * (80 + left))
    assert found.params["num_output_elems"] == left


def test_the_sum_of_the_published_example() -> None:
    found = perf(SUM, tensor(1, 5184, 768, dtype=FLOAT), numbers(-1), scalar(True), NONE)
    assert found.bytes == 15_945_984


def test_other_reductions() -> None:
    assert perf("aten::mean", tensor(4, 6)).bytes == 2 * (24 + 1)
    norm = perf("aten::linalg_norm", tensor(4, 6), scalar(2), numbers(-1), scalar(True), NONE)
    assert norm.bytes == 2 * (24 + 4)
    scan = perf("aten::cumsum", tensor(4, 6), scalar(1), NONE)
    assert (scan.flops, scan.bytes) == (24, 2 * 48)
    largest = perf("aten::max", tensor(4, 6), scalar(-1), scalar(False))
    assert largest.bytes == 2 * (24 + 4) + 4 * 8
    pairwise = perf("aten::max", tensor(4, 6), tensor(4, 6))
    assert (pairwise.flops, pairwise.bytes) == (24, 3 * 48)


def test_what_is_not_recorded_is_not_known() -> None:
    for name in ("aten::add", "aten::silu", SUM, "aten::cat", "aten::embedding"):
        with pytest.raises(NotKnownError, match="recorded"):
            perf(name)
