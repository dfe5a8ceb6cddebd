"""What scaled dot-product attention costs, forward and backward.

With P attended pairs of a query and a key per batch and head:
forward FLOPs = 2 B H_Q P (d_qk + d_v); backward = 2 B H_Q P (R d_qk + 2 d_v), with R = 3 where the
scores are computed again (flash), else 2, and the sum over the queries that share a key:
B N_KV (d_qk + d_v) (H_Q - H_KV). The softmax is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .call import Call, Shape
from .dtypes import element_bytes, precision
from .perf import NotKnownError, Perf

NO_LIMIT = -1
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
    window: tuple[int, int] = (NO_LIMIT, NO_LIMIT)
    """Keys that a query sees before and after its own place."""
    mask_bytes: float = 0
    lengths: Shape | None = None
    """Varying lengths: sequences of q and kv, longest of q and kv."""
    strict: bool = False
    """As TraceLens in the next two and in its parameters."""
    two_bytes: bool = False
    """An element of whatever type."""
    square_only: bool = False
    """No unequal lengths with a causal mask."""


def attended_pairs(of: Attention, n_q: float | None = None, n_kv: float | None = None) -> float:
    """Pairs of a query and a key that it sees, per batch and head; of other lengths if given."""
    n_q = of.n_q if n_q is None else n_q
    n_kv = of.n_kv if n_kv is None else n_kv
    if of.causal is None:
        raise NotKnownError("whether the attention is causal is not recorded")
    if of.window != (NO_LIMIT, NO_LIMIT):
        return _windowed_pairs(of, round(n_q), round(n_kv))
    if not of.causal:
        return n_q * n_kv
    if of.square_only and n_q != n_kv:
        raise NotKnownError("causal attention of unequal lengths")
    if of.bottom_right:
        return n_q * n_kv - n_q**2 / 2 if n_kv >= n_q else n_kv**2 / 2
    return n_q**2 / 2 if n_kv >= n_q else n_q * n_kv - n_kv**2 / 2


def _windowed_pairs(of: Attention, n_q: int, n_kv: int) -> int:
    left, right = of.window[0], 0 if of.causal else of.window[1]
    offset = n_kv - n_q if of.bottom_right else 0
    return sum(
        max(
            0,
            (n_kv if right == NO_LIMIT else min(n_kv, i + offset + 1 + right))
            - (0 if left == NO_LIMIT else max(0, i + offset - left)),
        )
        for i in range(n_q)
    )


def _sizes(of: Attention) -> tuple[float, float]:
    """Bytes of an element of the queries and of the keys."""
    if of.two_bytes:
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
        if of.window != (NO_LIMIT, NO_LIMIT):
            found["window"] = of.window
    if of.lengths is not None:
        words = ("num_seqs_q", "num_seqs_kv", "max_seqlen_q", "max_seqlen_kv")
        found |= dict(zip(words, of.lengths, strict=True))
    return found


def forward_work(of: Attention, call: Call, slots: Shape, note: str = "") -> Perf:
    """Of one call; `slots` are those of q, k and v."""
    width = of.d_qk + of.d_v
    q, kv = _sizes(of)
    moved = of.b * of.n_q * of.h_q * width * q + of.b * of.n_kv * of.h_kv * width * kv
    moved += of.mask_bytes
    flops: float | None
    try:
        flops = 2 * of.b * of.h_q * _pairs(of) * width
    except NotKnownError as error:
        if of.square_only:
            raise
        flops, note = None, str(error)
    rate = precision(of.dtype_q)
    return Perf(flops, moved, rate, _params(of, call, slots), note)


def backward_work(of: Attention, call: Call, slots: Shape, note: str = "") -> Perf:
    """Of the gradients of one call."""
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
    """Of all sequences together where their lengths vary: the longest, and the others at their
    mean, which is a lower bound."""
    if of.lengths is None:
        return attended_pairs(of)
    seqs_q, seqs_kv, longest_q, longest_kv = of.lengths
    pairs = attended_pairs(of, longest_q, longest_kv)
    if seqs_q > 1:
        mean_q = max(0, of.n_q - longest_q) / (seqs_q - 1)
        mean_kv = max(0, of.n_kv - longest_kv) / max(1, seqs_kv - 1)
        pairs += (seqs_q - 1) * attended_pairs(of, mean_q, mean_kv)
    return pairs
