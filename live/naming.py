"""Names of recordings that the user did not name."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from .options import SUFFIX

_UNFIT: Final = re.compile(r"[^\w.+@-]+")
"""What a name should not need quotes for: the text of `sh -c TEXT` may be the program."""
_LONGEST: Final = 60
_TAKE_TEXT: Final = ("python", "sh", "bash", "dash", "zsh")
"""Take a program as text, after -c."""
_LAUNCHERS = ("python", "torchrun", "accelerate", "deepspeed", "env", "mpirun", "srun")


def timed_name(command: Sequence[str]) -> str:
    """`train-20260131-235959.dctxrec` for a command that runs train.py, or the module `train`."""
    name = _UNFIT.sub("_", _program(command))[:_LONGEST]
    return f"{name}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}"


def _program(command: Sequence[str]) -> str:
    words = list(command)
    for word, following in pairwise(words):
        if word == "-m" and following:
            return following.rpartition(".")[2]
    scripts = [word for word in words if word.endswith(".py")]
    if scripts:
        return Path(scripts[0]).stem
    if words[1:2] == ["-c"] and Path(words[0]).stem.startswith(_TAKE_TEXT):
        return Path(words[0]).stem
    plain = [Path(word).stem for word in words if word and not word.startswith("-")]
    others = [name for name in plain if not name.startswith(_LAUNCHERS)]
    return (others or plain or ["program"])[0]
