"""`dctx record` around real torch programs. Skipped without torch, as `make test-torch` has it."""

import importlib.util
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dctx.ingest.model import Layer
from dctx.ingest.recording.content import Recording
from dctx.ingest.recording.kinds import Kind
from dctx.ingest.registry import open_trace
from dctx.queries.generated import origin_at
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from tests.live.test_record import Run, record

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
]

TRAINING = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)

def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
"""


def calls(recording: Recording, name: str, kind: Kind = Kind.OP) -> int:
    return sum(
        int(thread.metrics["count"][node])
        for thread in recording.threads.values()
        for node in (thread.kind == kind).nonzero()[0].tolist()
        if recording.strings[int(thread.label[node])] == name
    )


def lost(run: Run) -> dict[str, int]:
    return {name: n for r in run.recordings for name, n in r.losses.items() if n}


def test_a_training_is_recorded(tmp_path: Path) -> None:
    run = record(tmp_path, TRAINING + "train(5)\n")
    assert run.code == 0, run.said
    [recording] = run.recordings
    assert recording.meta["level"] == "L0"
    assert "operators + Python + backward; file" in run.said
    assert run.report["steps"] == 5
    assert calls(recording, "aten::linear") == 10
    assert calls(recording, "AddmmBackward0", Kind.BACKWARD_OP) == 10
    assert calls(recording, "Optimizer.step#SGD.step", Kind.SCOPE) == 5
    assert lost(run) == {}
    for thread in recording.threads.values():
        assert int(thread.metrics["self_ns"].sum()) == thread.top_level_ns
    path = tmp_path / "run.dctxrec"
    with closing(open_trace(path, cache=False)) as store, store.cursor() as cursor:
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        [(ops,)] = cursor.execute(
            """SELECT sum(m.calls) FROM path_metric m JOIN path_node n ON n.id = m.node
               JOIN frame f ON f.id = n.frame JOIN layer_name y ON y.code = f.layer
               JOIN string s ON s.id = f.name WHERE y.name = 'op' AND s.text = 'aten::linear'"""
        ).fetchall()
        [(below,)] = cursor.execute(
            """SELECT count(*) FROM path_node b JOIN frame f ON f.id = b.frame
               JOIN layer_name y ON y.code = f.layer
               JOIN path_node o ON o.id = b.parent JOIN frame g ON g.id = o.frame
               JOIN layer_name z ON z.code = g.layer
               WHERE y.name = 'backward' AND z.name = 'op'"""
        ).fetchall()
    assert ops == 10
    assert below > 3
    assert facts["capability.cpu_operators"] == ""


def test_the_file_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """It has a row a context, however many steps ran, and at most 200 rows of steps. Its bytes
    say less: a column is as wide as its greatest value, and what a slower machine has to tell of
    the processor is more."""
    rows: list[tuple[int, ...]] = []
    for steps in (200, 2000):
        folder = tmp_path / str(steps)
        folder.mkdir()
        run = record(folder, TRAINING + f"train({steps})\n", "--snapshot", "0.5")
        assert run.report["steps"] == steps
        [file] = run.report["files"]
        assert file["bytes"] < 50_000
        [recording] = run.recordings
        assert len(recording.steps) <= 200
        trees = recording.threads.values()
        measured = sum(int((tree.metrics["count"] > 0).sum()) for tree in trees)
        contexts = sum(len(tree.kind) for tree in trees)
        rows.append((contexts, measured, len(recording.strings), len(recording.codes)))
    assert rows[0] == rows[1]


def test_steps_of_an_optimizer_can_be_chosen(tmp_path: Path) -> None:
    run = record(tmp_path, TRAINING + "train(10)\n", "--start-step", "4", "--steps", "2")
    [recording] = run.recordings
    assert calls(recording, "aten::linear") == 4


def test_workers_of_a_data_loader_have_files_of_their_own(tmp_path: Path) -> None:
    program = (
        TRAINING
        + """
class Data(torch.utils.data.Dataset):
    def __len__(self): return 12
    def __getitem__(self, i): return torch.ones(3).mul(i)
