"""A small training in plain Python that records itself: makes `live-train.dctxrec`.

    python -m dctx.demo_data.live_train [FILE]

A linear model is fitted by gradient descent. Its parts are scopes; its sums over vectors tell the
monitor that they are operators, as torch's do of themselves."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import dctx
from dctx.native._core import Operator

STEPS = 40
EVALUATE_EVERY = 10
BATCH = 16
FEATURES = 12

Vector = list[float]


def dot(left: Vector, right: Vector) -> float:
    with Operator("demo::dot"):
        return sum(a * b for a, b in zip(left, right, strict=True))


def add_scaled(to: Vector, what: Vector, factor: float) -> Vector:
    with Operator("demo::add_scaled"):
        return [a + factor * b for a, b in zip(to, what, strict=True)]


class Model:
    """Weights of a linear model."""

    def __init__(self) -> None:
        self.weights = [0.0] * FEATURES

    def forward(self, batch: list[Vector]) -> Vector:
        return [dot(row, self.weights) for row in batch]

    def gradient(self, batch: list[Vector], errors: Vector) -> Vector:
        gradient = [0.0] * FEATURES
        for row, error in zip(batch, errors, strict=True):
            gradient = add_scaled(gradient, row, error / len(batch))
        return gradient


def load_batch(source: random.Random) -> tuple[list[Vector], Vector]:
    """Rows, and the sums that the model is to find."""
    rows = [[source.gauss(0, 1) for _ in range(FEATURES)] for _ in range(BATCH)]
    return rows, [sum(row) for row in rows]


def evaluate(model: Model, source: random.Random) -> float:
    rows, targets = load_batch(source)
    errors = [a - b for a, b in zip(model.forward(rows), targets, strict=True)]
    return sum(error * error for error in errors) / len(errors)


def train() -> float:
    """Returns the last loss."""
    source, model = random.Random(7), Model()
    loss = 0.0
    for step in range(STEPS):
        with dctx.scope("load"):
            rows, targets = load_batch(source)
        with dctx.scope("forward"):
            errors = [a - b for a, b in zip(model.forward(rows), targets, strict=True)]
        with dctx.scope("backward"):
            gradient = model.gradient(rows, errors)
        with dctx.scope("update"):
            model.weights = add_scaled(model.weights, gradient, -0.3)
        if (step + 1) % EVALUATE_EVERY == 0:
            with dctx.scope(f"evaluate after {step + 1}"):
                loss = evaluate(model, source)
        dctx.step()
    return loss


def main() -> None:
    """Train, and record it."""
    here = Path(__file__).with_name("live-train.dctxrec")
    with dctx.record(sys.argv[1] if len(sys.argv) > 1 else here):
        loss = train()
    print(f"loss {loss:.6f}")


if __name__ == "__main__":
    main()
