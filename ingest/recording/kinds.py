"""What the nodes of a recording stand for."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Kind(IntEnum):
    """What a node stands for; the numbers of the file."""

    ROOT = 0
    THREAD = 1
    PYTHON = 2
    SCOPE = 3
    OP = 4
    BACKWARD_OP = 5
    NATIVE = 6
    API = 7
    MEMCPY = 8
    MEMSET = 9
    KERNEL = 10
    INSTRUCTION = 11
    HLO_OP = 12
    FUSED = 13
    OTHER = 14
    ELIDED = 15
    LAUNCH_NOT_RECORDED = 16


NAMELESS: Final = (Kind.OTHER, Kind.ELIDED, Kind.LAUNCH_NOT_RECORDED)
MODULE_SHIFT: Final = 40
"""The label of a native node is its module above this bit, and the offset in it below."""
