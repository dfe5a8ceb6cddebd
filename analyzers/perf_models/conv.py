"""Convolutions, plain and transposed, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .call import Call, Shape
from .dtypes import element_bytes
from .perf import NotKnownError, Perf


@dataclass(frozen=True, slots=True)
class Convolution:
    """What a convolution is called with. Shapes are (batch, channels, space…)."""

    input: Shape
    weight: Shape
    stride: Shape
    padding: Shape
    dilation: Shape
    transposed: bool
    output_padding: Shape
    groups: int
    forget_groups: bool = False
    """As TraceLens: channels of the result of a transposed one are not multiplied by groups."""

    @property
    def output(self) -> Shape:
        """Shape of the result."""
        space = zip(
            self.input[2:], self.weight[2:], self.stride, self.padding, self.dilation,
            self.output_padding, strict=True,
        )  # fmt: skip
        if self.transposed:
            sizes = [(i - 1) * s - 2 * p + d * (k - 1) + o + 1 for i, k, s, p, d, o in space]
            channels = self.weight[1] * (1 if self.forget_groups else self.groups)
        else:
            sizes = [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d, _ in space]
            channels = self.weight[0]
        return (self.input[0], channels, *sizes)

    @property
    def flops(self) -> int:
        """Of the forward direction without a bias."""
        reduced = self.input if self.transposed else self.output
        return 2 * prod(reduced) * prod(self.weight[1:])


def _convolution(call: Call, slots: tuple[int, int, int]) -> Convolution:
    """`slots`: of input, weight and the stride, which the rest follows."""
    of_input, of_weight, first = slots
    x, w = call.dims(of_input), call.dims(of_weight)
    rank = len(x) - 2
    if rank not in (1, 2, 3) or len(w) != len(x):
        raise NotKnownError(f"an input of {len(x)} and a weight of {len(w)} dimensions")

    def spread(slot: int, default: int) -> Shape:
        found = call.numbers(slot) or (default,)
        return found * rank if len(found) == 1 else found[:rank]

    groups = call.value(first + 5)
    of = Convolution(
        x,
        w,
        spread(first, 1),
        spread(first + 1, 0),
        spread(first + 2, 1),
        call.flag(first + 3, False),
        spread(first + 4, 0),
        groups if isinstance(groups, int) and groups > 0 else 1,
        call.like("D16"),
    )
    if min(of.output) < 0:
        raise NotKnownError("the weight is larger than the padded input")
    return of


def _params(call: Call, of: Convolution, slots: tuple[int, int], bias: object) -> dict[str, object]:
    return {
        "convNd": f"conv{len(of.input) - 2}d",
        "input_shape": of.input,
        "filter_shape": of.weight,
        "dtype_input_weight": (call.dtype(slots[0]), call.dtype(slots[1])),
        "input_stride": call.stride(slots[0]),
        "weight_stride": call.stride(slots[1]),
        "bias": bias,
        "stride": of.stride,
        "padding": of.padding,
        "dilation": of.dilation,
        "transposed_conv": of.transposed,
        "output_padding": of.output_padding,
        "groups": of.groups,
    }


def forward(call: Call) -> Perf:
    """convolution: input 0, weight 1, bias 2, stride 3, padding, dilation, transposed, output
    padding, groups. FLOPs = 2 Π(out) Π(w[1:]) + Π(out) [bias]; transposed: Π(in) for Π(out)."""
    of = _convolution(call, (0, 1, 3))
    out = of.output
    bias = call.maybe(2) is not None and not call.like("D14")
    size, of_weight = call.size(0), call.size(1)
    moved = prod(of.input) * size + prod(of.weight) * of_weight + prod(out) * size
    moved += out[1] * size if bias else 0
    flops = of.flops + (prod(out) if bias else 0)
    return Perf(flops, moved, call.precision(0), _params(call, of, (0, 1), bias))


def library(call: Call) -> Perf:
    """miopen_ and cudnn_convolution: input 0, weight 1, [bias 2,] padding, stride, dilation,
    groups."""
    first = 3 if call.is_tensor(2) or call.dtype(2) is None else 2
    of_x, of_w = call.dims(0), call.dims(1)
    rank = len(of_x) - 2

    def spread(slot: int, default: int) -> Shape:
        found = call.numbers(slot) or (default,)
        return found * rank if len(found) == 1 else found[:rank]

    groups = call.value(first + 3)
    of = Convolution(
        of_x, of_w, spread(first + 1, 1), spread(first, 0), spread(first + 2, 1), False,
        (0,) * rank, groups if isinstance(groups, int) and groups > 0 else 1,
    )  # fmt: skip
    bias = first == 3 and call.maybe(2) is not None
    size = call.size(0)
    moved = prod(of.input) * size + prod(of.weight) * call.size(1) + prod(of.output) * size
    moved += of.output[1] * size if bias else 0
    flops = of.flops + (prod(of.output) if bias else 0)
    return Perf(flops, moved, call.precision(0), _params(call, of, (0, 1), bias))


def backward(call: Call) -> Perf:
    """convolution_backward: grad 0, input 1, weight 2, bias sizes 3, stride 4 …, groups 9, mask
    10 [input, weight, bias]. Each gradient costs what the forward direction does, that of the bias
    one addition per element of the result."""
    of = _convolution(call, (1, 2, 4))
    out = prod(of.output)
    mask = call.flags(10) or (True, True, False)
    of_input, of_weight, of_bias = (bool(m) for m in (*mask, False, False, False)[:3])
    if call.like("D15"):
        of_input, of_weight, of_bias = True, True, False
    size = element_bytes(call.dtype(1), few=call.like("D25"))
    elements = (of_input + of_weight) * (prod(of.input) + prod(of.weight) + out)
    elements += (out + of.output[1]) if of_bias else 0
    flops = of.flops * (of_input + of_weight) + (out if of_bias else 0)
    bias: object = [] if call.like("D15") else of_bias
    params = _params(call, of, (1, 2), bias)
    if not call.like("D15"):
        params["output_mask"] = (of_input, of_weight, of_bias)
    return Perf(flops, elements * size, call.precision(1), params)
