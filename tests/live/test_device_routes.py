"""Calls of a device that only its driver's library knows: which of them each route sees."""

import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dctx.ingest.recording.content import Recording
from dctx.ingest.recording.kinds import Kind
from dctx.ingest.registry import open_trace
from dctx.live.device_config import why_not_here

from .test_record import Run, record, record_command

COMPILER = shutil.which("g++") or shutil.which("c++")
pytestmark = [
    pytest.mark.skipif(bool(why_not_here()), reason=why_not_here() or "-"),
    pytest.mark.skipif(COMPILER is None, reason="no C++ compiler builds the fake device"),
]
FAKES = Path(__file__).parents[1] / "native" / "fakes"
DEVICES = """
[[device]]
name = "npu"
library = "libfakenpu.so.1"

[[device.function]]
name = "npuLaunch"
role = "launch"
args = ["cstr:name", "ptr", "u64:bytes", "ptr:stream"]
returns = "i32"
async = true

[[device.function]]
name = "npuOuter"
role = "launch"
args = ["cstr:name"]
returns = "i32"

[[device.function]]
name = "npuMany"
role = "launch"
args = [
  "i64", "i64", "i64", "i64", "i64", "i64", "i64", "f64", "cstr:name", "f64", "u64:bytes", "i32",
]
returns = "f64"

[[device.function]]
name = "npuCallback"
role = "other"
args = ["ptr", "ptr"]

[[device.function]]
name = "npuCopy"
role = "memcpy"
args = ["ptr", "ptr", "u64:bytes", "ptr:stream"]
returns = "i32"

[[device.function]]
name = "npuSync"
role = "sync"
args = ["ptr:stream"]
returns = "i32"
"""
PROGRAM = """
import ctypes, sys
import dctx
folder = {folder!r}
npu = ctypes.CDLL(folder + "/libfakenpu.so.1")
npu.npuMany.restype = ctypes.c_double
clients = {{way: ctypes.CDLL(f"{{folder}}/lib{{way}}.so") for way in ("lazy", "now", "noplt")}}
for way, client in clients.items():
    client.client_many.restype = ctypes.c_double
    with dctx.scope(way):
        for _ in range(3):
            assert client.client_launch(way.encode(), 8) == 1
with dctx.scope("many"):
    assert clients["lazy"].client_many() == clients["noplt"].client_many() == 123.875
with dctx.scope("inside"):
    npu.npuRun(b"inside")
with dctx.scope("default"):
    clients["now"].client_by_default_scope(b"default")
with dctx.scope("handle"):
    clients["now"].client_by_handle(b"libfakenpu.so.1", b"handle")
with dctx.scope("ctypes"):
    npu.npuLaunch(b"ctypes", None, ctypes.c_uint64(8), None)
    npu.npuCopy(None, None, ctypes.c_uint64(4096), None)
    npu.npuSync(None)
with dctx.scope("outer"):
    npu.npuOuter(b"outer")
with dctx.scope("leave"):
    clients["lazy"].client_leave(b"leave")
print(npu.npuCalls())
"""


@dataclass(frozen=True)
class Fake:
    folder: Path
    config: Path


def compiled(source: str, target: Path, *options: str) -> None:
    assert COMPILER is not None
    command = [COMPILER, "-shared", "-fPIC", "-O1", str(FAKES / source), "-o", str(target)]
    subprocess.run([*command, *options], check=True, timeout=120)


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Fake:
    folder = tmp_path_factory.mktemp("npu")
    driver = folder / "libfakenpu.so.1"
    compiled("fake_npu.cpp", driver, "-Wl,-soname,libfakenpu.so.1")
    link = (str(driver), f"-Wl,-rpath,{folder}", "-ldl")
    compiled("npu_client.cpp", folder / "liblazy.so", "-Wl,-z,lazy", *link)
    compiled("npu_client.cpp", folder / "libnow.so", "-Wl,-z,now", *link)
    compiled("npu_client.cpp", folder / "libnoplt.so", "-fno-plt", "-Wl,-z,now", *link)
    config = folder / "npu.toml"
    config.write_text(DEVICES)
    return Fake(folder, config)


def calls_by_scope(recording: Recording) -> dict[str, dict[str, int]]:
    """By scope: calls of the device's functions below it."""
    found: dict[str, dict[str, int]] = {}
    for thread in recording.threads.values():
        for node in np.flatnonzero(thread.kind == Kind.API).tolist():
            above = int(thread.parent[node])
            while above > 0 and thread.kind[above] != Kind.SCOPE:
                above = int(thread.parent[above])
            scope = recording.strings[int(thread.label[above])]
            name = recording.strings[int(thread.label[node])]
            calls = int(thread.metrics["count"][node])
            found.setdefault(scope, {})[name] = found.get(scope, {}).get(name, 0) + calls
    return found


