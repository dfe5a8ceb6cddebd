"""Operators of a torch that cannot be attached to, from its dispatcher: several times slower."""

from __future__ import annotations

import importlib
from typing import Any

from .._core import Operator


def enter_dispatch() -> Any:
    """Have operators of the calling thread recorded from now on, those that the dispatcher sees:
    no backward link, no composite operators. Torch must be loaded; ImportError where it is too old.
    Returns the mode that is entered; its __exit__ ends it."""
    module = importlib.import_module("torch.utils._python_dispatch")
    base: Any = module.TorchDispatchMode

    class Operators(base):  # type: ignore[misc]
        """Wraps each operator that is dispatched."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            with Operator(func._schema.name):
                return func(*args, **(kwargs or {}))

    mode = Operators()
    mode.__enter__()
    return mode
