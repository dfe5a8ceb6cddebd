"""GPU work in recordings, with a stand-in for CUPTI that programs drive like a GPU."""

import json
import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from dctx.analyzers.kernel_panel import kernel_panel
from dctx.cli.commands import dctx
from dctx.ingest.model import GpuKind
from dctx.ingest.recording.chunks import FormatError, read_chunks
from dctx.ingest.recording.content import parse
from dctx.ingest.recording.work import WorkKind
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import OpSelection, launch_shapes, op_stats
from dctx.queries.recorded_steps import recorded_steps
from dctx.queries.trace import Trace
from tests.ingest.test_recording import rebuilt
from tests.live.fake_cupti import built_fake
from tests.live.test_record import Run, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

NESTED, DRIVER_ONLY, NO_TIME = 1, 8, 32
GPU = """
import ctypes, os
gpu = ctypes.CDLL(os.environ["DCTX_CUPTI_LIB"])
gpu.fake_launch.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int]
gpu.fake_copy.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
gpu.fake_graph_launch.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
gpu.fake_instantiate.argtypes = [ctypes.c_uint64]
for name in ("fake_capture_end", "fake_instantiate"):
    getattr(gpu, name).restype = ctypes.c_uint64
def launch(name, ns, flags=1, device=0):
    gpu.fake_launch(name.encode(), ns, device, flags)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(built_fake(tmp_path_factory.mktemp("cupti")))


PROGRAM = (
    GPU
    + """
gpu.fake_capture_begin()
launch("early", 0)
before = gpu.fake_instantiate(gpu.fake_capture_end())
import dctx
def layer(ns):
    launch("_Z4gemmIfEvi", ns)
def step(number):
    with dctx.scope("forward"):
        layer(1000 + number)
    with dctx.scope("copies"):
        gpu.fake_copy(1, 4096, 50)
    dctx.step()
for number in range(20):
    step(number)
with dctx.scope("capture"):
    gpu.fake_capture_begin()
    launch("captured", 0)
    graph = gpu.fake_instantiate(gpu.fake_capture_end())
with dctx.scope("replay"):
    for _ in range(3):
        gpu.fake_graph_launch(graph, 700)
    gpu.fake_graph_launch(before, 30)
launch("other GPU", 40, device=1)
launch("no times", 40, 1 | 32)
gpu.fake_wait()
if os.fork() == 0:
    with dctx.scope("child"):
        launch("of the child", 10)
    from dctx.live import session
    session.current.stop()
    os._exit(0)
