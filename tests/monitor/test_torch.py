"""Recording of a real torch, against its own profiler and trees written by hand. Skipped without
torch: `make test-torch` installs it."""

import importlib
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.recording.content import parse
from dctx.ingest.recording.kinds import Kind
from dctx.native import Recorder, monitor
from dctx.native._core import Monitor
from dctx.native.monitor.torch_memory import KNOWN
from tests.monitor.recorded import counted, losses, recording

torch: Any = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
    pytest.mark.filterwarnings("ignore"),  # torch's own
]
EVALUATE = "autograd::engine::evaluate_function: "


def backward(name: str) -> str:
    """The two levels that the backward operator `name` adds below its forward operator."""
    return f"{EVALUATE}{name} (backward) > {name} (backward)"


def test_attaches_in_full() -> None:
    with recording() as status:
        assert status.level == "L0", status
        assert status.torch is not None
        assert status.torch.seconds > 0
        assert not [note for note in status.notes if "torch" in note and "usual" not in note]
    assert monitor.status().level == "L4"


def test_forward_and_backward_of_a_layer() -> None:
    weight = torch.ones(4, 3, requires_grad=True)
    bias = torch.ones(4, requires_grad=True)
    x = torch.ones(2, 3)

    def program() -> None:
        product = torch.addmm(bias, x, weight.t())
        loss = product.relu().sum()
        loss.backward()

    program()
    with recording():
        for _ in range(3):
            program()
    found = counted("program", __file__)
    assert found["program+1 > aten::addmm"] == 3
    assert found["program+1 > aten::t"] == 3
    assert found["program+2 > aten::relu"] == 3
    addmm = f"program+1 > aten::addmm > {backward('AddmmBackward0')}"
    assert found[addmm] == 3
    assert found[f"{addmm} > aten::mm"] == 3
    # The gradient of the bias is summed after the backward operator, inside its evaluation.
    evaluation = addmm.rsplit(" > ", 1)[0]
    assert found[f"{evaluation} > aten::sum"] == 3
    assert found[f"program+2 > aten::relu > {backward('ReluBackward0')}"] == 3
    assert found[f"program+3 > {backward('torch::autograd::AccumulateGrad')}"] == 6
    assert losses() == {}
    ran_at = {
        node.ran_at.path()[-1].name
        for thread in monitor.tree()
        for node in thread.root.walk()
        if node.ran_at is not None
    }
    # torch 2.1 has no function of that name between.
    assert ran_at in ({"_engine_run_backward"}, {"backward"})


def test_python_inside_operators() -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.mul(2)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.neg()

    x = torch.ones(3, requires_grad=True)

    def hook(grad: Any) -> Any:
        return grad.abs()

    def program() -> None:
        y = Double.apply(x)
        y.register_hook(hook)
        y.sum().backward()

    with recording():
        program()
    found = counted("program", __file__)
    assert found["program+1 > Double"] == 1
    assert found["program+1 > Double > forward+2 > aten::mul"] == 1
    back = f"program+1 > Double > {backward('DoubleBackward')}"
    assert found[back] == 1
    assert found[f"{back} > backward+2 > aten::neg"] == 1
    # The hook runs before the backward operator that would place it: it stays where it ran.
    assert found["program+3 > hook+1 > aten::abs"] == 1
    assert losses() == {}


@pytest.mark.parametrize("reentrant", [False, True])
def test_recomputed_operators_keep_their_python_frames(reentrant: bool) -> None:
    checkpoint = importlib.import_module("torch.utils.checkpoint").checkpoint
    x = torch.ones(3, requires_grad=True)

    def block(value: Any) -> Any:
        return value.exp()

    def program() -> None:
        y = checkpoint(block, x, use_reentrant=reentrant)
        y.sum().backward()

    with recording():
        program()
    found = counted("program", __file__)
    runs = {path: n for path, n in found.items() if path.endswith("block+1 > aten::exp")}
    assert sum(runs.values()) == 2  # forward, and again in the backward pass
    assert len(runs) == 2
    again = next(path for path in runs if "(backward)" in path)
    assert "CheckpointFunctionBackward" in again if reentrant else "ExpBackward0" in again
    assert any(path.endswith(backward("ExpBackward0")) for path in found)
    assert losses() == {}