def run(fake: Fake, folder: Path, *options: str) -> Run:
    program = PROGRAM.format(folder=str(fake.folder))
    done = record(folder, program, "--device-config", str(fake.config), *options)
    assert done.code == 0, done.said
    assert done.out == "20\n", "the program runs as without us"
    return done


WORK = """
SELECT above.name || ' > ' || p.name, sum(m.gpu_ops)::INTEGER
FROM path_metric m JOIN paths p ON p.id = m.node JOIN paths above ON above.id = p.parent
WHERE m.gpu_ops > 0 GROUP BY 1
"""
COMMON = {
    "lazy": {"npuLaunch": 3},
    "now": {"npuLaunch": 3},
    "inside": {"npuLaunch": 1},
    "default": {"npuLaunch": 1},
    # The call that was left counts, and the one after it is not taken for a part of it.
    "leave": {"npuCallback": 1, "npuLaunch": 1},
}
BY_HANDLE = {
    "handle": {"npuLaunch": 1},
    "ctypes": {"npuLaunch": 1, "npuCopy": 1, "npuSync": 1},
    "outer": {"npuOuter": 1},  # and the launch that it makes is part of it
}


def test_audit_sees_what_the_linker_binds(fake: Fake, tmp_path: Path) -> None:
    done = run(fake, tmp_path)
    assert "calls of npu are recorded, by LD_AUDIT" in done.said
    assert "1 calls of devices were left by an exception or longjmp" in done.said
    [recording] = done.recordings
    assert calls_by_scope(recording) == {**COMMON, **BY_HANDLE, "many": {"npuMany": 1}}
    path = tmp_path / "run.dctxrec"
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        work = dict(cursor.execute(WORK).fetchall())
        assert cursor.execute("SELECT name FROM device").fetchall() == [("npu",)]
        bytes_moved = cursor.execute("SELECT sum(bytes) FROM op_stat").fetchall()
    # Below their calls, named by the argument; the copy and what has no name by the function.
    kernels = ("ctypes", "default", "handle", "inside", "leave", "many", "outer")
    assert work == {
        **{f"npuLaunch > {name}": 1 for name in kernels if name not in ("many", "outer")},
        **{f"npuLaunch > {name}": 3 for name in ("lazy", "now")},
        "npuMany > many": 1,
        "npuOuter > outer": 1,
        "npuCopy > npuCopy": 1,
    }
    assert bytes_moved == [(4096,)]


def test_preload_sees_what_is_looked_up_by_name_everywhere(fake: Fake, tmp_path: Path) -> None:
    done = run(fake, tmp_path, "--device-route", "preload")
    assert "by LD_PRELOAD" in done.said
    [recording] = done.recordings
    assert calls_by_scope(recording) == {
        **COMMON,
        "noplt": {"npuLaunch": 3},
        "many": {"npuMany": 2},
        "outer": {"npuLaunch": 1},  # from inside the library; the call itself came by its handle
    }


def test_both_routes_see_all_of_it_once(fake: Fake, tmp_path: Path) -> None:
    done = run(fake, tmp_path, "--device-route", "both")
    assert "by LD_AUDIT + LD_PRELOAD" in done.said
    [recording] = done.recordings
    assert calls_by_scope(recording) == {
        **COMMON,
        **BY_HANDLE,
        "noplt": {"npuLaunch": 3},
        "many": {"npuMany": 2},
    }


def test_children_that_are_no_python_run_as_ever(fake: Fake, tmp_path: Path) -> None:
    options = ("--device-config", str(fake.config), "--device-route", "both")
    done = record_command(tmp_path, ("/bin/sh", "-c", "echo $((1 + 2))"), *options)
    assert (done.code, done.out) == (0, "3\n")


def test_a_wrong_file_is_told_before_the_program_starts(tmp_path: Path) -> None:
    config = tmp_path / "npu.toml"
    config.write_text(DEVICES.replace('"sync"', '"wait"'))
    command = (sys.executable, "-c", "print('ran')")
    done = record_command(tmp_path, command, "--device-config", str(config))
    assert (done.code, done.out) == (2, "")
    place = "device 1 (npu), function 6 (npuSync): role: 'wait'"
    assert done.said.startswith(f"dctx: error: {config}: {place}")