os.wait()
"""
)


@pytest.fixture(scope="module")
def run(library: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return record(tmp_path_factory.mktemp("gpu"), PROGRAM, DCTX_CUPTI_LIB=library)


def test_every_piece_of_work_stands_where_it_was_launched(run: Run) -> None:
    assert run.code == 0, run.said
    parent = max(run.recordings, key=lambda recording: recording.commit["events"])
    work = parent.work
    labels: list[int] = work.columns["name"].tolist()
    counts: list[int] = work.columns["count"].tolist()
    sums: list[int] = work.columns["sum_ns"].tolist()
    named = zip(labels, counts, sums, strict=True)
    rows = {parent.strings[label]: (count, sum_ns) for label, count, sum_ns in named}
    assert rows == {
        "void gemm<float>(int)": (20, sum(range(1000, 1020))),
        "memcpy HtoD": (20, 20 * 50),
        "captured": (3, 2100),
        "early": (1, 30),
        "other GPU": (1, 40),
    }
    assert parent.losses == {"drops": 1}
    assert work.columns["min_ns"][0] == 1000
    assert work.columns["max_ns"][0] == 1019
    assert work.sum_sq[0] == sum(ns * ns for ns in range(1000, 1020))
    assert (int(work.columns["grid_x"][0]), int(work.columns["block_x"][0])) == (132, 256)
    assert work.columns["kind"].tolist().count(WorkKind.COPY) == 1
    assert work.in_graph.sum() == work.in_unknown_graph.sum() == 1
    assert parent.meta["gpu"] == "CUPTI 13.0"
    assert run.report["kernels"] == 25
    assert f"dctx: CUPTI 13.0: kernels + copies; file {run.report['files'][0]['path']}" in run.said
    [child] = [recording for recording in run.recordings if recording is not parent]
    assert len(child.work) == 0


def test_the_store_shows_it(run: Run) -> None:
    path = run.report["files"][0]["path"]
    with closing(open_trace(Path(path), cache=False)) as store, store.cursor() as cursor:
        nodes = dict(
            cursor.execute(
                """SELECT s.text, p.text FROM path_node n JOIN frame f ON f.id = n.frame
                   JOIN string s ON s.id = f.name JOIN path_node u ON u.id = n.parent
                   JOIN frame g ON g.id = u.frame JOIN string p ON p.id = g.name
                   JOIN layer_name y ON y.code = f.layer WHERE y.name IN ('kernel', 'memcpy')"""
            ).fetchall()
        )
        device_ns = cursor.execute(
            "SELECT device, gpu_ns, kernels FROM path_total WHERE node = 0 AND device >= 0 "
            "ORDER BY device"
        ).fetchall()
        stats = cursor.execute(
            """SELECT s.text, o.count, o.sum_ns, o.min_ns, o.max_ns, o.bytes FROM op_stat o
               JOIN string s ON s.id = o.name ORDER BY o.count DESC, s.text LIMIT 2"""
        ).fetchall()
        devices = cursor.execute("SELECT ordinal, name FROM device ORDER BY ordinal").fetchall()
        notes = [text for (text,) in cursor.execute("SELECT text FROM note").fetchall()]
    assert nodes["void gemm<float>(int)"] == "cudaLaunchKernel"
    assert nodes["captured"] == "cudaLaunchKernel"
    assert nodes["early"].startswith("graph #")
    gemm_ns = sum(range(1000, 1020))
    assert device_ns == [(0, gemm_ns + 1000 + 2100 + 30, 24), (1, 40, 1)]
    assert stats == [
        ("memcpy HtoD", 20, 1000, 50, 50, 20 * 4096),
        ("void gemm<float>(int)", 20, gemm_ns, 1000, 1019, None),
    ]
    assert devices == [(n, f"GPU {n} (model not recorded)") for n in (0, 1)]
    assert any("1 events or pieces of GPU work are not counted" in note for note in notes)
    assert any("45 pieces of GPU work, told by CUPTI 13.0; 3 ran in replays" in n for n in notes)


def test_commands_show_it(run: Run) -> None:
    path = run.report["files"][0]["path"]
    for command in (["overview", path], ["kernel", path, "gemm"], ["info", path]):
        result = CliRunner().invoke(dctx, command)
        assert result.exit_code == 0, result.output
        assert "20" in result.output
    assert "void gemm<float>(int)" in CliRunner().invoke(dctx, ["overview", path]).output


def test_launch_shapes_tell_occupancy_where_the_gpu_is_known(run: Run, tmp_path: Path) -> None:
    """132 blocks of 256 threads, 40 registers, 1,536 bytes: on an H100 six blocks fit, by
    registers (12 warps of 1,280 a partition of 16,384, four of them, eight warps a block)."""
    data = Path(run.report["files"][0]["path"]).read_bytes()
    [number] = [at for at, one in enumerate(read_chunks(data).chunks) if one.type == b"META"]
    meta = json.loads(bytes(read_chunks(data).chunks[number].content))
    h100 = {"ordinal": 0, "name": "H100", "sm_count": 132, "compute_major": 9, "compute_minor": 0}
    known = tmp_path / "known.dctxrec"
    known.write_bytes(rebuilt(data, {number: json.dumps({**meta, "devices": [h100]}).encode()}))
    with closing(open_trace(known, cache=False)) as store:
        trace = Trace(store)
        panels = {op.name: kernel_panel(trace, op) for op in op_stats(trace)}
        shapes = launch_shapes(trace, OpSelection(), 10)
    for panel in panels.values():
        told = panel.shapes if panel.op.kind is GpuKind.KERNEL else ()
        assert sum(use.shape.count for use in told) == (panel.op.count if told else 0)
        assert sum(use.shape.sum_ns for use in told) == (panel.op.sum_ns if told else 0)
    [use] = panels["void gemm<float>(int)"].shapes
    shape, occupancy, waves = use.shape, use.occupancy, use.waves
    assert (shape.grid, shape.block) == ((132, 1, 1), (256, 1, 1))
    assert (shape.registers, shape.shared_bytes, shape.unseen) == (40, 1536, 19)
    assert occupancy is not None
    assert (occupancy.blocks, occupancy.share, occupancy.limiters) == (6, 0.75, ("registers",))
    assert waves is not None
    assert (waves.slots, waves.last_blocks, round(waves.idle_share, 4)) == (792, 132, 0.8333)
    [other] = panels["other GPU"].shapes
    assert other.no_waves == other.no_occupancy
    assert "compute capability" in other.no_occupancy
    # All kernels have the one shape of the stand-in.
    assert [(one.grid, one.registers, one.shared_bytes) for one in shapes] == [
        ((132, 1, 1), 40, 1536)
    ]
    text = CliRunner().invoke(dctx, ["kernel", str(known), "gemm"]).output
    assert "Occupancy at most 75.0 %, limited by registers: 6 blocks fit" in text
    assert "19 further launches are counted with it" in " ".join(text.split())


def test_steps_tell_what_gpus_did_in_them(run: Run) -> None:
    """Each has one kernel and one copy of 4,096 bytes; what comes after the last is in none."""
    path = run.report["files"][0]["path"]
    with closing(open_trace(Path(path), cache=False)) as store:
        kept = recorded_steps(Trace(store))
    assert kept.copied_bytes.tolist() == [4096] * 20
    assert int(kept.gpu_busy_ns.sum()) == sum(range(1000, 1020))
    assert (kept.gpu_busy_ns <= kept.wall_ns).all()


FAILURES = (
    GPU
    + """
