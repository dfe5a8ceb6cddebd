"""Scaled dot-product attention, forward and backward.

With P attended pairs of a query and a key per batch and head:
forward FLOPs = 2 B H_Q P (d_qk + d_v); backward = 2 B H_Q P (R d_qk + 2 d_v), with R = 3 where the
scores are computed again (flash), else 2, and the sum over the queries that share a key:
B N_KV (d_qk + d_v) (H_Q - H_KV). The softmax is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from .call import Call, Shape
from .dtypes import element_bytes, precision
from .perf import NotKnownError, Perf

_UNSEEN = -1
"""A window of this width has no limit."""


@dataclass(frozen=True, slots=True)
class Attention:
    """What an attention is called with."""

    b: int
    n_q: int
    h_q: int
    n_kv: int
    h_kv: int
    d_qk: int
    d_v: int
    dtype_q: str | None
    dtype_kv: str | None
    flash: bool
    dropout: Any = 0.0
    causal: bool | None = False
    """None: not recorded."""
    bottom_right: bool = True
    """The last query sees the last key; else the first sees the first."""
    window: tuple[int, int] = (_UNSEEN, _UNSEEN)
    """Keys that a query sees before and after its own place."""
    mask_bytes: float = 0
    lengths: Shape | None = None
    """Varying lengths: sequences of q and kv, longest of q and kv."""
    strict: bool = False
    """As TraceLens: two bytes an element, no unequal lengths with a causal mask."""


def attended_pairs(of: Attention) -> float:
    """Pairs of a query and a key that it sees, per batch and head."""
    n_q, n_kv = of.n_q, of.n_kv
    left, right = of.window
    if of.causal is None:
        raise NotKnownError("whether the attention is causal is not recorded")
    if (left, right) != (_UNSEEN, _UNSEEN):
        if of.causal:
            right = 0
        offset = n_kv - n_q if of.bottom_right else 0
        return sum(
            max(
                0,
                (n_kv if right == _UNSEEN else min(n_kv, i + offset + 1 + right))
                - (0 if left == _UNSEEN else max(0, i + offset - left)),
            )
            for i in range(n_q)
        )
    if not of.causal:
        return n_q * n_kv
    if of.strict and n_q != n_kv:
        raise NotKnownError("causal attention of unequal lengths")
    if of.bottom_right:
        return n_q * n_kv - n_q**2 / 2 if n_kv >= n_q else n_kv**2 / 2
    return n_q**2 / 2 if n_kv >= n_q else n_q * n_kv - n_kv**2 / 2


def _sizes(of: Attention) -> tuple[float, float]:
    """Bytes of an element of the queries and of the keys."""
    if of.strict:
        return 2, 2
    return element_bytes(of.dtype_q), element_bytes(of.dtype_kv)


def _params(of: Attention, call: Call, slots: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {
        "B": of.b,
        "N_Q": of.n_q,
        "H_Q": of.h_q,
        "N_KV": of.n_kv,
        "H_KV": of.h_kv,
        "d_h_qk": of.d_qk,
        "d_h_v": of.d_v,
        "dropout": of.dropout,
        "causal": of.causal,
        "flash_impl": of.flash,
        "dtype_A_B": (of.dtype_q, of.dtype_kv),
    }
    if not of.strict:
        found |= {f"{word}_stride": call.stride(s) for word, s in zip("qkv", slots, strict=True)}
        if of.window != (_UNSEEN, _UNSEEN):
            found["window"] = of.window
    if of.lengths is not None:
        words = ("num_seqs_q", "num_seqs_kv", "max_seqlen_q", "max_seqlen_kv")
        found |= dict(zip(words, of.lengths, strict=True))
    return found


def _forward(of: Attention, call: Call, slots: Shape, note: str = "") -> Perf:
    width = of.d_qk + of.d_v
    q, kv = _sizes(of)
    moved = of.b * of.n_q * of.h_q * width * q + of.b * of.n_kv * of.h_kv * width * kv
    moved += of.mask_bytes
    flops: float | None
    try:
        flops = 2 * of.b * of.h_q * _pairs(of) * width
    except NotKnownError as error:
        if of.strict:
            raise
        flops, note = None, str(error)
    rate = precision(of.dtype_q)
    return Perf(flops, moved, rate, _params(of, call, slots), note)


def _backward(of: Attention, call: Call, slots: Shape, note: str = "") -> Perf:
    width = of.d_qk + of.d_v
    q, kv = _sizes(of)
    shared = of.b * of.n_kv * width * (of.h_q - of.h_kv)
    flops: float | None
    try:
        scores = (3 if of.flash else 2) * of.d_qk + 2 * of.d_v
        flops = 2 * of.b * of.h_q * _pairs(of) * scores + shared
    except NotKnownError as error:
        flops, note = None, str(error)
    # Q, K, V and the gradient of the result are read; the gradients of Q, K, V are written.
    moved = of.b * of.n_q * of.h_q * (2 * of.d_qk + of.d_v) * q
    moved += 2 * of.b * of.n_kv * of.h_kv * width * kv
    rate = precision(of.dtype_q)
    return Perf(flops, moved, rate, _params(of, call, slots), note)


def _pairs(of: Attention) -> float:
    """Of all sequences together where their lengths vary: a lower bound."""
    if of.lengths is None:
        return attended_pairs(of)
    seqs, seqs_kv, longest_q, longest_kv = of.lengths
    whole = replace(of, n_q=longest_q, n_kv=longest_kv, lengths=None)
    pairs = attended_pairs(whole)
    others = seqs - 1
    if others > 0:
        mean_q = max(0, of.n_q - longest_q) / others
        mean_kv = max(0, of.n_kv - longest_kv) / max(1, seqs_kv - 1)
        share = 0.5 if of.causal and mean_q == mean_kv else None
        rest = replace(of, n_q=round(mean_q), n_kv=round(mean_kv), lengths=None)
        pairs += others * (mean_q * mean_kv * share if share else attended_pairs(rest))
    return pairs


def _heads_first(call: Call, q: int, k: int, v: int) -> Attention:
    """Shapes (B, H, N, d)."""
    of_q, of_k, of_v = call.dims(q), call.dims(k), call.dims(v)
    if len(of_q) != 4 or len(of_k) != 4 or len(of_v) != 4:
        raise NotKnownError("queries, keys and values have no four dimensions")
    return Attention(
        of_q[0], of_q[2], of_q[1], of_k[2], of_k[1], of_q[3], of_v[3], call.dtype(q),
        call.dtype(k), False, strict=call.tracelens,
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
        call.dtype(k), True, strict=call.tracelens,
    )  # fmt: skip


def aten(*, flash: bool, dropout: int, causal: int, bias: int | None = None) -> _Model:
    """aten::_scaled_dot_product_…: q, k, v 0 to 2 with heads before places. The efficient and
    cuDNN kinds align a causal mask with the first key, flash with the last."""

    def model(call: Call) -> Perf:
        of = _heads_first(call, 0, 1, 2)
        mask = bias is not None and not call.tracelens and call.maybe(bias)
        of = replace(
            of,
            flash=flash,
            bottom_right=flash,
            dropout=call.value(dropout),
            causal=call.flag(causal, False),
            mask_bytes=call.count(bias) * call.size(bias) if mask and bias is not None else 0,
        )
        return _forward(of, call, (0, 1, 2))

    return model


_Model = Callable[[Call], Perf]


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
        known = [v if isinstance(v, int) else _UNSEEN for v in limits] or [_UNSEEN, _UNSEEN]
        of = replace(
            of,
            dropout=call.value(dropout) if dropout is not None else 0.0,
            causal=flag if isinstance(flag, bool) else None,
            window=(_UNSEEN, _UNSEEN) if call.tracelens else (known[0], known[1]),
        )
        return (_backward if grad else _forward)(of, call, slots)

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
        return (_backward if grad else _forward)(of, call, slots, "" if exact else "lower bound")

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
    return _forward(of, call, (0, 1, 2))


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
        return _backward(of, call, (1, 2, 3))

    return model


def evoformer(call: Call) -> Perf:
    """EvoformerAttention: (B, S, N, H, d), B S batches, never causal."""
    of_q, of_k, of_v = (call.dims(slot) for slot in (0, 1, 2))
    if len(of_q) != 5 or len(of_k) != 5:
        raise NotKnownError("queries and keys have no five dimensions")
    of = Attention(
        of_q[0] * of_q[1], of_q[2], of_q[3], of_k[2], of_k[3], of_q[4], of_v[4], call.dtype(0),
        call.dtype(1), False, strict=call.tracelens,
    )  # fmt: skip
    return _forward(of, call, (0, 1, 2))


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
    return _backward(of, forward, (0, 1, 2))
