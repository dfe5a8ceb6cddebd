"""Values that are worked out when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


class Lazy(Mapping[Key, Value], Generic[Key, Value]):
    """Works a value out when it is first asked for. For any thread."""

    def __init__(self, keys: tuple[Key, ...], work_out: Callable[[Key], Value]) -> None:
        self._keys, self._work_out = keys, work_out
        self._known: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def __getitem__(self, key: Key) -> Value:
        if key not in self._keys:
            raise KeyError(key)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._work_out(key)
            return self._known[key]

    def __contains__(self, key: object) -> bool:  # which would else work the value out
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
