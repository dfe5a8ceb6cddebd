"""Tells when a module has been executed, without importing it."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


def when_imported(
    name: str, call: Callable[[], object], before: Callable[[], object] | None = None
) -> None:
    """Have `call` run when the module is there: now, or right after it was executed; and `before`
    right before it is executed."""
    if name in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Watch(name, call, before))


class _Watch(importlib.abc.MetaPathFinder):
    def __init__(
        self, name: str, call: Callable[[], object], before: Callable[[], object] | None
    ) -> None:
        self._name, self._call, self._before = name, call, before

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._call, self._before)
        else:
            sys.meta_path.insert(0, self)  # it may be installed later
        return spec


class _Loader(importlib.abc.Loader):
    """Stands before a module's own loader until the module is there."""

    def __init__(
        self,
        own: importlib.abc.Loader,
        call: Callable[[], object],
        before: Callable[[], object] | None,
    ) -> None:
        self._own, self._call, self._before = own, call, before

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        module.__loader__ = self._own
        if self._before is not None:
            self._before()
        self._own.exec_module(module)
        # As the import system itself would right after this: other threads that import the module
        # need not wait for us, who may wait for them.
        if module.__spec__ is not None:
            vars(module.__spec__)["_initializing"] = False
        self._call()
