"""Records the JAX demo: five training steps of a small language model on the CPU.

It needs JAX (`pip install jax`), which dctx does not, and writes the recording gzipped:

    cp demo_data/jax_train.py /tmp/demo/train.py && cd /tmp/demo
    env -i PATH=/usr/bin:/bin unshare --map-root-user --uts \\
        sh -c 'hostname host0; python train.py jax-cpu-train.xplane.pb.gz'

A recording names its host and the paths of the sources: hence the neutral ones.
"""

import gzip
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")

STEPS = 5
WIDTH, LAYERS, WORDS, BATCH, LENGTH = 64, 2, 256, 4, 64


def linear(params: Any, x: Any) -> Any:
    return x @ params["w"] + params["b"]


def mlp(params: Any, x: Any) -> Any:
    return linear(params["down"], jax.nn.gelu(linear(params["up"], x)))


def attention(params: Any, x: Any) -> Any:
    query, key, value = jnp.split(linear(params["qkv"], x), 3, axis=-1)
    scores = query @ key.T / WIDTH**0.5
    mask = jnp.tril(jnp.ones(scores.shape, bool))
    chances = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return linear(params["out"], chances @ value)


def normalize(x: Any) -> Any:
    centered = x - x.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def block(params: Any, x: Any) -> Any:
    x = x + attention(params["attention"], normalize(x))
    return x + mlp(params["mlp"], normalize(x))


def model(params: Any, words: Any) -> Any:
    x = params["embedding"][words]
    for layer in params["blocks"]:
        x = block(layer, x)
    return normalize(x) @ params["embedding"].T


def loss_fn(params: Any, words: Any) -> Any:
    logits = jax.vmap(model, (None, 0))(params, words[:, :-1])
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), words[:, 1:, None], axis=-1)
    return -picked.mean()


def descend(param: Any, grad: Any) -> Any:
    return param - 0.1 * grad


def train_step(params: Any, words: Any) -> Any:
    loss, grads = jax.value_and_grad(loss_fn)(params, words)
    return jax.tree.map(descend, params, grads), loss


def dense(keys: Iterator[Any], rows: int, columns: int) -> Any:
    return {"w": jax.random.normal(next(keys), (rows, columns)) * 0.02, "b": jnp.zeros(columns)}


def make_params(key: Any) -> Any:
    keys = iter(jax.random.split(key, 1 + 4 * LAYERS))
    return {
        "embedding": jax.random.normal(next(keys), (WORDS, WIDTH)) * 0.02,
        "blocks": [
            {
                "attention": {
                    "qkv": dense(keys, WIDTH, 3 * WIDTH),
                    "out": dense(keys, WIDTH, WIDTH),
                },
                "mlp": {"up": dense(keys, WIDTH, 4 * WIDTH), "down": dense(keys, 4 * WIDTH, WIDTH)},
            }
            for _ in range(LAYERS)
        ],
    }


def record(log_dir: str) -> None:
    """Train, the compilation outside the recording."""
    step = jax.jit(train_step)
    params = make_params(jax.random.key(0))
    words = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, WORDS)
    params, loss = step(params, words)
    loss.block_until_ready()
    with jax.profiler.trace(log_dir):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                params, loss = step(params, words)
                loss.block_until_ready()


def main(output: Path) -> None:
    with tempfile.TemporaryDirectory() as log_dir:
        record(log_dir)
        [found] = Path(log_dir).rglob("*.xplane.pb")
        with output.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(found.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
