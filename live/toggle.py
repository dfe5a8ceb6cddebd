"""The signal that turns recording on and off, before there is a recording to turn: without a
handler it would end the program."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_waiting = False
"""Odd number of signals came before the recording began."""


def await_signal(number: int) -> None:
    """Count the signals that come before the recording begins. A signal that the program handles,
    or ignores, stays as it is."""
    if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(number) is signal.SIG_DFL
    ):
        signal.signal(number, _count)


def free_signal(number: int) -> bool:
    """False when the program handles the signal itself."""
    return signal.getsignal(number) in (signal.SIG_DFL, _count)


def toggled_before() -> bool:
    """True when recording was turned on, or off, before it began. Asked once."""
    global _waiting
    toggled, _waiting = _waiting, False
    return toggled


def _count(_number: int, _frame: FrameType | None) -> None:
    global _waiting
    _waiting = not _waiting
