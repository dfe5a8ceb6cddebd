"""The command that collects from one kernel what a trace does not tell."""

from __future__ import annotations

import re
import shlex
from typing import Final

from .identity import outside_brackets, without_namespaces

LAUNCHES: Final = 5
"""So many are profiled: each is replayed dozens of times."""
_FILE: Final = 40


def ncu_command(kernel: str, program: str = "PROGRAM") -> str:
    """Of Nsight Compute: all sections with source, of the first launches of the kernel."""
    function = function_name(kernel)
    pattern = f"regex:^{re.escape(function)}$"
    name = re.sub(r"\W+", "_", function)[:_FILE].strip("_") or "kernel"
    return (
        f"ncu -k {shlex.quote(pattern)} -c {LAUNCHES} --set full --import-source yes "
        f"-o {name} {program}"
    )


def rocprof_command(program: str = "PROGRAM") -> str:
    """Of ROCm: what the wavefronts of all kernels wait for, by instruction. PC sampling has no
    filter by kernel; its samples are in the JSON and CSV output, not in the database."""
    return (
        "rocprofv3 --kernel-trace --pc-sampling-beta-enabled --pc-sampling-method stochastic "
        "--pc-sampling-unit cycles --pc-sampling-interval 1048576 --output-format json "
        f"-- {program}"
    )


def function_name(kernel: str) -> str:
    """The name that Nsight Compute compares by default: without return type, namespaces, template
    arguments and parameters."""
    text = outside_brackets(without_namespaces(kernel)).strip()
    return text.split()[-1] if text else kernel
