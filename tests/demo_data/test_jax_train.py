"""The recorded JAX demo: a training on the CPU, and the lines of its program in the tree."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

FOLDER = Path(str(files("dctx.demo_data")))
RECORDING = FOLDER / "jax-cpu-train.xplane.pb.gz"
PROGRAM = (FOLDER / "jax_train.py").read_text().splitlines()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_trace(RECORDING, cache=False)
    try:
        yield opened
    finally:
        opened.close()


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def test_the_tree_shows_the_lines_of_the_program(store: Store) -> None:
    found = rows(
        store, "SELECT name, line FROM paths WHERE file LIKE '%/train.py' AND layer = 'python'"
    )
    calls = {
        ("train_step", "jax.value_and_grad(loss_fn)"),
        ("loss_fn", "jax.vmap(model"),
        ("model", "x = block(layer, x)"),
        ("block", "x = x + attention("),
        ("block", "return x + mlp("),
        ("attention", 'linear(params["qkv"], x)'),
        ("attention", "jax.nn.softmax"),
        ("mlp", "jax.nn.gelu"),
        ("linear", 'x @ params["w"]'),
    }
    for function, text in calls:
        lines = {line for name, line in found if name == function}
        assert any(text in PROGRAM[line - 1] for line in lines), (function, text)


def test_operations_hang_below_their_lines_forward_and_backward(store: Store) -> None:
    matmul = rows(
        store,
        "SELECT l.line, h.layer, b.host_ns FROM paths l JOIN paths h ON h.parent = l.id "
        "LEFT JOIN paths b ON b.id = h.id WHERE l.name = 'linear' AND l.layer = 'python'",
    )
    assert {"hlo", "backward"} <= {layer for _, layer, _ in matmul}
    assert all('x @ params["w"]' in PROGRAM[line - 1] for line, _, _ in matmul)
    assert all(ns > 0 for _, _, ns in matmul)
    # The jitted function holds all that XLA ran for it, and nothing ran outside of one.
    [(inside,)] = rows(
        store, "SELECT sum(host_ns) FROM paths WHERE layer = 'python' AND name LIKE 'jit(%'"
    )
    [(thunks,)] = rows(store, "SELECT sum(self_ns) FROM host_event WHERE kind = 7")
    assert inside == thunks > 0


def test_the_steps_are_marked(store: Store) -> None:
    found = rows(
        store, "SELECT name FROM host_events WHERE name LIKE 'train step %' ORDER BY start_ns"
    )
    assert [name for (name,) in found] == [f"train step {i}" for i in range(5)]


def test_the_recording_names_no_machine() -> None:
    store = open_trace(RECORDING, cache=False)
    try:
        texts = [text for (text,) in rows(store, "SELECT text FROM string")]
    finally:
        store.close()
    paths = {path for text in texts for path in re.findall(r"/(?:\w[\w.-]*/)+[\w.-]+\.py", text)}
    assert paths == {"/tmp/demo/train.py"}