def test_backward_on_another_thread() -> None:
    x = torch.ones(3, requires_grad=True)
    kept: list[Any] = []

    def program() -> None:
        kept.append(x.exp().sum())

    with recording():
        program()
        thread = threading.Thread(target=kept[0].backward)
        thread.start()
        thread.join()
    trees = monitor.tree()
    other = next(t for t in trees if t.os_thread != threading.get_native_id() and t.root.children)
    paths = [" > ".join(map(str, n.path())) for n in other.root.walk() if n.count]
    assert any("program > aten::exp > " + backward("ExpBackward0") in path for path in paths)
    assert losses() == {}


def test_scopes_and_optimizer_steps() -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1, foreach=False)

    def program() -> None:
        for step in range(4):
            with torch.autograd.profiler.record_function(f"step {step}"):
                optimizer.zero_grad()
                weight.sum().backward()
                optimizer.step()

    with recording():
        program()
        spans = Monitor.steps()
    found = counted("program", __file__)
    assert found["program+2 > step #"] == 4
    assert found["program+2 > step # > program+4 > aten::sum"] == 4
    assert found["program+2 > step # > program+5 > Optimizer.step#SGD.step"] == 4
    assert [span[1] for span in spans] == [1, 1, 1, 1]
    assert losses() == {}


@pytest.mark.parametrize(("mode", "ways"), [("cached", 1), ("exact", 2), ("launch", 0)])
def test_modes_of_native_frames(mode: str, ways: int) -> None:
    x = torch.ones(3)

    def program() -> None:
        for way in (torch.add, torch.Tensor.add, torch.add):
            way(x, x)

    with recording(native=mode) as status:
        if any("libunwind" in note for note in status.notes):
            pytest.skip("there is no libunwind")
        program()
    nodes = [
        node
        for thread in monitor.tree()
        for node in thread.root.walk()
        if node.frame.name == "aten::add"
    ]
    assert sum(node.count for node in nodes) == 3
    native = [n for n in nodes if n.parent is not None and n.parent.frame.kind == "native"]
    assert len(native) == ways
    assert len(nodes) == max(ways, 1)


def test_native_frames_lead_to_operators() -> None:
    weight = torch.ones(4, 3)

    def program() -> None:
        torch.nn.functional.linear(torch.ones(2, 3), weight)

    with recording(native="cached"):
        for _ in range(3):
            program()
    nodes = {
        node.frame.name: node
        for thread in monitor.tree()
        for node in thread.root.walk()
        if node.count
    }
    assert {name: nodes[name].count for name in ("aten::linear", "aten::t")} == {
        "aten::linear": 3,
        "aten::t": 3,
    }
    frames = nodes["aten::t"].path()
    outer = [f.name for f in frames].index("aten::linear")
    from_python = [f for f in frames[:outer] if f.kind == "native"]
    inside = [f for f in frames[outer:] if f.kind == "native"]
    assert any(f.file.endswith("libtorch_python.so") for f in from_python)
    assert inside
    assert all(f.file.endswith("libtorch_cpu.so") for f in inside)
    assert not any("dctx" in f.file or "libpython" in f.file for f in from_python + inside)
    assert losses() == {}


def _profiled(step: Any, steps: int) -> Any:
    """Records while torch's profiler does; gives the profiler's events."""
    cpu = torch.profiler.ProfilerActivity.CPU
    with recording(), torch.profiler.profile(activities=[cpu]) as profile:
        for _ in range(steps):
            step()
    return list(profile.events())


def test_counts_and_pairs_equal_the_profilers() -> None:
    """Each operator's calls, and which backward operator belongs to which forward one."""
    torch.set_num_threads(1)
    step = importlib.import_module("bench.record_models").tfm()
    for _ in range(2):
        step()
    events = _profiled(step, 3)
    ours: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    linked = numbered = 0
    for thread in monitor.tree():
        for node in thread.root.walk():
            ours[node.frame.name] += node.count
            if node.frame.kind != "backward op" or node.frame.name.startswith(EVALUATE):
                continue
            if node.ran_at is None and "AccumulateGrad" in node.frame.name:
                continue
            numbered += node.count
            above = node.parent
            while above is not None and above.frame.name.startswith(EVALUATE):
                above = above.parent
            if above is not None and above.frame.kind in ("op", "backward op"):
                linked += node.count
                pairs[above.frame.name, node.frame.name] += node.count
    theirs = Counter(e.name for e in events)
    assert {n: c for n, c in ours.items() if c and "Optimizer." not in n} == {
        n: c for n, c in theirs.items() if "Optimizer." not in n
    }
    assert numbered > 500
    calls, cost_ns = Monitor.hook_cost()
    assert calls == 2 * sum(ours.values())
    assert 10 < cost_ns / calls < 100_000
    assert linked / numbered >= 0.99

    forward: dict[int, str] = {}
    expected: Counter[tuple[str, str]] = Counter()
    for event in sorted(events, key=lambda e: e.time_range.start):
        if event.sequence_nr < 0:
            continue
        if event.scope == 1:
            expected[forward[event.sequence_nr], event.name] += 1
        elif not event.name.startswith(EVALUATE):
            forward[event.sequence_nr] = event.name
    assert pairs == expected


