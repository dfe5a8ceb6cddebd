"""Mixtures of experts: M tokens of K elements, N between the layers, E experts, k for each token.

An expert's weights are read when a token goes to it: E_a = E (1 - ((E - k) / E)^M) of them on
average. `g` is 2 where the first layer has a gate beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .call import Call
from .dtypes import element_bytes
from .perf import NotKnownError, Perf


@dataclass(frozen=True, slots=True)
class Experts:
    """Sizes of a layer of experts."""

    tokens: int
    hidden: int
    inner: int
    experts: int
    topk: int
    gated: bool

    @property
    def active(self) -> float:
        """Experts that any token goes to, on average."""
        return self.experts * (1 - ((self.experts - self.topk) / self.experts) ** self.tokens)


def _experts(call: Call, topk: int | None) -> Experts:
    """The first weights 1 are (E, g N, K), the second 2 (E, K, N)."""
    up, down = call.dims(1), call.dims(2)
    if len(up) != 3 or len(down) != 3 or up[0] != down[0] or topk is None:
        raise NotKnownError("the weights of the experts have no three dimensions each")
    gated = up[1] == 2 * down[2]
    if not gated and up[1] != down[2]:
        raise NotKnownError("the shapes of the experts' weights do not fit")
    tokens = call.dims(0)[0]
    return Experts(tokens, down[1], down[2], up[0], topk, gated)


def _params(of: Experts, call: Call) -> dict[str, object]:
    return {
        "num_tokens": of.tokens,
        "hidden_dim": of.hidden,
        "inter_dim": of.inner,
        "num_experts": of.experts,
        "topk": of.topk,
        "gated": of.gated,
        "input_dtype": call.dtype(0),
        "weight_dtype": call.dtype(1),
    }


def fused(call: Call) -> Perf:
    """Both layers in one operator: tokens 0, weights 1 and 2, weights of the chosen experts 3 as
    (M, k). FLOPs = 2 M K N k g + 2 M K N k + M K (2 k - 1)."""
    of = _experts(call, call.dims(3)[-1])
    m, k, n, g = of.tokens, of.hidden, of.inner, 1 + of.gated
    flops = 2 * m * k * n * of.topk * (g + 1) + m * k * (2 * of.topk - 1)
    b_in, b_w = call.size(0), call.size(1)
    moved = 2 * m * k * b_in + of.active * k * n * b_w * (g + 1)
    note = "estimate: tokens go to experts evenly"
    rate = call.precision(0, bytes_are_fp8=True)
    return Perf(flops, moved, rate, _params(of, call), note)


def first_stage(call: Call) -> Perf:
    """aiter::ck_moe_stage1: tokens 0, weights 1 and 2, the result 6 as (M, k, N), k 7.
    FLOPs = 2 M K N k g."""
    of = _experts(call, _topk(call))
    m, k, n, g = of.tokens, of.hidden, of.inner, 1 + of.gated
    b_out = element_bytes(call.dtype(6))
    moved = m * k * call.size(0) + of.active * g * k * n * call.size(1) + m * n * of.topk * b_out
    note = "estimate: tokens go to experts evenly"
    rate = call.precision(0, bytes_are_fp8=True)
    return Perf(2 * m * k * n * of.topk * g, moved, rate, _params(of, call), note)


def second_stage(call: Call) -> Perf:
    """aiter::ck_moe_stage2: the result of the first stage 0 as (M, k, N), weights 1 and 2, the
    result 6, k 7. FLOPs = 2 M N K k."""
    of = _experts(call, _topk(call))
    m, k, n = of.tokens, of.hidden, of.inner
    b_out = element_bytes(call.dtype(6))
    moved = m * n * of.topk * call.size(0) + of.active * n * k * call.size(2) + m * k * b_out
    note = "estimate: tokens go to experts evenly"
    rate = call.precision(0, bytes_are_fp8=True)
    return Perf(2 * m * n * k * of.topk, moved, rate, _params(of, call), note)


def _topk(call: Call) -> int | None:
    found = call.value(7)
    return found if isinstance(found, int) else None


def exchange(call: Call) -> Perf:
    """Tokens sent to their experts or back: nothing computed, the tokens moved once."""
    tokens = call.dims(0)
    hidden, rows = tokens[-1], call.count(0) // tokens[-1]
    size = call.size(0)
    params = {"num_tokens": rows, "hidden_dim": hidden, "bpe": size}
    return Perf(0, rows * hidden * size, call.precision(0), params)
