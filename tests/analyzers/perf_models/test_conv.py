"""Convolutions against figures worked out by hand."""

import pytest

from dctx.analyzers.perf_models.perf import NotKnownError, Perf
from tests.analyzers.perf_models.calls import NONE, Argument, numbers, perf, scalar, tensor


def forward(
    x: Argument,
    w: Argument,
    bias: Argument = NONE,
    *,
    stride: tuple[int, ...] = (1, 1),
    padding: tuple[int, ...] = (0, 0),
    dilation: tuple[int, ...] = (1, 1),
    transposed: bool = False,
    output_padding: tuple[int, ...] = (0, 0),
    groups: int = 1,
) -> Perf:
    return perf("aten::convolution", x, w, bias, numbers(*stride), numbers(*padding),
                numbers(*dilation), scalar(transposed), numbers(*output_padding),
                scalar(groups))  # fmt: skip


def test_patches_of_a_picture_with_a_bias() -> None:
    """out (128, 768, 14, 14) = 19,267,584: 2·out·3·256 + out."""
    found = forward(tensor(128, 3, 224, 224), tensor(768, 3, 16, 16), tensor(768), stride=(16, 16))
    assert found.flops == 2 * 19_267_584 * 768 + 19_267_584 == 29_614_276_608
    assert found.bytes == 2 * (128 * 3 * 224 * 224 + 768 * 3 * 256 + 19_267_584 + 768)
    assert found.params["bias"] is True


def test_without_a_bias() -> None:
    """x (1, 2, 5, 5), w (4, 2, 3, 3): out (1, 4, 3, 3) = 36; 2·36·18."""
    found = forward(tensor(1, 2, 5, 5), tensor(4, 2, 3, 3))
    assert (found.flops, found.bytes) == (1296, 2 * (50 + 72 + 36))


def test_groups_see_their_own_channels_only() -> None:
    """Depthwise: x (1, 4, 5, 5), w (4, 1, 3, 3), padding 1: out 100; 2·100·9."""
    found = forward(tensor(1, 4, 5, 5), tensor(4, 1, 3, 3), padding=(1, 1), groups=4)
    assert (found.flops, found.bytes) == (1800, 2 * (100 + 36 + 100))


def test_dilation_widens_the_kernel() -> None:
    """(9 - 2·(3 - 1) - 1) + 1 = 5 each way: out (1, 1, 5, 5); 2·25·9."""
    found = forward(tensor(1, 1, 9, 9), tensor(1, 1, 3, 3), dilation=(2, 2))
    assert (found.flops, found.bytes) == (450, 2 * (81 + 9 + 25))


def test_transposed_spreads_every_input_element() -> None:
    """x (1, 4, 3, 3), w (4, 2, 2, 2), stride 2: out (1, 2, 6, 6) = 72; 2·36·8, bias 72 more."""
    found = forward(tensor(1, 4, 3, 3), tensor(4, 2, 2, 2), tensor(2), stride=(2, 2),
                    transposed=True)  # fmt: skip
    assert (found.flops, found.bytes) == (576 + 72, 2 * (36 + 32 + 72 + 2))


def test_grouped_transposed_has_all_groups_channels() -> None:
    """w (4, 2, 2, 2) in 2 groups: 4 channels out, (1, 4, 6, 6) = 144; 2·36·8."""
    found = forward(tensor(1, 4, 3, 3), tensor(4, 2, 2, 2), stride=(2, 2), transposed=True,
                    groups=2)  # fmt: skip
    assert (found.flops, found.bytes) == (576, 2 * (36 + 32 + 144))


def test_output_padding_adds_rows() -> None:
    """(3 - 1)·2 + 1·(2 - 1) + 1 + 1 = 7: out (1, 1, 7, 7)."""
    found = forward(tensor(1, 1, 3, 3), tensor(1, 1, 2, 2), stride=(2, 2), transposed=True,
                    output_padding=(1, 1))  # fmt: skip
    assert found.bytes == 2 * (9 + 4 + 49)


def test_one_number_stands_for_all_directions_and_none_for_the_default() -> None:
    """1-d: x (2, 3, 10), w (5, 3, 4), stride [2]: out (2, 5, 4) = 40; 2·40·12."""
    found = forward(tensor(2, 3, 10), tensor(5, 3, 4), stride=(2,), padding=(), dilation=(),
                    output_padding=())  # fmt: skip
    assert (found.flops, found.params["convNd"]) == (960, "conv1d")
    volume = forward(tensor(1, 1, 4, 4, 4), tensor(1, 1, 2, 2, 2), stride=(1,), padding=(0,),
                     dilation=(1,), output_padding=(0,))  # fmt: skip
    assert (volume.flops, volume.params["convNd"]) == (2 * 27 * 8, "conv3d")


def test_library_operators_have_slots_of_their_own() -> None:
    """miopen: input, weight, bias, padding, stride, dilation, groups; cudnn without a bias."""
    lists = (numbers(1, 1), numbers(2, 2), numbers(1, 1), scalar(1))
    # out (1, 4, 3, 3) = 36 of 5x5 with padding 1 and stride 2.
    miopen = perf("aten::miopen_convolution", tensor(1, 2, 5, 5), tensor(4, 2, 3, 3), NONE, *lists)
    cudnn = perf("aten::cudnn_convolution", tensor(1, 2, 5, 5), tensor(4, 2, 3, 3), *lists)
    assert miopen.flops == cudnn.flops == 2 * 36 * 18
    assert miopen.bytes == cudnn.bytes == 2 * (50 + 72 + 36)


def backward(*mask: bool) -> Perf:
    return perf("aten::convolution_backward", tensor(10, 64, 56, 56), tensor(10, 64, 56, 56),
                tensor(64, 64, 3, 3), numbers(64), numbers(1, 1), numbers(1, 1), numbers(1, 1),
                scalar(False), numbers(0, 0), scalar(1), numbers(*mask))  # fmt: skip


def test_each_gradient_costs_a_forward_pass() -> None:
    """F = 2·2,007,040·576 = 2,312,110,080; each reads or writes x + w + out elements."""
    both = backward(True, True, False)
    assert both.flops == 2 * 2_312_110_080 == 4_624_220_160
    assert both.bytes == 15.453125 * 2**20
    one = backward(False, True, False)
    assert (one.flops, one.bytes) == (2_312_110_080, 15.453125 * 2**19)


def test_the_gradient_of_the_bias_is_a_sum_over_the_result() -> None:
    found = backward(True, True, True)
    assert found.flops == 4_624_220_160 + 2_007_040
    assert found.bytes == 15.453125 * 2**20 + 2 * (2_007_040 + 64)
    assert found.params["output_mask"] == (True, True, True)


def test_shapes_that_are_no_convolution_are_not_known() -> None:
    with pytest.raises(NotKnownError, match="dimensions"):
        forward(tensor(5, 5), tensor(3, 3))
