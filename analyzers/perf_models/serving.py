"""Attention of serving engines over a paged cache.

The lengths of the sequences are not arguments: the annotation of the step around the call tells
their sums over prefills (c) and decodes (g): Σ N_Q, Σ N_KV, Σ N_Q², Σ N_Q N_KV.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Final

from .call import Call, Shape
from .dtypes import element_bytes, precision
from .perf import NotKnownError, Perf

_GROUP: Final = re.compile(
    r"(context|generation|prefill|decode)_?[^(\[]*[(\[]([^)\]]*)[)\]]", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"(?<![a-z])((?:[cg]_)?(?:sqsq|sqsk|sq|sk))\s*=?\s*(\d+)")
_STEP: Final = re.compile(r"step\[\s*(EXTEND|DECODE|MIXED)\b([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Sums:
    """Of one kind of requests in a step."""

    sq: int = 0
    sk: int = 0
    sqsq: int = 0
    sqsk: int = 0


def step_sums(text: str) -> tuple[Sums, Sums] | None:
    """Sums of prefills and of decodes that a step's annotation tells; None where it does not."""
    found: dict[str, dict[str, int]] = {"c": {}, "g": {}}
    step = _STEP.search(text)
    if step:
        own = "g" if step.group(1) == "DECODE" else "c"
        for key, value in _NUMBER.findall(step.group(2)):
            side, _, name = key.rpartition("_")
            found[side or own][name] = int(value)
    else:
        for kind, inner in _GROUP.findall(text):
            side = "c" if kind.lower() in ("context", "prefill") else "g"
            for key, value in _NUMBER.findall(inner):
                found[side][key.rpartition("_")[2]] = int(value)
    if not any("sqsk" in sums or "sk" in sums for sums in found.values()):
        return None
    return Sums(**found["c"]), Sums(**found["g"])


def _windowed(sums: Sums, window: int | None) -> Sums:
    """Decodes that see the last `window` keys only."""
    if window is None or window <= 0:
        return sums
    most = sums.sq * window
    return Sums(sums.sq, min(sums.sk, most), sums.sqsq, min(sums.sqsk, most))


def paged(call: Call) -> Perf:
    """vllm::unified_attention_with_output: q 0, k 1, v 2 as (T, H, d); the cache in the last slot
    where it is recorded. FLOPs = H_Q (d_qk + d_v) (2 c_sqsk - c_sqsq + 2 g_sqsk)."""
    q, k, v = call.dims(0), call.dims(1), call.dims(2)
    q, k, v = (s if len(s) == 3 else (s[0], 1, prod(s[1:])) for s in (q, k, v))
    sums = step_sums(call.step)
    if sums is None:
        raise NotKnownError("no annotation around the step tells the lengths of its sequences")
    c, g = sums
    cache = next((call.dtype(s) for s in range(len(call.types) - 1, 2, -1)
                  if len(call.maybe(s) or ()) >= 4), None)  # fmt: skip
    return _paged(call, (q, k, v), (call.dtype(0), cache or call.dtype(1)), c, _windowed(g, None))


def _paged(
    call: Call,
    shapes: tuple[Shape, Shape, Shape],
    types: tuple[str | None, str | None],
    c: Sums,
    g: Sums,
) -> Perf:
    q, k, v = shapes
    h_q, h_kv, d_qk, d_v = q[1], k[1], q[2], v[2]
    width = d_qk + d_v
    flops = h_q * width * (2 * c.sqsk - c.sqsq) + 2 * h_q * width * g.sqsk
    b_q, b_kv = (element_bytes(t, few=call.like("D25")) for t in types)
    moved = sum(
        s.sq * (h_q + h_kv) * width * b_q + (s.sk - s.sq) * h_kv * width * b_kv for s in (c, g)
    )
    params = {
        "B": 1, "N_Q": q[0], "H_Q": h_q, "H_V": v[1], "H_K": k[1], "N_KV": k[0], "H_KV": h_kv,
        "d_h_qk": d_qk, "d_h_v": d_v, "dropout": 0.0, "causal": False, "flash_impl": True,
        "c_sq": c.sq, "c_sk": c.sk, "c_sqsq": c.sqsq, "c_sqsk": c.sqsk,
        "g_sq": g.sq, "g_sk": g.sk, "g_sqsq": g.sqsq, "g_sqsk": g.sqsk,
        "dtype_Q": types[0], "dtype_KV": types[1],
    }  # fmt: skip
    return Perf(flops, moved, precision(types[0]), params)


def store_cache(call: Call) -> Perf:
    """Keys and values of T tokens with D elements each, read and written: 4 T D b bytes."""
    shape = call.dims(0)
    moved = 4 * prod(shape) * call.size(0)
    params = {"op_shape": shape, "nelems": prod(shape), "dtype": call.dtype(0)}
    return Perf(0, moved, call.precision(0), params)


def gated_delta(call: Call) -> Perf:
    """Gated delta attention: q 0, k 1, v 2 as (T, H, d): 7 T H_V d_v d_k operations."""
    k, v = call.dims(1), call.dims(2)
    tokens, heads, d_v, d_k = v[-3], v[-2], v[-1], k[-1]
    size = call.size(2)
    params = {"num_tokens": tokens, "H_V": heads, "d_v": d_v, "d_k": d_k}
    moved = tokens * heads * (d_k + 2 * d_v + 2) * size
    return Perf(tokens * heads * 7 * d_v * d_k, moved, call.precision(0), params)
