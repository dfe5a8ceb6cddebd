"""Chooses how Python frames are read: raw, after a self-test, else through the public interface."""

from collections.abc import Iterator
from typing import Literal

from .._core import Monitor

FrameReader = Literal["raw", "public"]


def _agree_in_generator() -> Iterator[bool]:
    yield Monitor.frames_agree()


def _agree_at_depth(depth: int) -> bool:
    if depth > 0:
        return _agree_at_depth(depth - 1)
    in_comprehension = [Monitor.frames_agree() for _ in range(2)]
    return all(in_comprehension) and all(_agree_in_generator())


def choose_frames() -> FrameReader:
    """Sets the reader of this process. Raw frames are read without the interpreter's lock; they
    are used only when they tell what the public interface tells, at three depths."""
    reader: FrameReader = "raw" if all(_agree_at_depth(d) for d in (0, 1, 20)) else "public"
    Monitor.use_frames(reader)
    return reader