import dctx, sys
def attempt(number):
    with dctx.record(f"{sys.argv[0]}.{number}.dctxrec", quiet=False):
        with dctx.scope("part"):
            launch("k", 10)
    gpu.fake_reset()
gpu.fake_set_holder(b"CUPTI for Nsight Systems")
attempt(0)
for number, result in enumerate((15, 35, 40, 999), 1):
    gpu.fake_fail(b"cuptiSubscribe_v2" if result in (15, 999) else b"cuptiActivityEnable", result)
    attempt(number)
gpu.fake_set_version(13)
attempt(5)
attempt(6)
print(gpu.fake_calls(b"cuptiFinalize"), gpu.fake_subscribed())
"""
)


def test_each_failure_is_told_and_costs_the_gpu_work_alone(library: str, tmp_path: Path) -> None:
    script = tmp_path / "failures.py"
    script.write_text(FAILURES)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "DCTX_CUPTI_LIB": library},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "0 0\n"), done.stderr
    lines = [line for line in done.stderr.splitlines() if "GPU work is not recorded" in line]
    expected = ("(CUPTI for Nsight Systems)", "(15)", "(35)", "(40)", "(999)", "11.8 or newer")
    for words, line in zip(expected, lines, strict=True):
        assert words in line
    assert "root or with CAP_SYS_ADMIN" in lines[2]


def test_a_program_that_needs_the_gpu_does_not_start_without(tmp_path: Path) -> None:
    run = record(tmp_path, "print(1)", "--gpu", "require", DCTX_CUPTI_LIB="/nowhere/libcupti.so")
    assert (run.code, run.out) == (125, "")
    assert "dctx: GPU work is not recorded: DCTX_CUPTI_LIB cannot be loaded" in run.said


def test_a_table_of_work_that_cannot_be_is_refused(run: Run) -> None:
    """Damage that check sums do not tell never leads outside of what the recording holds."""
    data = Path(run.report["files"][0]["path"]).read_bytes()
    chunks = read_chunks(data).chunks
    [number] = [at for at, chunk in enumerate(chunks) if chunk.type == b"GMET"]
    chance = random.Random(1)
    refused = 0
    for _ in range(100):
        content = bytearray(chunks[number].content)
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 127, 255))
        try:
            found = parse(rebuilt(data, {number: bytes(content)}))
        except FormatError:
            refused += 1
        else:
            assert found.work.columns["count"].sum() == found.commit["work_records"]
    assert refused > 30
