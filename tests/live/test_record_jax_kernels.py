"""`dctx record --jax-route kernels`: kernels of XLA by name, with stand-ins for CUPTI and for what
JAX leaves of its programs; and with the programs of the real JAX, where it is installed."""

import importlib.util
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from dctx.cli.commands import dctx
from dctx.ingest.recording.chunks import FormatError, read_chunks
from dctx.ingest.recording.content import parse
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store
from dctx.native import Recorder
from dctx.queries.operations import compiled_operations
from dctx.queries.trace import Trace
from tests.ingest.test_recording import rebuilt
from tests.live.fake_cupti import built_fake
from tests.live.test_record import Run, record
from tests.live.test_record_gpu import GPU
from tests.live.test_record_jax import TRAINING
from tests.xplane_file import Stacks, computation, hlo_proto, instruction

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")

JAX = """
import os, shutil, types
__version__ = "0.0"
listeners = []
monitoring = types.SimpleNamespace(register_event_duration_secs_listener=listeners.append)
profiler = types.SimpleNamespace(start_trace=lambda folder: None)
def compile_all(programs):
    [folder] = [f for f in os.environ["XLA_FLAGS"].split() if f.startswith("--xla_dump_to=")]
    shutil.copytree(programs, folder.partition("=")[2], dirs_exist_ok=True)
    for listener in listeners:
        listener("/jax/core/compile/backend_compile_duration", 0.5)
"""
PROGRAM = (
    GPU
    + """
import jax, dctx, pathlib
flags = os.environ["XLA_FLAGS"].split()
folder = pathlib.Path(flags[1].partition("=")[2])
print(flags[0], flags[2], folder.is_dir())
jax.compile_all(os.environ["PROGRAMS"])
print(os.environ["XLA_FLAGS"])
pathlib.Path(os.environ["PROGRAMS"], "folder").write_text(str(folder))
with dctx.scope("train"):
    for number in range(3):
        launch("loop_add_fusion_3", 1000 + number)
    launch("loop_add_fusion_3.kd", 500)
    launch("wrapped_add__1", 60)
    launch("fusion_1", 70)
    launch("mul_1", 9)
    launch("sm90_gemm_f32", 800)
    gpu.fake_copy(1, 64, 5)
jax.profiler.start_trace("own")
launch("after", 1)
"""
)
STEP, LOSS = ("train.py", "step", 20), ("train.py", "loss", 12)


def program(name: str, key: int, *, line: int = 30) -> bytes:
    """A program with two fusions, one of them at a `line` of its own, and a call of a library."""
    stacks = Stacks()
    loss, other = stacks.path(STEP, LOSS), stacks.path(STEP, ("train.py", "norm", line))
    inner = computation(
        5,
        "fused",
        instruction("p0", "parameter"),
        instruction("mul.1", "multiply", f"jit({name})/mul", stack=loss),
    )
    backward = f"jit({name})/transpose(jvp(norm))/add"
    main = computation(
        9,
        "main",
        instruction("loop_add_fusion.3", "fusion", f"jit({name})/add", stack=loss, calls=[5]),
        instruction("fusion.1", "fusion", backward, stack=other, calls=[5]),
        instruction("custom-call.1", "custom-call", f"jit({name})/dot"),
    )
    return hlo_proto(f"jit_{name}", main, inner, key=key, stacks=stacks)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(built_fake(tmp_path_factory.mktemp("cupti")))


