"""The first thing that a command does: Ctrl+C ends it with one line, also while it still imports.

Imports next to nothing: until this module has run, Python answers with a traceback.
"""

import os
import signal
from types import FrameType

_CANCELLED = 130
"""`ExitCode.CANCELLED`, whose module imports more than there is time for."""


def cancel_at_once(program: str) -> None:
    """End the process at once when it is interrupted. Nothing is open yet that must be closed.

    A shell that starts a job in the background makes it deaf to Ctrl+C: that stays.
    """

    def cancel(_number: int, _frame: FrameType | None) -> None:
        try:
            os.write(2, f"{program}: cancelled\n".encode())
        finally:
            os._exit(_CANCELLED)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, cancel)


def cancel_by_exception() -> None:
    """From here on an interrupt is a KeyboardInterrupt: whoever has opened something closes it."""
    if callable(signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, signal.default_int_handler)
