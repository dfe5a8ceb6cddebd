"""Attention operators of PyTorch and of libraries: where their arguments are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from .attention_work import NO_LIMIT, Attention, backward_work, forward_work
from .call import Call
from .perf import NotKnownError, Perf

_Model = Callable[[Call], Perf]


def _heads_first(call: Call, q: int, k: int, v: int) -> Attention:
    """Shapes (B, H, N, d)."""
    of_q, of_k, of_v = call.dims(q), call.dims(k), call.dims(v)
    if len(of_q) != 4 or len(of_k) != 4 or len(of_v) != 4:
        raise NotKnownError("queries, keys and values have no four dimensions")
    return Attention(
        of_q[0], of_q[2], of_q[1], of_k[2], of_k[1], of_q[3], of_v[3], call.dtype(q),
        call.dtype(k), False, strict=call.tracelens, two_bytes=call.like("D21"),
        square_only=call.like("D22"),
    )  # fmt: skip


def _heads_last(call: Call, q: int, k: int, v: int) -> Attention:
    """Shapes (B, N, H, d), or (N, H, d) where the sequences are packed."""
    shapes = [call.dims(slot) for slot in (q, k, v)]
    if len(shapes[0]) == 3:
        shapes = [(1, *shape) for shape in shapes]
    if any(len(shape) != 4 for shape in shapes):
        raise NotKnownError("queries, keys and values have neither three nor four dimensions")
    of_q, of_k, of_v = shapes
    return Attention(
        of_q[0], of_q[1], of_q[2], of_k[1], of_k[2], of_q[3], of_v[3], call.dtype(q),
        call.dtype(k), True, strict=call.tracelens, two_bytes=call.like("D21"),
        square_only=call.like("D22"),
    )  # fmt: skip


def aten(*, flash: bool, dropout: int, causal: int, bias: int | None = None) -> _Model:
    """aten::_scaled_dot_product_…: q, k, v 0 to 2 with heads before places. The efficient and
    cuDNN kinds align a causal mask with the first key, flash with the last."""

    def model(call: Call) -> Perf:
        of = _heads_first(call, 0, 1, 2)
        mask = bias is not None and not call.like("D21") and call.maybe(bias)
        of = replace(
            of,
            flash=flash,
            bottom_right=flash,
            dropout=call.value(dropout),
            causal=call.flag(causal, False),
            mask_bytes=call.count(bias) * call.size(bias) if mask and bias is not None else 0,
        )
        return forward_work(of, call, (0, 1, 2))

    return model


def library(
    first: int, dropout: int | None, causal: int, window: int | None = None, *, grad: bool = False
) -> _Model:
    """Flash attention of libraries: q, k, v from slot `first`, places before heads. A causal flag
    that is not recorded leaves FLOPs blank."""

    def model(call: Call) -> Perf:
        slots = (first, first + 1, first + 2)
        of = _heads_last(call, *slots)
        flag = call.value(causal)
        limits = [call.value(window), call.value(window + 1)] if window is not None else []
        known = [v if isinstance(v, int) else NO_LIMIT for v in limits] or [NO_LIMIT, NO_LIMIT]
        of = replace(
            of,
            dropout=call.value(dropout) if dropout is not None else 0.0,
            causal=flag if isinstance(flag, bool) else None,
            window=(NO_LIMIT, NO_LIMIT) if call.like("D22") else (known[0], known[1]),
        )
        return (backward_work if grad else forward_work)(of, call, slots)

    return model


def varying(
    first: int, offsets: int, longest: int, dropout: int, causal: int, *, grad: bool = False
) -> _Model:
    """Packed sequences: (T, H, d) from slot `first`, their offsets in two slots, the longest
    lengths in two. The lengths between are not recorded: FLOPs are a lower bound."""

    def model(call: Call) -> Perf:
        slots = (first, first + 1, first + 2)
        of = _heads_last(call, *slots)
        seqs = [max(0, prod(call.dims(offsets + i)) - 1) for i in (0, 1)]
        longest_of = [call.value(longest + i) for i in (0, 1)]
        if not all(isinstance(n, int) for n in longest_of):
            raise NotKnownError("the longest sequences are not recorded")
        flag = call.value(causal)
        of = replace(
            of,
            dropout=call.value(dropout),
            causal=flag if isinstance(flag, bool) else None,
            lengths=(seqs[0], seqs[1], longest_of[0], longest_of[1]),
        )
        exact = seqs[0] <= 1 or of.n_q == seqs[0] * longest_of[0]
        return (backward_work if grad else forward_work)(
            of, call, slots, "" if exact else "lower bound"
        )

    return model


def aten_flash(call: Call) -> Perf:
    """aten::_flash_attention_forward: (B, N, H, d) 0 to 2, offsets 3 and 4, longest 5 and 6,
    dropout 7, causal 8."""
    if call.maybe(3) is not None:
        return varying(0, 3, 5, 7, 8)(call)
    return library(0, 7, 8)(call)


def aten_efficient(call: Call) -> Perf:
    """aten::_efficient_attention_forward: (B, N, H, d) 0 to 2, bias 3, dropout 8, kind of the
    mask 9: 0 none, 1 from the first key, 2 to the last."""
    if call.tracelens:
        raise NotKnownError("TraceLens cannot read its arguments")
    kind = call.value(9)
    of = replace(
        _heads_last(call, 0, 1, 2),
        flash=False,
        dropout=call.value(8),
        causal=kind in (1, 2) if isinstance(kind, int) else None,
        bottom_right=kind == 2,
        mask_bytes=call.count(3) * call.size(3) if call.maybe(3) else 0,
    )
    return forward_work(of, call, (0, 1, 2))


def aten_backward(*, flash: bool, dropout: int, causal: int) -> _Model:
    """aten::_scaled_dot_product_…_backward: the gradient 0, q, k, v 1 to 3, heads first."""

    def model(call: Call) -> Perf:
        of = replace(
            _heads_first(call, 1, 2, 3),
            flash=flash,
            bottom_right=flash,
            dropout=call.value(dropout),
            causal=causal_flag if isinstance(causal_flag := call.value(causal), bool) else None,
        )
        return backward_work(of, call, (1, 2, 3))

    return model


def evoformer(call: Call) -> Perf:
    """EvoformerAttention: (B, S, N, H, d), B S batches, never causal."""
    of_q, of_k, of_v = (call.dims(slot) for slot in (0, 1, 2))
    if len(of_q) != 5 or len(of_k) != 5:
        raise NotKnownError("queries and keys have no five dimensions")
    of = Attention(
        of_q[0] * of_q[1], of_q[2], of_q[3], of_k[2], of_k[3], of_q[4], of_v[4], call.dtype(0),
        call.dtype(1), False, strict=call.tracelens, two_bytes=call.like("D21"),
        square_only=call.like("D22"),
    )  # fmt: skip
    return forward_work(of, call, (0, 1, 2))


def backward_of(forward: Call) -> Perf:
    """The gradients of an aten attention, from the arguments of its forward call."""
    causal = {"flash": 4, "efficient": 6, "cudnn": 6}
    kind = next((word for word in causal if f"_{word}_" in forward.name), None)
    if kind is None or "scaled_dot_product" not in forward.name:
        raise NotKnownError("the forward call is no attention with a known gradient")
    of = replace(
        _heads_first(forward, 0, 1, 2),
        flash=kind == "flash",
        bottom_right=kind == "flash",
        dropout=forward.value(causal[kind] - 1),
        causal=forward.flag(causal[kind], False),
    )
    return backward_work(of, forward, (0, 1, 2))
