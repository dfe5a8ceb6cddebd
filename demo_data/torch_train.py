"""Records the PyTorch demo: four training steps of a small language model on the CPU.

It needs PyTorch (`pip install torch`), which dctx does not, and writes the recording gzipped:

    cp demo_data/torch_train.py /tmp/demo/train.py && cd /tmp/demo
    env -i PATH=/usr/bin:/bin unshare --map-root-user --uts \\
        sh -c 'hostname host0; python train.py torch-cpu-train.json.gz'

A recording holds the paths of the sources, and may name its host: hence the neutral ones.
"""

import gzip
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn
functional: Any = nn.functional
profiler: Any = import_module("torch.profiler")

WAIT, WARMUP, STEPS = 1, 1, 4
WIDTH, HEADS, LAYERS, WORDS, BATCH, LENGTH = 64, 4, 2, 256, 8, 64


class Attention(nn.Module):  # type: ignore[misc]
    """Causal self-attention."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        batch, length, _ = x.shape
        heads = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Mlp(nn.Module):  # type: ignore[misc]
    """Two linear layers with a nonlinearity between them."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        return self.down(functional.gelu(self.up(x)))


class Block(nn.Module):  # type: ignore[misc]
    """Attention and MLP, each with a norm before it and a way around it."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.mlp = Attention(), Mlp()

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):  # type: ignore[misc]
    """A language model."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Any) -> Any:
        x = self.embedding(words)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def load_batch(step: int) -> Any:
    with profiler.record_function("load batch"):
        random = torch.Generator().manual_seed(step)
        return torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=random)


def train_step(model: Any, optimizer: Any, words: Any) -> float:
    logits = model(words[:, :-1])
    loss = functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.item())


def record(target: Path) -> None:
    """Train, and write what was recorded of the steps after the first two."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters())

    def write(recorded: Any) -> None:
        recorded.export_chrome_trace(str(target))

    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=WAIT, warmup=WARMUP, active=STEPS),
        on_trace_ready=write,
        with_stack=True,
        record_shapes=True,
        profile_memory=True,
        with_modules=True,
    ) as recording:
        for step in range(WAIT + WARMUP + STEPS):
            train_step(model, optimizer, load_batch(step))
            recording.step()


def main(output: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        recorded = Path(folder) / "train.json"
        record(recorded)
        with output.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(recorded.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
