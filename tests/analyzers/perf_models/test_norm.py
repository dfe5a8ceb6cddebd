"""Normalisations against figures worked out by hand."""

import pytest

from dctx.analyzers.perf_models.perf import NotKnownError, Perf
from tests.analyzers.perf_models.calls import (
    FLOAT,
    FP8,
    NONE,
    Argument,
    numbers,
    perf,
    scalar,
    tensor,
)

N = 10 * 64 * 56 * 56


def batch_norm(training: bool, affine: Argument) -> Perf:
    statistics = tensor(64, dtype=FLOAT)
    return perf("aten::batch_norm", tensor(10, 64, 56, 56), affine, affine, statistics, statistics,
                scalar(training), scalar(0.1), scalar(1e-5), scalar(True))  # fmt: skip


def test_batch_norm_in_training() -> None:
    """5 n + 6·64; input and result of 2 bytes, 128 affine elements, statistics of 4 bytes read
    and written twice."""
    found = batch_norm(True, tensor(64))
    assert found.flops == 5 * N + 384 == 10_035_584
    assert found.bytes == 4 * N + 2 * 64 * 2 + 4 * 64 * 4
    assert found.params["is_training"] is True


def test_batch_norm_in_evaluation_and_without_affine_parts() -> None:
    found = batch_norm(False, tensor(64))
    assert found.flops == 2 * N + 384 == 4_014_464
    assert found.bytes == 4 * N + 256 + 2 * 64 * 4
    plain = batch_norm(False, NONE)
    assert plain.bytes == 4 * N + 2 * 64 * 4
    assert (plain.params["is_affine"], plain.params["has_bias"]) == (False, False)


def test_layer_norm_has_statistics_by_row() -> None:
    """(6, 8) by rows of 8: 5·48 + 6·6; 2 statistics of a row of 4 bytes; a weight only."""
    found = perf("aten::layer_norm", tensor(6, 8), numbers(8), tensor(8), NONE)
    assert found.flops == 240 + 36
    assert found.bytes == 2 * 48 * 2 + 8 * 2 + 2 * 6 * 4


def test_group_and_instance_norm() -> None:
    """(2, 6, 4): 3 groups are 6 statistics, instances 12; 48 elements."""
    group = perf("aten::group_norm", tensor(2, 6, 4), scalar(3), tensor(6), tensor(6))
    assert (group.flops, group.bytes) == (240 + 36, 192 + 24 + 2 * 6 * 4)
    native = perf("aten::native_group_norm", tensor(2, 6, 4), tensor(6), tensor(6), scalar(2),
                  scalar(6), scalar(4), scalar(3))  # fmt: skip
    assert (native.flops, native.bytes) == (group.flops, group.bytes)
    instance = perf("aten::instance_norm", tensor(2, 6, 4), NONE, NONE, NONE, NONE, scalar(True))
    assert (instance.flops, instance.bytes) == (240 + 72, 192 + 2 * 12 * 4)


def native_batch_backward(training: bool, *mask: bool) -> Perf:
    x, c = tensor(2, 4, 3), tensor(4)
    statistics = tensor(4, dtype=FLOAT)
    return perf("aten::native_batch_norm_backward", x, x, c, statistics, statistics, statistics,
                statistics, scalar(training), scalar(1e-5), numbers(*mask))  # fmt: skip


def test_batch_norm_gradients_by_mask() -> None:
    """n 24, C 4: 4 n + 5 n for the input; gradient, input and its gradient, the weight and two
    gradients of affine parts, 4 statistics of 4 bytes."""
    whole = native_batch_backward(True, True, True, True)
    assert (whole.flops, whole.bytes) == (9 * 24, 3 * 48 + 16 + 3 * 8)
    affine = native_batch_backward(True, False, True, True)
    assert (affine.flops, affine.bytes) == (4 * 24, 2 * 48 + 16 + 3 * 8)
    fixed = native_batch_backward(False, True, False, False)
    assert (fixed.flops, fixed.bytes) == (6 * 24 + 3 * 4, 3 * 48 + 16 + 8)


def test_library_batch_norm_gradients_are_of_training() -> None:
    """cudnn: input 0, gradient 1, weight 2; all gradients."""
    x = tensor(2, 4, 3)
    found = perf("aten::cudnn_batch_norm_backward", x, x, tensor(4))
    assert (found.flops, found.bytes) == (9 * 24, 3 * 48 + 16 + 3 * 8)


def test_layer_and_group_norm_gradients() -> None:
    x, row = tensor(6, 8), tensor(6, 1, dtype=FLOAT)
    layer = perf("aten::native_layer_norm_backward", x, x, numbers(8), row, row, tensor(8),
                 tensor(8), numbers(True, True, True))  # fmt: skip
    assert (layer.flops, layer.bytes) == (9 * 48, 3 * 96 + 6 * 4 + 3 * 16)
    y = tensor(2, 6, 4)
    group = perf("aten::native_group_norm_backward", y, y, *[tensor(2, 3, dtype=FLOAT)] * 2,
                 tensor(6), scalar(2), scalar(6), scalar(4), scalar(3),
                 numbers(True, False, False))  # fmt: skip
    assert (group.flops, group.bytes) == (9 * 48, 3 * 96 + 6 * 4 + 12)


def test_rms_norm() -> None:
    """(4, 8): 4·(16 + 2) + 2·32; without a weight one operation an element less."""
    found = perf("aten::_fused_rms_norm", tensor(4, 8), numbers(8), tensor(8), NONE)
    assert (found.flops, found.bytes) == (72 + 64, 128 + 16)
    plain = perf("aten::_fused_rms_norm", tensor(4, 8), numbers(8), NONE, NONE)
    assert (plain.flops, plain.bytes) == (72 + 32, 128)


def test_rms_norm_gradients() -> None:
    """n 32, weight: 2 n + 6 n + n + n over 4 rows; 3 n and two weights."""
    x = tensor(4, 8)
    found = perf("aten::_fused_rms_norm_backward", x, x, numbers(8), tensor(4, 1), tensor(8),
                 numbers(True, True))  # fmt: skip
    assert (found.flops, found.bytes) == (10 * 32, 192 + 32)
    plain = perf("aten::_fused_rms_norm_backward", x, x, numbers(8), tensor(4, 1), NONE,
                 numbers(True, False))  # fmt: skip
    assert (plain.flops, plain.bytes) == (7 * 32, 192)


def test_rms_norms_of_libraries() -> None:
    """Result, input, weight; with a residual read and written; with a result of a byte."""
    plain = perf("aiter::rmsnorm", tensor(4, 8), tensor(4, 8), tensor(8), scalar(1e-6))
    assert (plain.flops, plain.bytes) == (136, 144)
    added = perf("aiter::add_rmsnorm", *[tensor(4, 8)] * 4, tensor(8), scalar(1e-6))
    assert (added.flops, added.bytes) == (136 + 32, 144 + 128)
    quantised = perf("_C::rms_norm_dynamic_per_token_quant", tensor(4, 8, dtype=FP8), tensor(4, 8),
                     tensor(8), tensor(4, 1, dtype=FLOAT))  # fmt: skip
    assert (quantised.flops, quantised.bytes) == (136 + 64, 64 + 16 + 32 + 4 * 4)


def test_what_does_not_tell_its_groups_is_not_known() -> None:
    with pytest.raises(NotKnownError, match="groups"):
        perf("aten::group_norm", tensor(2, 6, 4), NONE)
    with pytest.raises(NotKnownError, match="normalised shape"):
        perf("aten::layer_norm", tensor(2, 6), NONE)
