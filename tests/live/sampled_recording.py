"""Makes the recording with sampled instructions that tests of the application open.

`python -m tests.live.sampled_recording FOLDER` writes FOLDER/sampled.dctxrec: what `dctx record
--pc serialized` records of a program whose GPU is the stand-in for CUPTI, with the GPU that torch
would have told. Its code is tests/ingest/data/saxpy.cu."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from dctx.ingest.recording.chunks import read_chunks
from tests.ingest.test_recording import rebuilt
from tests.live.fake_cupti import built_fake
from tests.live.test_record import record

SOURCE = Path(__file__).parents[1] / "ingest" / "data" / "saxpy.cu"
PROGRAM = f"""
import ctypes, os
gpu = ctypes.CDLL(os.environ["DCTX_CUPTI_LIB"])
gpu.fake_launch.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int]
gpu.fake_copy.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
gpu.fake_plan_sample.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                 ctypes.c_char_p, ctypes.c_uint32]
gpu.fake_crc.restype = ctypes.c_uint64
gpu.fake_crc.argtypes = gpu.fake_load_module.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
import dctx
SAXPY, FILL = b"_Z5saxpyifPKfPf", b"_Z4filliPf"
with dctx.scope("warm"):
    pass
code = open({str(SOURCE.with_name("saxpy_sm90.cubin"))!r}, "rb").read()
gpu.fake_make_context()
gpu.fake_load_module(code, len(code))
crc = gpu.fake_crc(code, len(code))
for kernel, offset, reason, samples in (
    (SAXPY, 0xB0, b"long_scoreboard", 60), (SAXPY, 0xB0, b"long_scoreboard_not_issued", 40),
    (SAXPY, 0xB0, b"wait", 8), (SAXPY, 0xC0, b"wait", 12),
    (SAXPY, 0xC0, b"selected", 10), (SAXPY, 0x40, b"wait", 10), (FILL, 0x40, b"wait", 5),
):
    gpu.fake_plan_sample(kernel, crc, offset, reason, samples)
def forward():
    with dctx.scope("forward"):
        gpu.fake_copy(1, 4_194_304, 90_000)
        for _ in range(3):
            gpu.fake_launch(SAXPY, 400_000, 0, 1)
def backward():
    with dctx.scope("backward"):
        gpu.fake_launch(SAXPY, 500_000, 0, 1)
        gpu.fake_launch(FILL, 40_000, 0, 1)
for _ in range(4):
    forward()
    backward()
    dctx.step()
gpu.fake_launch(b"plain", 1000, 0, 1)
"""
H100 = {
    "ordinal": 0, "name": "NVIDIA H100 80GB HBM3", "sm_count": 132, "memory_bytes": 85_017_493_504,
    "compute_major": 9, "compute_minor": 0,
}  # fmt: skip


def sampled_recording(folder: Path, library: str) -> bytes:
    """The content of the file. `library`: the stand-in for CUPTI."""
    done = record(
        folder, PROGRAM, "--pc", "serialized", "--pc-period", "10", DCTX_CUPTI_LIB=library
    )
    assert done.code == 0, done.said
    data = (folder / "run.dctxrec").read_bytes()
    chunks = read_chunks(data).chunks
    [number] = [at for at, one in enumerate(chunks) if one.type == b"META"]
    meta = json.loads(bytes(chunks[number].content))
    meta |= {"devices": [H100], "host": "node", "argv": ["program.py"]}
    return rebuilt(data, {number: json.dumps(meta).encode()})


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        library = str(built_fake(Path(scratch)))
        target = Path(sys.argv[1]) / "sampled.dctxrec"
        target.write_bytes(sampled_recording(Path(scratch), library))
