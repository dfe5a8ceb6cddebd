"""Work on a second thread, for what takes long outside the interpreter."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Runs `work` beside the caller; `result` waits for it and raises what it raised. As a
    context it is waited for however the context is left."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="dctx-read")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as failure:
            self._failure = failure

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.join()

    def result(self) -> T:
        """What `work` returned."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._results.pop()
