"""Tells when the program uses torch's own profiler for its GPU: both want CUPTI."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def profiler_runs() -> bool:
    """Whether torch.profiler records in this process."""
    return bool(getattr(sys.modules.get("torch.autograd.profiler"), "_is_profiler_enabled", False))


class ProfilerWatch:
    """Calls `begins` before a profiler of torch that wants the GPU takes it, and `ended` after one
    has stopped; until close(). A torch that has no such class is not watched."""

    def __init__(self, begins: Callable[[], None], ended: Callable[[], None]) -> None:
        self._begins, self._ended = begins, ended
        self._kind: Any = getattr(sys.modules.get("torch.autograd.profiler"), "profile", None)
        if self._kind is None:
            return
        self._init, self._exit = self._kind.__init__, self._kind.__exit__
        self._kind.__init__ = self._watched_init(self._init)
        self._kind.__exit__ = self._watched_exit(self._exit)

    def close(self) -> None:
        """Watch no longer."""
        if self._kind is not None:
            self._kind.__init__, self._kind.__exit__ = self._init, self._exit
            self._kind = None

    def _watched_init(self, own: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(own)
        def init(profile: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs.get("use_device") == "cuda" or kwargs.get("use_cuda"):
                with suppress(Exception):  # trouble of ours is not the program's
                    self._begins()
            own(profile, *args, **kwargs)

        return init

    def _watched_exit(self, own: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(own)
        def leave(profile: Any, *args: Any, **kwargs: Any) -> Any:
            result = own(profile, *args, **kwargs)
            with suppress(Exception):
                self._ended()
            return result

        return leave
