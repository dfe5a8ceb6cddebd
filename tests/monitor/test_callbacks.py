"""Functions that are told of events, in Python and through the C interface."""

import ctypes
import importlib
import sys
import threading
from collections.abc import Sequence

import pytest

from dctx.native import monitor
from dctx.native._core import Operator
from tests.monitor.recorded import recording

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")


def _program() -> None:
    with monitor.scope("part"), Operator("op", sequence=7):
        pass


EXPECTED = [
    ("BEGIN", "scope", "part", 1, -1),
    ("BEGIN", "op", "op", 2, 7),
    ("END", "op", "op", 1, -1),
    ("END", "scope", "part", 0, -1),
]


@pytest.mark.parametrize("sync", [False, True])
def test_python_functions_are_told(sync: bool, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[monitor.Event] = []
    threads: set[int] = set()

    def listen(events: Sequence[monitor.Event], drops: int) -> None:
        assert drops == 0
        threads.add(threading.get_ident())
        told.extend(events)

    with recording():
        handle = monitor.callback_register(monitor.Domain.FRAMEWORK, listen, sync=sync)
        _program()
        monitor.callback_unregister(handle)
        _program()
    assert [(e.event.name, e.kind, e.name, e.depth, e.sequence) for e in told] == EXPECTED
    assert all((e.duration_ns > 0) == (e.event.name == "END") for e in told)
    assert len({e.identity for e in told}) == 2
    assert ("lock" in capsys.readouterr().err) == sync
    if sync:
        assert threads == {threading.get_ident()}
    with pytest.raises(KeyError):
        monitor.callback_unregister(handle)


def test_finalize_ends_what_is_registered() -> None:
    told: list[monitor.Event] = []
    with recording():
        handle = monitor.callback_register(
            monitor.Domain.USER, lambda events, _: told.extend(events), events=monitor.EventMask.END
        )
        _program()
    assert [(e.event.name, e.name) for e in told] == [("END", "part")]
    with pytest.raises(KeyError):
        monitor.callback_unregister(handle)


class _Config(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("sources", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("max_nodes", ctypes.c_uint64),
    )


class _Frame(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("line", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("offset", ctypes.c_uint64),
    )


def test_the_c_interface() -> None:
    library = ctypes.PyDLL(importlib.import_module(Operator.__module__).__file__)
    library.dctx_last_error.restype = ctypes.c_char_p
    assert library.dctx_init(ctypes.byref(_Config(0, 0, 0, 0, 0))) < 0
    assert b"another size or version" in library.dctx_last_error()
    config = _Config(ctypes.sizeof(_Config), 1, int(monitor.DEFAULT_SOURCES), 0, 0)
    assert library.dctx_init(ctypes.byref(config)) == 0
    try:
        assert monitor.status().recording
        assert library.dctx_init(ctypes.byref(config)) < 0
        assert b"finalize" in library.dctx_last_error()
        frames = (_Frame * 200)()
        count = ctypes.c_size_t()
        with monitor.scope("part"):
            code = library.dctx_callpath_get(
                int(monitor.DEFAULT_SOURCES), 0, frames, 200, ctypes.byref(count)
            )
        assert code == 0
        path = [(frame.kind, frame.name.decode()) for frame in frames[: count.value]]
        assert path[-3:] == [
            (2, "test_the_c_interface"),
            (3, "part"),
            (2, "test_the_c_interface"),
        ]
        assert library.dctx_callback_unregister(3) < 0
        assert library.dctx_last_error() == b"no such listener"
    finally:
        assert library.dctx_finalize() == 0
    assert not monitor.status().recording
