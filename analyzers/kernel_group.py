"""Which part of a layer a kernel belongs to, told by the operations around it, else by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ingest.comm import is_communication

_GROUPS = (
    ("attention", re.compile(r"attn|attention|fmha|flash|sdpa|paged_?kv", re.IGNORECASE)),
    ("MLP", re.compile(r"\bmlp|\bffn|feed_?forward|\bmoe|experts?\b|silu|swiglu|gelu", re.I)),
    ("norm", re.compile(r"norm", re.IGNORECASE)),
    (
        "matrix product",
        re.compile(r"gemm|gemv|matmul|cutlass|cublas|nvjet|cijk_|[wx]mma|splitk|proj|linear", re.I),
    ),
)
OTHER = "other"


def kernel_group(name: str, way: Sequence[str] = ()) -> str:
    """`communication`, `attention`, `MLP`, `norm`, `matrix product` or `other`.

    way: names of the operations around the launch, from the outside in; the innermost that tells
    decides before the name of the kernel does. Names are hints.
    """
    if is_communication(name):
        return "communication"
    for text in (*reversed(way), name):
        for group, pattern in _GROUPS:
            if pattern.search(text):
                return group
    return OTHER
