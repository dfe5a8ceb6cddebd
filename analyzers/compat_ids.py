"""What `--compat tracelens` reproduces, one thing an id: the ids of the list of differences."""

from __future__ import annotations

from typing import Final

COMPAT_IDS: Final[dict[str, str]] = {
    "D1": "only work with a launch in the trace counts",
    "D2": "only work that an arrow of the recording leads to counts",
    "D5": "communication is nccl, rccl and cross_device_reduce only",
    "D10": "a graph launch is one operator",
    "D11": "the same operator on two threads is two rows",
    "D14": "biases of aten convolutions and of _scaled_mm are not counted",
    "D15": "gradients of convolutions: of input and weight, whatever the mask says, none of a bias",
    "D16": "channels of grouped transposed convolutions without the groups",
    "D18": "norms always have a weight and a bias; statistics by channel; always in training",
    "D19": "gradients of norms: all of them, miopen's and cuDNN's as in evaluation",
    "D20": "reductions leave one element, whatever the dimensions; max of two tensors is one",
    "D21": "attention has two bytes an element, and no mask is read",
    "D22": "causal attention of unequal lengths has no figures; windows are not read",
    "D25": "bool, short, long, e5m2fnuz and complex have no size; bytes are fp8",
    "D26": "generated kernels: only two-byte tensors count; no other rate stands in for bf16",
    "D27": "an addend has N elements, whatever its shape and beta",
    "D28": "copies count an operation an element; what computes nothing has no roofline",
    "D29": "a number of no dimensions decides the type of the result",
    "D30": "sheets of families list operators within others too",
    "D31": "fp32 is never tf32",
    "D33": "collectives of which anything is not known are left out; no kernel's name tells one",
    "D34": "ranks are numbered in their order: that of a single file is 0",
    "D35": "short kernels without recorded arguments are left out",
    "D36": "kernels in percent of the time of those with a launch only",
    "D38": "kernels of a row by position, the shortest first; std of all, not of a sample",
    "D39": "overlap_pct is a fraction",
    "D42": "GiB/s under a heading of GB/s",
    "D43": "summaries of collectives take groups of one size for one",
    "D46": "clocks of ranks are taken as they are",
}


class UnknownIdError(ValueError):
    """An id that is none, or that cannot be cleared."""


def cleared(text: str) -> frozenset[str]:
    """The ids that `tracelens,-D6,-D21` takes out. UnknownIdError."""
    name, *parts = [part.strip() for part in text.split(",")]
    if name != "tracelens":
        raise UnknownIdError(f"{text!r} is none: `tracelens`, or `tracelens,-D21,-D30`")
    found: set[str] = set()
    for part in parts:
        if not part.startswith("-") or part[1:] not in COMPAT_IDS:
            listed = ", ".join(COMPAT_IDS)
            raise UnknownIdError(f"{part!r} takes nothing out: - and one of {listed}")
        found.add(part[1:])
    return frozenset(found)
