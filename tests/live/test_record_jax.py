"""`dctx record` around real JAX programs. Skipped without JAX, as `make test-torch` has it."""

import importlib.util
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store
from tests.live.test_record import record

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
]

TRAINING = """
import dctx, jax, jax.numpy as jnp

def layer(w, x):
    return jnp.tanh(x @ w)

def loss_fn(params, x):
    for w in params:
        x = layer(w, x)
    return jnp.mean(x ** 2)

@jax.jit
def train_step(params, x):
    grads = jax.grad(loss_fn)(params, x)
    return [p - 0.1 * g for p, g in zip(params, grads)]

params, x = [jnp.ones((8, 8)) * 0.1] * 2, jnp.ones((4, 8))

def train(steps, marked):
    global params
    for _ in range(steps):
        params = train_step(params, x)
        if marked:
            jax.block_until_ready(params)
            dctx.step()
    jax.block_until_ready(params)
"""


def operations(store: Store) -> dict[tuple[str, ...], int]:
    """Calls of operations of train_step, by the names from the jitted function on."""
    with store.cursor() as cursor:
        rows = cursor.execute(
            """SELECT n.id, n.parent, y.name, s.text, m.calls
               FROM path_node n JOIN frame f ON f.id = n.frame JOIN string s ON s.id = f.name
               JOIN layer_name y ON y.code = f.layer LEFT JOIN path_metric m ON m.node = n.id
               ORDER BY n.id"""
        ).fetchall()
    paths: dict[int, tuple[str, ...]] = {}
    found: dict[tuple[str, ...], int] = {}
    for node, parent, layer, name, calls in rows:
        paths[node] = (*paths.get(parent, ()), name)
        if layer == "hlo" and calls and "jit(train_step)" in paths[node]:
            path = paths[node][paths[node].index("jit(train_step)") :]
            found[path] = found.get(path, 0) + calls
    return found


def test_some_steps_of_a_training_are_recorded(tmp_path: Path) -> None:
    run = record(tmp_path, TRAINING + "train(12, True)\n", "--jax-steps", "3")
    assert run.code == 0, run.said
    [recording] = run.recordings
    assert run.report["jax"][0]["steps"] == 3
    assert recording.commit["steps"] == 12
    assert recording.meta["jax"]["compile"]["xla"][0] >= 1
    with closing(open_trace(tmp_path / "run.dctxrec", cache=False)) as store:
        found = operations(store)
    assert set(found.values()) == {3}
    # From the jitted function over the Python lines to the operation.
    [tanh] = {path[1:-1] for path in found if "layer" in path and "[backward]" not in path}
    assert tanh[-3:] == ("train_step", "loss_fn", "layer")
    assert any("[backward]" in path for path in found)


def test_without_steps_what_follows_compiling_is_recorded(tmp_path: Path) -> None:
    run = record(tmp_path, TRAINING + "train(4, False)\n")
    assert run.code == 0, run.said
    assert run.report["jax"][0]["steps"] is None
    with closing(open_trace(tmp_path / "run.dctxrec", cache=False)) as store:
        assert set(operations(store).values()) <= {3, 4}  # the first may run while it begins


def test_the_programs_own_profile_comes_first(tmp_path: Path) -> None:
    own = f"""
import pathlib
own = {str(tmp_path / "own")!r}
train(2, False)
with jax.profiler.trace(own):
    train(2, False)
assert list(pathlib.Path(own).rglob("*.xplane.pb"))
train(2, False)
"""
    run = record(tmp_path, TRAINING + own)
    assert run.code == 0, run.said
    assert "the program profiles itself" in run.said
    assert run.report["jax"][0]["steps"] is None


def test_none_is_recorded_when_none_is_asked_for(tmp_path: Path) -> None:
    body = TRAINING + 'with dctx.scope("all"):\n    train(2, False)\n'
    run = record(tmp_path, body, "--jax-steps", "0")
    assert run.code == 0, run.said
    assert run.report["jax"] == []
    assert run.report["events"] == 1
