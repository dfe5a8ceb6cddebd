"""Each analyzer has a planted trace in which it fires, at the right place and with the right gain,
and one in which it must not. Read from the tests of this folder, which tell both by `found`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctx.analyzers.prescribe.table import ANALYZERS

WITHOUT_CONTEXT = frozenset({"rank-imbalance", "stall"})
"""Their places are devices, and lines of kernels: in the rows of evidence."""
TESTS = [
    node
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


def calls(test: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def asks_for(call: ast.AST, key: str) -> bool:
    """`found(facts, key)`."""
    return any(
        len(one.args) > 1 and isinstance(one.args[1], ast.Constant) and one.args[1].value == key
        for one in calls(call, "found")
    )


def denies(test: ast.AST, key: str) -> bool:
    """`assert found(…, key) is None`."""
    return any(
        isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is) and asks_for(node, key)
        for node in ast.walk(test)
    )


@pytest.mark.parametrize("key", [analyzer.id for analyzer in ANALYZERS])
def test_it_has_a_trace_to_find_and_one_to_leave_alone(key: str) -> None:
    about = [test for test in TESTS if asks_for(test, key)]
    assert any(denies(test, key) for test in about), "no trace in which it must not fire"
    fires = [test for test in about if not denies(test, key)]
    assert any(any(calls(test, "gain_us")) for test in fires), "its gain is compared nowhere"
    told = any(any(calls(test, "places")) for test in fires)
    if key in WITHOUT_CONTEXT:
        told = any("finding.evidence" in ast.unparse(test) for test in fires)
    assert told, "its place is compared nowhere"
