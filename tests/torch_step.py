"""A hand-made training step as PyTorch records it: Python, a module, operators, kernels, memory.

train.py(10): train
  nn.Module: Net_0
    train.py(20): forward
      aten::linear (8x4 by 4x4)   aten::mm   cudaLaunchKernel   gemm 60 us
      aten::linear (2x4 by 4x4)   aten::mm   cudaLaunchKernel   gemm 10 us
      aten::relu                             cudaLaunchKernel   relu 5 us
  train.py(30): first
    aten::add                                cudaLaunchKernel   add 4 us
  train.py(40): second
    aten::add                                cudaLaunchKernel   add 3 us
"""

from pathlib import Path
from typing import Any

from tests.kineto_files import Event, call, event, kernel, op, python, write_json

GPU_NS = 82_000
LINEAR_NS = 70_000


def step_events(*, device: int = 0, memory: bool = True) -> list[Event]:
    """The events, with GPU work on a device."""
    own = {"device": device}
    launch = "cudaLaunchKernel"
    module = python("nn.Module: Net_0", 10, 390, 2, 1)
    module["args"]["Python module id"] = 0
    events = [
        python("train.py(10): train", 0, 1000, 1, 0),
        module,
        python("train.py(20): forward", 20, 370, 3, 2),
        _matmul("aten::linear", 30, 70, 8),
        _matmul("aten::mm", 40, 50, 8),
        call(launch, 50, 10, 1),
        kernel("gemm", 200, 60, 1, **own),
        _matmul("aten::linear", 110, 80, 2),
        _matmul("aten::mm", 120, 60, 2),
        call(launch, 130, 10, 2),
        kernel("gemm", 260, 10, 2, **own),
        op("aten::relu", 200, 20),
        call(launch, 205, 5, 3),
        kernel("relu", 280, 5, 3, **own),
        python("train.py(30): first", 410, 90, 4, 1),
        op("aten::add", 420, 30),
        call(launch, 430, 10, 4),
        kernel("add", 500, 4, 4, **own),
        python("train.py(40): second", 510, 90, 5, 1),
        op("aten::add", 520, 30),
        call(launch, 530, 10, 5),
        kernel("add", 600, 3, 5, **own),
    ]
    if memory:
        # 1000 bytes were there before; the most is held in the second aten::mm.
        events += [
            _allocation(45, 0xA0, 512, 1512, device),
            _allocation(125, 0xB0, 256, 1768, device),
            _allocation(210, 0xA0, -512, 1256, device),
            _allocation(425, 0xA0, 64, 1320, device),
            _allocation(440, 0xA0, -64, 1256, device),
        ]
    return events


def write_step(path: Path, rank: int | None = None, *, memory: bool = True) -> Path:
    """A file of one process; a rank has the device of its number."""
    device = rank or 0
    names = [{"id": n, "name": "NVIDIA H100 80GB HBM3"} for n in range(device + 1)]
    info = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2}}
    events = step_events(device=device, memory=memory)
    for each in events:
        if each["pid"] == 100:
            each["pid"] = 100 + device
    return write_json(path, events, deviceProperties=names, **info)


def write_ranks(folder: Path) -> Path:
    """Two ranks; the second one without memory events."""
    folder.mkdir()
    write_step(folder / "rank0.json", 0)
    write_step(folder / "rank1.json", 1, memory=False)
    return folder


def _matmul(name: str, ts: float, dur: float, rows: int) -> Event:
    arguments: dict[str, Any] = {
        "Input Dims": [[rows, 4], [4, 4], []],
        "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"],
        "Input Strides": [[4, 1], [1, 4], []],
        "Concrete Inputs": ["", "", "1"],
    }
    return op(name, ts, dur, **arguments)


def _allocation(ts: float, address: int, size: int, total: int, device: int) -> Event:
    args = {
        "Addr": address,
        "Bytes": size,
        "Total Allocated": total,
        "Total Reserved": 4096,
        "Device Type": 1,
        "Device Id": device,
    }
    return event("cpu_instant_event", "[memory]", ts, 0, **args) | {"ph": "i", "s": "t"}


def write_source(path: Path) -> Path:
    """The program, as far as the stacks above tell: its functions stand on their lines."""
    lines = ["" for _ in range(50)]
    lines[0] = '"""Trains a small network."""'
    lines[9:12] = ["def train(net, batch):", "    loss = net(batch)  # forward", "    first(loss)"]
    lines[19:22] = ["def forward(self, x):", "    x = self.linear(x)", "    return relu(x) * 0.5"]
    lines[29:31] = ["def first(x):", "    return x + 1"]
    lines[39:41] = ["def second(x):", "    return x + 2"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
