"""What the commands exit with."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `dctx` and `dctx-tui`."""

    OK = 0
    GATE = 1
    """The verdict or a gate says no; only when asked for."""
    USAGE = 2
    """Bad usage, no terminal, or a trace that cannot be read."""
    GATE_VERDICT = 10
    """With `--exit-detail` instead of GATE, here and below; the highest of those that failed."""
    GATE_REGRESSION = 11
    GATE_UNRELIABLE = 12
    GATE_RULE = 13
    """A rule such as `kernel_time>+3%`."""
    FAULT = 70
    """A fault of dctx itself."""
    CANCELLED = 130