@pytest.fixture(scope="module")
def run(library: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "jax.py").write_text(JAX)
    programs = folder / "programs"
    programs.mkdir()
    wrapped = instruction("wrapped_add", "fusion", "jit(init)/add", source=("train.py", 3))
    init = hlo_proto("jit_init", computation(1, "main", wrapped), key=3)
    for name, data in (
        ("module_0001.jit_step.sm_9.0_gpu_after_optimizations", program("step", 1)),
        ("module_0002.jit_step.sm_9.0_gpu_after_optimizations", program("step", 2, line=31)),
        ("module_0003.jit_init.sm_9.0_gpu_after_optimizations", init),
        # Neither of these runs kernels.
        ("module_0001.jit_step.cpu_after_optimizations", program("other", 1)),
        ("module_0004.jit_step.before_optimizations", program("before", 4)),
    ):
        (programs / f"{name}.hlo.pb").write_bytes(data)
    return record(
        folder, PROGRAM, "--jax-route", "kernels",
        DCTX_CUPTI_LIB=library, XLA_FLAGS="--xla_of_the_user=1", PROGRAMS=str(programs),
    )  # fmt: skip


def kernel_paths(store: Store) -> dict[tuple[str, ...], tuple[int, int]]:
    """Runs and ns of kernels, by path from the jitted function on. Kernels of names that differ in
    numbers are one context."""
    with store.cursor() as cursor:
        rows = cursor.execute(
            """SELECT n.id, n.parent, y.name, s.text, coalesce(f.line, 0), m.kernels, m.gpu_ns
               FROM path_node n JOIN frame f ON f.id = n.frame JOIN string s ON s.id = f.name
               JOIN layer_name y ON y.code = f.layer LEFT JOIN path_metric m ON m.node = n.id
               ORDER BY n.id"""
        ).fetchall()
    paths: dict[int, tuple[str, ...]] = {}
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for node, parent, layer, name, line, kernels, gpu_ns in rows:
        shown = f"{name}:{line}" if layer == "python" and line > 0 else name
        paths[node] = (*paths.get(parent, ()), shown)
        if layer == "kernel":
            path = paths[node]
            first = next(at for at, step in enumerate(path) if step.startswith("jit("))
            assert path[first - 1].startswith("launch:")  # what the program was in stands above
            found[path[first:]] = kernels, gpu_ns
    return found


def test_the_flags_of_xla_are_the_programs_again(run: Run) -> None:
    assert run.code == 0, run.said
    first, second = run.out.splitlines()
    assert first == "--xla_of_the_user=1 --xla_dump_hlo_as_proto True"
    assert second == "--xla_of_the_user=1"
    folder = Path(run.report["files"][0]["path"]).parent / "programs" / "folder"
    assert not Path(folder.read_text()).exists()
    assert "jax 0.0: programs, for the names of kernels; CUPTI 13.0" in run.said
    assert "the program starts jax.profiler: GPU work is left to it" in run.said


def test_kernels_stand_below_the_lines_of_their_operation(run: Run) -> None:
    path = run.report["files"][0]["path"]
    with closing(open_trace(Path(path), cache=False)) as store:
        found = kernel_paths(store)
        operations = {one.name: one for one in compiled_operations(Trace(store), 0)}
        with store.cursor() as cursor:
            notes = [text for (text,) in cursor.execute("SELECT text FROM note").fetchall()]
            [[total]] = cursor.execute(
                "SELECT sum(gpu_ns) FROM path_total WHERE node = 0 AND device >= 0"
            ).fetchall()
    steps, call = ("jit(step)", "step:20"), "cudaLaunchKernel"
    fusion = (*steps, "loss:12", "loop_add_fusion.3", call)
    assert found == {
        (*fusion, "loop_add_fusion_#"): (3, 3003),
        (*fusion, "loop_add_fusion_#.kd"): (1, 500),
        ("jit(init)", "train.py:3", "wrapped_add", call, "wrapped_add__#"): (1, 60),
        # The programs differ in where it comes from.
        (*steps, call, "fusion_#"): (1, 70),
        # Neither is the name of an instruction that runs by itself: one program calls libraries.
        ("jit(step)", call, "mul_#"): (1, 9),
        ("jit(step)", call, "sm90_gemm_f32"): (1, 800),
    }
    assert total == sum(ns for _, ns in found.values()) + 5
    assert [part.name for part in operations["loop_add_fusion.3"].parts] == ["mul.1"]
    assert operations["wrapped_add"].source == "train.py:3"
    assert any("5 runs of kernels are of operations of XLA (3 programs)" in n for n in notes)
    assert any("1 runs of kernels have a name that different operations have" in n for n in notes)
    assert any("2 runs of kernels have the name of no operation" in n for n in notes)


