"""The first thing that a command does: Ctrl+C ends it with one line, also while it still imports.

Imports next to nothing: until this module has run, Python answers with a traceback.
"""

import os
import signal
from types import FrameType

_AGAIN_S = 0.01
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
    """From here on an interrupt is a KeyboardInterrupt: whoever has opened something closes it.

    It waits for imports to end: an exception inside the import system can leave its lock taken for
    good, and other threads, which import too, are waited for."""
    if callable(signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_importing(frame):
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        signal.default_int_handler(number, frame)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
