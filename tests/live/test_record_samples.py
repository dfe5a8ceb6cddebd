"""Samples of instructions in recordings, with a stand-in for CUPTI: from the launch to the stalls
of kernels in the store."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.recording.cubin_lines import can_read_lines
from dctx.ingest.recording.notes import notes_of
from dctx.ingest.registry import open_trace
from tests.live.fake_cupti import built_fake
from tests.live.test_record import Run, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")
CUBIN = Path(__file__).parents[1] / "ingest" / "data" / "saxpy_sm90.cubin"
PROGRAM = f"""
import ctypes, os
gpu = ctypes.CDLL(os.environ["DCTX_CUPTI_LIB"])
gpu.fake_launch.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int]
gpu.fake_plan_sample.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                 ctypes.c_char_p, ctypes.c_uint32]
gpu.fake_crc.restype = ctypes.c_uint64
gpu.fake_crc.argtypes = gpu.fake_load_module.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
import dctx
SAXPY = b"_Z5saxpyifPKfPf"
with dctx.scope("warm"):
    pass
code = open({str(CUBIN)!r}, "rb").read()
gpu.fake_make_context()
gpu.fake_load_module(code, len(code))
crc = gpu.fake_crc(code, len(code))
gpu.fake_plan_sample(SAXPY, crc, 0xB0, b"long_scoreboard", 10)
gpu.fake_plan_sample(SAXPY, crc, 0xB0, b"long_scoreboard_not_issued", 4)
gpu.fake_plan_sample(SAXPY, crc, 0xC0, b"selected", 3)
for scope, times in (("forward", 3), ("backward", 1)):
    with dctx.scope(scope):
        for _ in range(times):
            gpu.fake_launch(SAXPY, 1000, 0, 1)
gpu.fake_launch(b"plain", 1000, 0, 1)
"""
STALLS = """
WITH RECURSIVE scope AS (
  SELECT id, id AS node, name, parent, layer FROM paths
  UNION ALL
  SELECT p.id, below.node, p.name, p.parent, p.layer
  FROM scope below JOIN paths p ON p.id = below.parent WHERE below.layer <> 'annotation'
)
SELECT w.kernel, w.reason, w.offset_bytes, w.file, w.line, w.spread, w.samples, w.not_issued,
       scope.name
FROM stalls w JOIN scope ON scope.node = w.node AND scope.layer = 'annotation'
ORDER BY w.reason, scope.name
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(built_fake(tmp_path_factory.mktemp("cupti")))


def run(library: str, folder: Path, *options: str) -> Run:
    done = record(folder, PROGRAM, *options, DCTX_CUPTI_LIB=library)
    assert done.code == 0, done.said
    return done


def stalls(folder: Path) -> list[tuple[Any, ...]]:
    path = folder / "run.dctxrec"
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        return cursor.execute(STALLS).fetchall()


KERNEL = "saxpy(int, float, float const*, float*)"
LOAD: tuple[object, ...] = (KERNEL, "long_scoreboard", 0xB0)
ISSUED: tuple[object, ...] = (KERNEL, "selected", 0xC0)
LINES = {0xB0: 2, 0xC0: 8} if can_read_lines() else {}
FILE = "/src/saxpy.cu" if can_read_lines() else None


def row(place: tuple[object, ...], spread: bool, samples: int, idle: int, scope: str) -> object:
    line = LINES.get(int(str(place[2])))
    return (*place, FILE, line, spread, samples, idle, scope)


def test_serialized_samples_are_of_their_launch_and_line(library: str, tmp_path: Path) -> None:
    [recording] = run(library, tmp_path, "--pc", "serialized", "--pc-period", "10").recordings
    notes = [text for _, _, text in notes_of("It", recording)]
    assert any("kernels ran one after the other" in text for text in notes)
    assert stalls(tmp_path) == [
        row(LOAD, False, 10, 4, "backward"),
        row(LOAD, False, 30, 12, "forward"),
        row(ISSUED, False, 3, 0, "backward"),
        row(ISSUED, False, 9, 0, "forward"),
    ]


def test_continuous_samples_are_shared_out_by_gpu_time(library: str, tmp_path: Path) -> None:
    done = run(library, tmp_path, "--pc", "continuous")
    [recording] = done.recordings
    assert int(recording.samples.columns["samples"].sum()) == 52
    assert sorted(recording.samples.code.values()) == [CUBIN.read_bytes()]
    # Kernel time is 3 to 1: the samples are 40 and 12.
    assert stalls(tmp_path) == [
        row(LOAD, True, 10, 4, "backward"),
        row(LOAD, True, 30, 12, "forward"),
        row(ISSUED, True, 3, 0, "backward"),
        row(ISSUED, True, 9, 0, "forward"),
    ]


def test_without_the_option_nothing_is_sampled(library: str, tmp_path: Path) -> None:
    [recording] = run(library, tmp_path).recordings
    assert len(recording.samples) == 0
    assert recording.samples.code == {}
    assert stalls(tmp_path) == []
