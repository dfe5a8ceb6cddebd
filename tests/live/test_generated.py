"""Code that torch.compile generates: which lines were made from what."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from dctx.ingest.recording.content import parse
from dctx.live.generated import (
    MOST_BYTES,
    GeneratedCode,
    Origin,
    columns,
    generated_files,
    origins,
)
from dctx.native import Recorder, monitor

CODE = '''\
# Topologically Sorted Source Nodes: [y], Original ATen: [aten.relu]
# Source node to ATen node mapping:
#   y => relu
fused_relu_0 = async_compile.triton('fused_relu_0', """
""")

def call(args):
    # Topologically Sorted Source Nodes: [x], Original ATen: [aten.addmm]
    extern_kernels.addmm(a, b, c, out=buf0)
    del a
    buf1 = empty_strided_cuda((4, 4), (4, 1), torch.float32)
    # Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.relu, aten.add]
    stream0 = get_raw_stream(0)
    buf2 = buf0; del buf0  # reuse
    fused_relu_0.run(buf2, buf1, 16, stream=stream0)
    other.run(buf1)
    # Topologically Sorted Source Nodes: [], Original ATen: []
    return (buf1, )
'''


def test_a_comment_is_of_the_call_that_follows() -> None:
    assert list(origins(CODE)) == [
        Origin(9, "x", "aten.addmm"),
        Origin(15, "y, z", "aten.relu, aten.add"),
    ]


def test_files_of_loaded_modules_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert generated_files() == [] or "torch._inductor" in sys.modules
    texts = {"small.py": CODE, "large.py": CODE + "#" * MOST_BYTES, "gone.py": None}
    monkeypatch.setitem(sys.modules, "torch._inductor", ModuleType("torch._inductor"))
    for name, text in texts.items():
        module = ModuleType(f"torch._inductor.runtime.compile_tasks.{name}")
        module.__file__ = str(tmp_path / name)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        if text is not None:
            (tmp_path / name).write_text(text)
    here = [file for file in generated_files() if file.path.startswith(str(tmp_path))]
    assert [(Path(file.path).name, file.text) for file in here] == [
        ("large.py", ""),
        ("small.py", CODE),
    ]
    assert [len(file.origins) for file in here] == [2, 2]
    (paths, texts_of), (rows, lines, nodes, operators) = columns(here)
    assert [Path(path).name for path in paths] == ["large.py", "small.py"]
    assert texts_of == ["", CODE]
    assert (rows, lines) == ([0, 0, 1, 1], [9, 15, 9, 15])
    assert (nodes[1], operators[1]) == ("y, z", "aten.relu, aten.add")


def test_files_are_kept_while_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, and numbered over all that were told."""
    monkeypatch.setitem(sys.modules, "torch._inductor", ModuleType("torch._inductor"))
    monkeypatch.setitem(sys.modules, "torch._inductor.codecache", ModuleType("codecache"))
    told: list[str] = []
    path = tmp_path / "run.dctxrec"

    def generate(name: str) -> None:
        (tmp_path / name).write_text(CODE)
        module = ModuleType(f"torch._inductor.runtime.compile_tasks.{name}")
        module.__file__ = str(tmp_path / name)
        monkeypatch.setitem(sys.modules, module.__name__, module)

    monitor.init(monitor.Source.SCOPE)
    assert Recorder.start(str(path), "{}", interval_ns=10**12)
    kept = GeneratedCode()
    try:
        for name in ("b.py", "a.py"):
            generate(name)
            for _ in range(2):
                kept.keep(told.append)
                assert Recorder.snapshot()
        files = parse(path.read_bytes()).sources.files()
        kept.close(told.append)
    finally:
        Recorder.stop()
        monitor.finalize()
    assert parse(path.read_bytes()).sources.files() == files
    mine = [file for file in files if file.path.startswith(str(tmp_path))]
    assert [Path(file.path).name for file in mine] == ["b.py", "a.py"]
    assert [[line.line for line in file.lines] for file in mine] == [[9, 15]] * 2
    assert told == []
