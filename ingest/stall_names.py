"""What samples call the reasons for which warps wait."""

from __future__ import annotations

from typing import Final

SELECTED: Final = "selected"
"""No wait: an instruction was issued."""

_LONG: Final = {
    "arbiter_not_win": "not_selected",
    "barrier_wait": "barrier",
    "branch_resolve": "branch_resolving",
    "dispatch": "dispatch_stall",
    "imc": "imc_miss",
    "lg": "lg_throttle",
    "long_sb": "long_scoreboard",
    "math": "math_pipe_throttle",
    "mio": "mio_throttle",
    "no_inst": "no_instruction",
    "no_instruction_available": "no_instruction",
    "no_instructions": "no_instruction",
    "not_Selected": "not_selected",
    "short_sb": "short_scoreboard",
    "sleep": "sleeping",
    "sleep_wait": "sleeping",
    "tex": "tex_throttle",
}


def canonical(reason: str) -> str:
    """One name for a reason, whoever tells it: AMD names some otherwise, and columns of Nsight
    Compute's source page and older versions shorten them. Unknown ones are kept."""
    return _LONG.get(reason, reason)