if __name__ == "__main__":
    train(2)
    for method in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(
            Data(), batch_size=2, num_workers=2, multiprocessing_context=method)
        assert len(list(loader)) == 6
"""
    )
    run = record(tmp_path, program)
    assert run.code == 0, run.said
    assert len(run.recordings) == 5
    assert sum(calls(recording, "aten::mul") for recording in run.recordings) >= 24
    parent = [r for r in run.recordings if calls(r, "aten::linear")]
    assert [calls(r, "aten::linear") for r in parent if calls(r, "aten::addmm") == 4] == [4]
    assert all(recording.complete for recording in run.recordings)


def test_ranks_of_torchrun(tmp_path: Path) -> None:
    script = tmp_path / "ranks.py"
    script.write_text(
        TRAINING
        + """
import torch.distributed as dist
dist.init_process_group("gloo")
train(3)
dist.all_reduce(torch.ones(2))
dist.destroy_process_group()
"""
    )
    launch = f"""
import sys
from torch.distributed.run import main
main(["--nproc-per-node", "2", "--master-port", "29591", {str(script)!r}])
"""
    run = record(tmp_path, launch)
    assert run.code == 0, run.said
    trained = [r for r in run.recordings if calls(r, "aten::linear")]
    assert sorted(r.meta["rank"] for r in trained) == [0, 1]
    assert {r.meta["world_size"] for r in trained} == {2}
    assert [calls(r, "aten::linear") for r in trained] == [6, 6]


def test_shapes_are_those_of_the_calls(tmp_path: Path) -> None:
    body = """
layer = torch.nn.Linear(3, 4)
for size in (2, 5, 2):
    layer(torch.ones(size, 3)).sum().backward()
"""
    run = record(tmp_path, "import torch" + body, "--shapes")
    [recording] = run.recordings
    [thread] = [t for t in recording.threads.values() if (t.kind == Kind.OP).any()]
    found: dict[tuple[str, str, str], int] = {}
    for (_, node, number), (count, ns) in recording.calls.counts.items():
        assert ns > 0
        rows: list[int] = recording.calls.sets[number].tolist()
        shapes, types = (recording.strings[row] for row in rows)
        found[recording.strings[int(thread.label[node])], shapes, types] = count
    linear = ("aten::linear", '["float", "float", "float"]')
    assert found[linear[0], "[[2, 3], [4, 3], [4]]", linear[1]] == 2
    assert found[linear[0], "[[5, 3], [4, 3], [4]]", linear[1]] == 1
    assert found["AddmmBackward0", "[[2, 4]]", '["float"]'] == 2
    assert recording.meta["shapes"] is True


def test_lines_of_compiled_code_tell_what_they_were_made_from(tmp_path: Path) -> None:
    """Needs the C++ compiler that torch.compile needs."""
    body = """
import torch
import torch._inductor.config as config
config.cpp.enable_kernel_profile = True
config.force_disable_caches = True
layer = torch.nn.Linear(8, 16)

@torch.compile
def program(x):
    return layer(x).relu().sum()

for _ in range(3):
    program(torch.ones(4, 8)).backward()
"""
    run = record(tmp_path, body, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "inductor"))
    assert run.code == 0, run.said
    [recording] = run.recordings
    files = recording.sources.files()
    assert all("def call(self, args):" in file.text for file in files)
    with closing(open_trace(tmp_path / "run.dctxrec", cache=False)) as store:
        trace = Trace(store)
        tree = CallTree.load(trace)
        made: dict[str, set[str]] = {}
        for node in range(1, len(tree.last)):
            if tree.layer(node) is Layer.OP:
                origin = origin_at(trace, tree, node)
                if origin is not None:
                    made.setdefault(tree.names(node)[-1], set()).add(origin.operators)
        names = {tree.names(node)[-1] for node in range(1, len(tree.last))}
    assert any("aten.addmm" in operators for operators in made["aten::addmm"])
    assert any("cpp_fused" in name for name in names)
