"""Reads several files at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final, TypeVar

from .errors import CancelledError
from .inputs import Source, Tell
from .progress import BytesRead, Done, Progress, part_of

_POLL_S: Final = 0.1

T = TypeVar("T")


def scan_all(
    sources: Sequence[Source],
    scan: Callable[[Source, Tell], T],
    progress: Progress,
    stage: str,
    first: float,
    last: float,
) -> list[T]:
    """`scan(source, tell)` of every source, in order, on as many threads as there are cores.

    `scan` is expected to run without the interpreter's lock most of the time. `progress` is called
    on this thread only, between `first` and `last`. What it raises, and the first failure of a
    scan, stops the others and is raised here."""
    total = sum(source.size_bytes for source in sources)
    if len(sources) == 1:

        def tell_one(part: Done) -> None:
            progress(stage, part_of(part, first, last))

        return [scan(sources[0], tell_one)]
    done = [0.0] * len(sources)
    stop = threading.Event()

    def run(index: int) -> T:
        def tell(part: Done) -> None:
            if stop.is_set():
                raise CancelledError
            done[index] = 0.0 if isinstance(part, BytesRead) else part

        return scan(sources[index], tell)

    workers = min(len(sources), os.cpu_count() or 1)
    with ThreadPoolExecutor(workers, thread_name_prefix="dctx-scan") as pool:
        futures = [pool.submit(run, index) for index in range(len(sources))]
        try:
            _wait(
                futures,
                lambda: progress(stage, first + (last - first) * _share(done, sources, total)),
            )
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def _wait(futures: Sequence[Future[T]], tell: Callable[[], None]) -> None:
    """Until all are done; raises the first failure."""
    waiting = set(futures)
    while waiting:
        finished, waiting = wait(waiting, _POLL_S, FIRST_COMPLETED)
        for future in finished:
            future.result()
        tell()


def _share(done: Sequence[float], sources: Sequence[Source], total: int) -> float:
    if not total:
        return 0.0
    return sum(part * source.size_bytes for part, source in zip(done, sources, strict=True)) / total
