"""The end of children of multiprocessing."""

from __future__ import annotations

import sys
from collections.abc import Callable


def when_worker_ends(call: Callable[[], object]) -> None:
    """Children of multiprocessing leave without atexit, and forget finalizers when they begin: the
    one that counts is made by what they run after that."""
    util = sys.modules.get("multiprocessing.util")
    if util is None:
        return

    def register(_key: object) -> None:
        util.Finalize(None, call, exitpriority=-1)

    key = _Key()
    _keys.append(key)
    util.register_after_fork(key, register)


class _Key:
    """multiprocessing holds it by a weak reference."""


_keys: list[_Key] = []