def test_memory_does_not_grow_with_the_run() -> None:
    """What 1,800 steps add to 200. What the rest of the process does can only add to it, so that
    the least of a few tries counts."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    x = torch.randn(4, 8)

    def train(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    train(20)
    growth: list[int] = []
    while len(growth) < 5 and min(growth, default=1 << 40) > 500_000:
        with recording():
            seen: list[tuple[int, int]] = []
            for steps in (200, 1_800):  # from one line: it is part of the contexts
                train(steps)
                seen.append((Monitor.node_count(), _resident_bytes()))
        assert seen[0][0] == seen[1][0]
        growth.append(seen[1][1] - seen[0][1])
    assert min(growth) <= 500_000


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_recording_starts_and_stops_under_load() -> None:
    done = threading.Event()

    def work() -> None:
        x = torch.ones(8, requires_grad=True)
        while not done.is_set():
            x.exp().sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            with recording():
                for _ in range(20):
                    torch.ones(2)
            nodes = [n for t in monitor.tree() for n in t.root.walk()]
            assert all(n.self_ns <= n.sum_ns for n in nodes)
            assert sum(n.count for n in nodes if n.frame.name == "aten::ones") >= 20
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(
    torch.__version__.split("+")[0].rpartition(".")[0] not in KNOWN,
    reason="allocations of this torch are not recorded",
)
def test_allocations_belong_to_the_operator_that_made_them(tmp_path: Path) -> None:
    def program() -> Any:
        first = torch.empty(1_000)
        return torch.add(first, 1.0)  # 4,000 bytes more; the first are given back when it ends

    path = tmp_path / "a.dctxrec"
    cpu = torch.profiler.ProfilerActivity.CPU
    with recording(memory=True) as status:
        assert not [note for note in status.notes if "allocations" in note]
        assert Recorder.start(str(path), "{}", interval_ns=10**12)
        for _ in range(3):
            program()
        with torch.profiler.profile(activities=[cpu], profile_memory=True) as profile:
            program()
        program()
        Recorder.stop()
    theirs = [e for e in profile.events() if e.name == "aten::empty" and e.cpu_memory_usage]
    assert [event.cpu_memory_usage for event in theirs] == [4_000]  # nothing is kept from it
    found = parse(path.read_bytes())
    sums: dict[str, tuple[int, int]] = {}
    for (thread, node, kind, _), (allocations, size, _, peak) in found.memory.rows.items():
        tree = found.threads[thread]
        assert kind == 0
        assert peak >= 4_000 or not allocations
        if tree.kind[node] == Kind.OP:
            name = found.strings[int(tree.label[node])]
            before = sums.get(name, (0, 0))
            sums[name] = (before[0] + allocations, before[1] + size)
    # While torch's profiler ran the allocations were its own.
    assert sums["aten::empty"] == sums["aten::add"] == (4, 16_000)


def test_a_torch_that_is_not_known_keeps_its_allocations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "9.9.1+cpu")
    with recording(memory=True) as status:
        [note] = [note for note in status.notes if "allocations" in note]
    assert note.startswith("allocations are not captured: it works with torch 2.13, this is 9.9.1")


def _cannot_attach() -> None:
    raise RuntimeError("libtorch_cpu.so has no symbol")


def test_operators_come_from_the_dispatcher_where_that_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(monitor, "calibrate", _cannot_attach)
    monkeypatch.setattr(torch.version, "cuda", None)
    weight = torch.ones(4, 3)

    def program() -> None:
        torch.nn.functional.linear(torch.ones(2, 3), weight).relu()

    with recording(slow=True) as status:
        assert status.level == "L3"
        [note] = [note for note in status.notes if "dispatcher" in note]
        for _ in range(3):
            program()
    program()  # the mode has ended
    calls: dict[str, int] = {}
    for path, count in counted("program", __file__).items():
        calls[path.rsplit(" > ", 1)[-1]] = count
    assert "several times their cost" in note
    assert calls["aten::relu"] == calls["aten::ones"] == 3
    assert calls["aten::t"] == 3


@pytest.mark.skipif(torch.version.cuda is None, reason="only CUDA builds push NVTX ranges")
def test_cuda_builds_tell_of_their_operators_by_nvtx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "calibrate", _cannot_attach)
    x = torch.ones(3, requires_grad=True)

    def program() -> None:
        with torch.autograd.profiler.record_function("a scope"):
            y = x.mul(2.0)
        y.sum().backward()

    with recording() as status:
        assert status.level == "L2", status.notes
        for _ in range(3):
            program()
        with torch.profiler.profile() as profiler:
            program()  # the program's own profiler has the place
        program()
    program()  # it has ended
    found = counted("program", __file__)
    assert found["program+1 > a scope > program+2 > aten::mul"] == 4
    assert found[f"program+3 > {backward('MulBackward0')}"] == 4
    assert "aten::mul" in {event.name for event in profiler.events() or ()}
    assert losses() == {}


def test_a_torch_that_cannot_be_attached_to_is_told_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(monitor, "calibrate", _cannot_attach)
    monkeypatch.setattr(torch.version, "cuda", None)
    with recording() as status:
        assert status.level == "L4"
        [note] = [note for note in status.notes if "torch" in note]
        torch.ones(2)
    assert "--slow-ok" in note
    assert "torch.profiler" in note
    assert not [n for t in monitor.tree() for n in t.root.walk() if n.frame.kind == "op"]


def test_operators_that_fail_are_ended() -> None:
    def program() -> None:
        for _ in range(3):
            try:
                torch.mm(torch.ones(2, 3), torch.ones(2, 3))
            except RuntimeError:
                torch.zeros(1).neg()

    with recording():
        program()
    found = counted("program", __file__)
    assert found["program+3 > aten::mm"] == 3
    assert found["program+5 > aten::neg"] == 3  # beside the operator that failed, not in it
    assert losses() == {}


def test_python_of_dispatch_modes_hangs_below_the_operator() -> None:
    mode = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Doubled(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), more: Any = None) -> Any:
            return func(*args, **(more or {})).mul(2)

    x = torch.ones(3)

    def program() -> None:
        with Doubled():
            torch.sin(x)

    with recording():
        program()
    found = counted("program", __file__)
    assert found["program+2 > aten::sin"] == 1
    # Newer releases tell a scope of their own around the mode.
    inside = [path for path in found if path.startswith("program+2 > aten::sin > ")]
    for name in ("sin", "mul"):
        ends = f" > __torch_dispatch__+1 > aten::{name}"
        assert [found[path] for path in inside if path.endswith(ends)] == [1]
    assert losses() == {}


def test_the_backward_of_a_backward() -> None:
    x = torch.ones(3, requires_grad=True)

    def program() -> None:
        y = x.exp().sum()
        (grad,) = torch.autograd.grad(y, x, create_graph=True)
        grad.sum().backward()

    with recording():
        program()
    found = counted("program", __file__)
    forward = f"program+1 > aten::exp > {backward('ExpBackward0')}"
    assert found[forward] == 2  # of the loss, and of its gradient
    # The multiplication that the first backward made has a backward operator of its own.
    again = f"{forward} > aten::mul > {backward('MulBackward0')}"
    assert found[again] == 1
    assert losses() == {}


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop"])
@pytest.mark.parametrize("foreach", [False, True])
def test_steps_of_optimizers(name: str, foreach: bool) -> None:
    weight = torch.ones(3, requires_grad=True)
    weight.grad = torch.ones(3)
    optimizer = getattr(torch.optim, name)([weight], lr=0.1, foreach=foreach)

    def program() -> None:
        optimizer.step()

    with recording():
        program()
        program()
        spans = Monitor.steps()
    assert counted("program", __file__)[f"program+1 > Optimizer.step#{name}.step"] == 2
    assert [span[1] for span in spans] == [1, 1]
    assert losses() == {}
