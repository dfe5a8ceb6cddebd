"""The recorded PyTorch demo: a training on the CPU, and its program in the tree."""

import gzip
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from dctx.ingest.registry import open_trace
from tests.kineto_files import Opened

FOLDER = Path(str(files("dctx.demo_data")))
RECORDING = FOLDER / "torch-cpu-train.json.gz"
PROGRAM = (FOLDER / "torch_train.py").read_text().splitlines()


@pytest.fixture(scope="module")
def trace() -> Iterator[Opened]:
    store = open_trace(RECORDING, cache=False)
    yield Opened(store)
    store.close()


def ancestors(trace: Opened, node: int) -> list[tuple[str, str]]:
    """(layer, name) from below the thread to a node."""
    return trace.rows(
        f"""SELECT p.layer, p.name FROM paths p JOIN path_node n ON n.id = p.id
            WHERE p.id <= {node} AND n.last >= {node} AND p.depth > 2 ORDER BY p.depth"""
    )


def test_frames_name_the_lines_of_the_program(trace: Opened) -> None:
    found: list[tuple[str, int]] = trace.rows(
        """SELECT DISTINCT name, line FROM paths
           WHERE layer = 'python' AND file = 'train.py' AND name <> '<module>'"""
    )
    older = {"main", "record"}  # running when the recording began: their line is where they were
    assert {name for name, _ in found} == {"train_step", "load_batch", "forward"} | older
    for name, line in found:
        assert name in older or re.search(rf"def {re.escape(name)}\(", PROGRAM[line - 1]), (
            name,
            line,
        )


def test_operators_lie_below_module_and_python(trace: Opened) -> None:
    nodes = trace.rows("SELECT id FROM paths WHERE name = 'aten::addmm' AND layer = 'op'")
    paths = [ancestors(trace, node) for (node,) in nodes]
    wanted = ["Model_0", "Block_1", "Mlp_1", "Linear_6"]
    matching = [
        path for path in paths if [name for layer, name in path if layer == "module"] == wanted
    ]
    assert matching
    for path in matching:
        layers = [layer for layer, _ in path]
        assert ("annotation", "ProfilerStep#") in path
        assert [name for layer, name in path if layer == "op"] == ["aten::linear", "aten::addmm"]
        assert layers.index("module") < layers.index("op")
        assert ("python", "train_step") in path[: layers.index("module")]


def test_backward_work_is_below_its_forward_operator(trace: Opened) -> None:
    found = trace.rows(
        """SELECT DISTINCT f.name, c.name FROM paths b JOIN paths f ON f.id = b.parent
           JOIN paths c ON c.parent = b.id WHERE b.layer = 'backward'"""
    )
    assert ("aten::gelu", "autograd::engine::evaluate_function: GeluBackward0") in found
    facts = trace.facts()
    assert int(facts["linked.backward"]) == int(facts["backward"]) > 0


def test_times_of_the_tree_sum_to_those_of_the_events(trace: Opened) -> None:
    [(events,)] = trace.rows("SELECT sum(self_ns) FROM host_event WHERE node IS NOT NULL")
    [(tree,)] = trace.rows("SELECT host_ns FROM paths WHERE id = 0")
    assert tree == events > 0


def test_steps_shapes_and_memory(trace: Opened) -> None:
    steps = trace.rows(
        "SELECT name FROM host_events WHERE name LIKE 'ProfilerStep#%' ORDER BY start_ns"
    )
    assert [name for (name,) in steps] == [f"ProfilerStep#{number}" for number in range(2, 6)]
    shapes = trace.rows(
        """SELECT DISTINCT s.text FROM host_event h JOIN string n ON n.id = h.name
           JOIN op_args a ON a.id = h.args JOIN string s ON s.id = a.shapes
           WHERE n.text = 'aten::linear'"""
    )
    assert ("[[8,64,64],[256,64],[256]]",) in [(text.replace(" ", ""),) for (text,) in shapes]
    [(count, on_host, placed)] = trace.rows(
        "SELECT count(*), count(*) FILTER (host), count(node) FROM memory_event"
    )
    assert count == on_host == placed > 0


def test_what_is_lacking_is_told(trace: Opened) -> None:
    facts = trace.facts()
    lacking = {
        key.removeprefix("capability.")
        for key, reason in facts.items()
        if key.startswith("capability.") and reason
    }
    assert lacking == {"gpu_work"}


def test_the_recording_names_no_machine() -> None:
    text = gzip.decompress(RECORDING.read_bytes()).decode()
    assert json.loads(text)["host_name"] == "host0"
    paths = set(re.findall(r"(?<![\w.])/(?:[\w.-]+/)+[\w.-]+", text))
    assert all(path.startswith("/tmp/demo") for path in paths), paths
