"""The models that are trained: plain torch, random weights and inputs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

torch: Any = importlib.import_module("torch")
nn: Any = torch.nn
functional: Any = nn.functional

Loss = Callable[[], Any]


class Bottleneck(nn.Module):  # type: ignore[misc]
    """A block of ResNet-50."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        nn.Module.__init__(self)
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.short: Any = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.short = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Any) -> Any:
        return functional.relu(self.body(x) + self.short(x))


def resnet50() -> Any:
    """ResNet-50 for pictures of 224 by 224."""
    layers: list[Any] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    inputs = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            layers.append(Bottleneck(inputs, 64 * 2**stage, stride))
            inputs = 256 * 2**stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class GptBlock(nn.Module):  # type: ignore[misc]
    """Attention and two linear layers, normalised before each."""

    def __init__(self, width: int, heads: int) -> None:
        nn.Module.__init__(self)
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.view(*shape).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):  # type: ignore[misc]
    """About GPT-2 small: 12 layers of width 768."""

    def __init__(self, layers: int = 12, width: int = 768, words: int = 50_257) -> None:
        nn.Module.__init__(self)
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(1024, width)
        self.blocks = nn.ModuleList(GptBlock(width, width // 64) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Any) -> Any:
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Ranking(nn.Module):  # type: ignore[misc]
    """Many embedding tables and small linear layers."""

    def __init__(self, tables: int = 26, rows: int = 100_000, width: int = 64) -> None:
        nn.Module.__init__(self)
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, width))
        self.top = nn.Sequential(nn.Linear((tables + 1) * width, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, dense: Any, sparse: Any) -> Any:
        found = [table(sparse[:, at]) for at, table in enumerate(self.tables)]
        return self.top(torch.cat([self.bottom(dense), *found], 1))


class UNet(nn.Module):  # type: ignore[misc]
    """Three levels down and up with skips, group norms."""

    def __init__(self, width: int = 64) -> None:
        nn.Module.__init__(self)
        widths = [width, 2 * width, 4 * width]
        self.first = _pair(3, width)
        self.down = nn.ModuleList(_pair(a, b) for a, b in pairwise(widths))
        self.up = nn.ModuleList(
            _pair(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1], strict=True)
        )
        self.last = nn.Conv2d(width, 3, 1)

    def forward(self, x: Any) -> Any:
        kept = [self.first(x)]
        for layer in self.down:
            kept.append(layer(functional.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for layer in self.up:
            x = functional.interpolate(x, scale_factor=2)
            x = layer(torch.cat([x, kept.pop()], 1))
        return self.last(x)


def _pair(inputs: int, outputs: int) -> Any:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, 1, 1), nn.GroupNorm(8, outputs), nn.SiLU(),
        nn.Conv2d(outputs, outputs, 3, 1, 1), nn.GroupNorm(8, outputs), nn.SiLU(),
    )  # fmt: skip


def mlp() -> Any:
    """Small layers: all of it is launches."""
    layers = [part for _ in range(20) for part in (nn.Linear(64, 64), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(64, 10))


NAMES: Final = ("resnet50", "gpt", "ranking", "unet", "mlp")


def built(name: str, device: str, *, small: bool = False) -> tuple[Any, Loss]:
    """A model on a device, and what computes its loss on one batch. `small`: for a trial."""
    torch.manual_seed(0)
    batch = 2 if small else 64
    if name == "resnet50":
        model = resnet50().to(device)
        x = torch.randn(batch, 3, 64 if small else 224, 64 if small else 224, device=device)
        y = torch.randint(0, 1000, (batch,), device=device)
        return model, lambda: functional.cross_entropy(model(x).float(), y)
    if name == "gpt":
        gpt = (Gpt(2, 128, 1000) if small else Gpt()).to(device)
        words = gpt.head.out_features
        tokens = torch.randint(0, words, (2 if small else 8, 32 if small else 512), device=device)
        return gpt, lambda: functional.cross_entropy(
            gpt(tokens).float().view(-1, words), tokens.view(-1)
        )
    if name == "ranking":
        ranking = (Ranking(4, 100) if small else Ranking()).to(device)
        dense = torch.randn(batch * 16, 13, device=device)
        tables = len(ranking.tables)
        sparse = torch.randint(0, 100, (batch * 16, tables, 4), device=device)
        target = torch.rand(batch * 16, 1, device=device)
        return ranking, lambda: functional.binary_cross_entropy_with_logits(
            ranking(dense, sparse).float(), target
        )
    if name == "unet":
        unet = UNet(8 if small else 64).to(device)
        picture = torch.randn(2 if small else 8, 3, 32 if small else 256, 32 if small else 256)
        picture = picture.to(device)
        return unet, lambda: functional.mse_loss(unet(picture).float(), picture)
    plain = mlp().to(device)
    x = torch.randn(32, 64, device=device)
    y = torch.randint(0, 10, (32,), device=device)
    return plain, lambda: functional.cross_entropy(plain(x), y)
