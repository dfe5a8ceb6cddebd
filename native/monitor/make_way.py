"""Room for torch's own profiler, where what dctx uses of torch has one place for both."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final


def make_way(release: Callable[[], None], resume: Callable[[], None]) -> bool:
    """Have `release` called before a profiler of torch starts, and `resume` when it has stopped, on
    the thread that does so; each pair once. False where this torch has no place to do so. Torch
    must be loaded."""
    profiler = vars(importlib.import_module("torch.autograd.profiler"))
    legacy = vars(importlib.import_module("torch.autograd.profiler_legacy"))
    return (
        _before(profiler, "_run_on_profiler_start", release)
        and _before(profiler, "_run_on_profiler_stop", resume)
        and _before(legacy, "_enable_profiler_legacy", release)
    )


def _before(module: dict[str, Any], name: str, call: Callable[[], None]) -> bool:
    """Have `call` run before a function of a module does; once."""
    own = module.get(name)
    if own is None or (name, call) in _OURS:
        return own is not None

    def both(*args: Any, **options: Any) -> Any:
        call()
        return own(*args, **options)

    _OURS.add((name, call))
    module[name] = both
    return True


_OURS: Final = set[tuple[str, Callable[[], None]]]()
"""What runs before which function."""