def test_commands_show_it(run: Run) -> None:
    path = run.report["files"][0]["path"]
    for command in (["overview", path], ["info", path], ["kernel", path, "wrapped_add"]):
        result = CliRunner().invoke(dctx, command)
        assert result.exit_code == 0, result.output
    # What operations are, is no call that they were made with.
    result = CliRunner().invoke(dctx, ["report", path, "--sheet", "op_calls"])
    assert result.exit_code == 2
    assert "no arguments of operators are recorded" in result.output


def test_programs_that_cannot_be_unpacked_are_damage(run: Run) -> None:
    data = Path(run.report["files"][0]["path"]).read_bytes()
    [number] = [at for at, one in enumerate(read_chunks(data).chunks) if one.type == b"XHLO"]
    assert len(parse(data).programs) == 3
    broken = Recorder.table([[1], ["jit_step"], [b"no deflate"]])
    with pytest.raises(FormatError, match=r"XHLO chunk .* holds values that cannot be"):
        parse(rebuilt(data, {number: broken}))


def test_programs_without_gpu_work_are_no_recording(tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text(JAX)
    programs = tmp_path / "programs"
    programs.mkdir()
    name = "module_0001.jit_step.cpu_after_optimizations.hlo.pb"
    (programs / name).write_bytes(program("step", 1))
    text = "import jax, os; jax.compile_all(os.environ['PROGRAMS'])"
    run = record(tmp_path, text, "--jax-route", "kernels", XLA_FLAGS="", PROGRAMS=str(programs))
    assert run.code == 0, run.said
    assert not run.recordings


def test_gpu_work_is_needed() -> None:
    asked = ["record", "--jax-route", "kernels", "--gpu", "off", "--", "true"]
    result = CliRunner().invoke(dctx, asked)
    assert result.exit_code == 2
    assert "--jax-route kernels needs the sources op and gpu" in result.output


@pytest.mark.frameworks
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_programs_of_the_real_jax_are_kept(library: str, tmp_path: Path) -> None:
    """JAX runs on the CPU: the stand-in for CUPTI runs kernels of the names that it compiled."""
    flags = """
import jax, pathlib
[folder] = [f for f in os.environ["XLA_FLAGS"].split() if f.startswith("--xla_dump_to=")]
"""
    more = """
from dctx.native import StringPool, read_hlo
train(2, False)
folder = pathlib.Path(folder.partition("=")[2])
[file] = folder.glob("*.jit_train_step.*after_optimizations.hlo.pb")
pool = StringPool()
rows = read_hlo(file.read_bytes(), pool=pool).instructions()
named = zip(rows["name"].tolist(), rows["opcode"].tolist())
names = {pool[name] for name, opcode in named if pool[opcode] == "fusion"}
for name in sorted(names):
    launch(name.replace(".", "_").replace("-", "_"), 100)
print(len(names))
"""
    run = record(
        tmp_path, GPU + flags + TRAINING + more, "--jax-route", "kernels",
        DCTX_CUPTI_LIB=library, JAX_PLATFORMS="cpu", XLA_FLAGS="",
    )  # fmt: skip
    assert run.code == 0, run.said
    [recording] = run.recordings
    assert recording.meta["jax"]["compile"]["xla"][0] >= 1
    assert not recording.window
    with closing(open_trace(tmp_path / "run.dctxrec", cache=False)) as store:
        found = kernel_paths(store)
    fusions = int(run.out)
    assert fusions >= 1
    inside = [path for path in found if path[0] == "jit(train_step)"]
    assert len(inside) == fusions == len(found)
    assert sum(kernels for kernels, _ in found.values()) == fusions
    # From the jitted function over the Python lines to the operation.
    assert all(any(step.startswith("train_step:") for step in path) for path in inside)
