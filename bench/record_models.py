"""The two small training loops that recording is measured on. Run as a program: one measurement
in a process of its own, as JSON."""

import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dctx.live.api import record
from dctx.native import monitor
from dctx.native._core import Monitor, TorchIdle

Step = Callable[[], None]
WARM_STEPS = 20


def mlp() -> Step:
    """64-64-64-10 ReLU, batch 32, SGD with momentum: 197 operators a step."""
    torch: Any = importlib.import_module("torch")
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def tfm() -> Step:
    """4 pre-norm transformer blocks of tiny tensors, AdamW: about 3,500 operators a step, far
    shorter than those of real models."""
    torch: Any = importlib.import_module("torch")
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    width, heads, length, batch, vocabulary = 32, 4, 16, 2, 100

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            nn.Module.__init__(self)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x: Any) -> Any:
            shape = (batch, length, heads, width // heads)
            q, k, v = (t.view(*shape).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
            scores = q @ k.transpose(-2, -1) / (width // heads) ** 0.5
            mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
            return self.out(mixed)

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            nn.Module.__init__(self)
            self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(4))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, tokens: Any) -> Any:
            x = self.token(tokens) + self.place(torch.arange(length))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    tokens = torch.randint(0, vocabulary, (batch, length))
    targets = torch.randint(0, vocabulary, (batch * length,))

    def step() -> None:
        optimizer.zero_grad()
        logits = model(tokens).view(-1, vocabulary)
        functional.cross_entropy(logits, targets).backward()
        optimizer.step()

    return step


def large() -> Step:
    """40 products of matrices that take some 40 µs each: operators as real models have them."""
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(0)
    x = torch.randn(128, 128)
    rotation = torch.linalg.qr(torch.randn(128, 128)).Q  # keeps the values' size

    def step() -> None:
        y = x
        for _ in range(40):
            y = y @ rotation

    return step


MODELS: dict[str, tuple[Callable[[], Step], int]] = {
    "mlp": (mlp, 400),
    "tfm": (tfm, 25),
    "large": (large, 50),
}
"""Each with the steps that are timed at a stretch."""
MODES = ("idle", "dctx", "profiler", "with_stack")
"""`idle`: torch tells a function of its events that does nothing. What every profiler pays."""
NATIVE_MODES = ("cached", "exact")


def _cpu_s(step: Step, steps: int) -> float:
    began = 0.0
    for number in range(steps + 2):  # one loop: the line that calls is part of the contexts
        if number == 2:  # what a mode does at first is not its cost per event
            began = time.process_time()
        step()
    return time.process_time() - began


def _timed(mode: str, step: Step, steps: int) -> float:
    if mode == "base":
        return _cpu_s(step, steps)
    if mode == "idle":
        told = TorchIdle()
        try:
            return _cpu_s(step, steps)
        finally:
            del told
    if mode in ("dctx", *NATIVE_MODES):
        native: Any = mode if mode in NATIVE_MODES else "off"
        monitor.init(native=native)
        try:
            return _cpu_s(step, steps)
        finally:
            monitor.finalize()
    torch: Any = importlib.import_module("torch")
    cpu = torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[cpu], with_stack=mode == "with_stack"):
        return _cpu_s(step, steps)


def overheads(name: str, rounds: int) -> dict[str, list[float]]:
    """CPU time with each mode as a multiple of that without, one value a round: each mode between
    two runs without, whose mean it is compared with. And `ns per event` of dctx."""
    make, steps = MODELS[name]
    step = make()
    for _ in range(WARM_STEPS):
        step()
    monitor.init()
    step()
    monitor.finalize()
    events = sum(n.count for thread in monitor.tree() for n in thread.root.walk())
    ratios: dict[str, list[float]] = {mode: [] for mode in (*MODES, "ns per event")}
    for _ in range(rounds):
        times = [_timed("base", step, steps)]
        for mode in MODES:
            times += [_timed(mode, step, steps), _timed("base", step, steps)]
        for place, mode in enumerate(MODES):
            before, during, after = times[2 * place : 2 * place + 3]
            base = (before + after) / 2
            ratios[mode].append(during / base)
            if mode == "dctx":
                ratios["ns per event"].append((during - base) / (steps * events) * 1e9)
    ratios["events per step"] = [float(events)]
    return ratios


def natives(name: str, rounds: int) -> dict[str, list[float]]:
    """CPU time with native frames as a multiple of that without dctx, likewise."""
    make, steps = MODELS[name]
    step = make()
    for _ in range(WARM_STEPS):
        step()
    ratios: dict[str, list[float]] = {mode: [] for mode in NATIVE_MODES}
    for _ in range(rounds):
        before = _timed("base", step, steps)
        for mode in NATIVE_MODES:
            during, after = _timed(mode, step, steps), _timed("base", step, steps)
            ratios[mode].append(2 * during / (before + after))
            before = after
    return ratios


def _rss_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(name: str, factor: int) -> dict[str, list[float]]:
    """Memory of a recording: what 200 steps add, and what `factor` times as many add to that."""
    make, _ = MODELS[name]
    step = make()
    for _ in range(WARM_STEPS):
        step()
    before = _rss_bytes()
    monitor.init()
    sizes: list[int] = []
    nodes: list[int] = []
    for steps in (200, 200 * (factor - 1)):
        for _ in range(steps):
            step()
        sizes.append(_rss_bytes())
        nodes.append(Monitor.node_count())
    monitor.finalize()
    return {
        "recording bytes": [float(sizes[0] - before)],
        "growth bytes": [float(sizes[1] - sizes[0])],
        "contexts": [float(count) for count in nodes],
    }


def files(name: str, rounds: int) -> dict[str, list[float]]:
    """Size of the file after 200 and 2,000 steps, and the CPU time of ending the recording, without
    and with native frames."""
    del rounds
    make, _ = MODELS[name]
    step = make()
    for _ in range(WARM_STEPS):
        step()
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for sources in ("python,op", "python,op,native"):
            sizes: list[float] = []
            stops: list[float] = []
            for steps in (200, 2000):
                path = Path(folder, f"{steps}.dctxrec")
                recording = record(path, sources=sources).start()
                for _ in range(steps):
                    step()
                began = time.process_time()
                recording.stop()
                stops.append(time.process_time() - began)
                sizes.append(path.stat().st_size)
            found |= {f"bytes {sources}": sizes, f"stop s {sources}": stops}
    return found


if __name__ == "__main__":
    what, model, count = sys.argv[1:]
    importlib.import_module("torch").set_num_threads(1)
    measure = {"overheads": overheads, "natives": natives, "growth": growth, "files": files}[what]
    print(json.dumps(measure(model, int(count))))
