"""Flame graphs as files, read back, against a tree worked out by hand.

main            100 = 10 own + 60 + 30
  step           60 =  5 own + 55
    kernel;a     55
  load (x.py:7)  30
  idle            0
"""

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from dctx.analyzers.flame_tree import FlameTree, Span, flame_tree
from dctx.ingest.model import Layer
from dctx.queries.metric import Metric
from dctx.queries.paths import CostTree, cost_columns
from dctx.queries.pathview import Frames, PathTable
from dctx.reports.flame import write_folded, write_speedscope
from dctx.reports.flame_svg import write_svg
from tests.near import near

SVG = "{http://www.w3.org/2000/svg}"


def costs() -> CostTree:
    parent = np.array([-1, 0, 0, 2, 0], np.int32)
    own = {Metric.GPU: np.array([10, 30, 5, 55, 0], np.int64)}
    frames = Frames(
        layers=[Layer.ROOT, Layer.PYTHON, Layer.ANNOTATION, Layer.KERNEL, Layer.API],
        names=["main", "load", "step", "kernel;a<&\x1b", "idle"],
        files=[None, "/home/me/x.py", None, None, "lib.so"],
        lines=[None, 7, None, None, 3],
    )
    ids = np.arange(5, dtype=np.int32)
    depth = np.array([0, 1, 1, 2, 1], np.int16)
    return CostTree(PathTable(parent, depth, ids, ids, cost_columns(parent, own), frames), own)


@pytest.fixture
def tree() -> FlameTree:
    return flame_tree(costs().top_down())


def folded(tree: FlameTree) -> dict[str, int]:
    out = io.StringIO()
    write_folded(tree, out)
    lines = [line.rpartition(" ") for line in out.getvalue().splitlines()]
    return {stack: int(value) for stack, _, value in lines}


def test_frames_stand_where_the_widest_come_first(tree: FlameTree) -> None:
    assert tree.total == 100
    assert list(tree.spans()) == [
        Span(0, 0, 0, 100),
        Span(2, 1, 0, 60),
        Span(3, 2, 0, 55),
        Span(1, 1, 60, 90),
    ]
    assert tree.own().tolist() == [10, 30, 5, 55, 0]


def test_folded_stacks_sum_to_the_whole(tree: FlameTree) -> None:
    assert folded(tree) == {
        "main": 10,
        "main;step": 5,
        "main;step;kernel:a<&?": 55,
        "main;load (x.py:7)": 30,
    }


def test_what_the_limit_hides_belongs_to_the_row_above() -> None:
    view = costs().top_down()
    view.set_limit(0.4)
    assert folded(flame_tree(view)) == {"main": 40, "main;step": 5, "main;step;kernel:a<&?": 55}


def test_bottom_up_begins_with_what_costs() -> None:
    assert folded(flame_tree(costs().bottom_up())) == {
        "main": 10,
        "step;main": 5,
        "kernel:a<&?;step;main": 55,
        "load (x.py:7);main": 30,
    }


def test_what_matches_counts_once(tree: FlameTree) -> None:
    assert tree.matched(np.array([0, 0, 1, 1, 0], np.bool_)) == 60
    assert tree.matched(np.array([0, 1, 0, 1, 0], np.bool_)) == 85
    assert tree.matched(np.zeros(5, np.bool_)) == 0


NUMBER, TEXT = {"type": "number"}, {"type": "string"}
SPEEDSCOPE = {
    "type": "object",
    "required": ["$schema", "shared", "profiles"],
    "properties": {
        "name": TEXT,
        "exporter": TEXT,
        "activeProfileIndex": NUMBER,
        "shared": {
            "required": ["frames"],
            "properties": {
                "frames": {
                    "items": {
                        "required": ["name"],
                        "properties": {"name": TEXT, "file": TEXT, "line": NUMBER, "col": NUMBER},
                        "additionalProperties": False,
                    }
                }
            },
        },
        "profiles": {
            "items": {
                "required": ["type", "name", "unit", "startValue", "endValue", "events"],
                "properties": {
                    "type": {"const": "evented"},
                    "name": TEXT,
                    "unit": {"enum": ["bytes", "microseconds", "milliseconds", "nanoseconds",
                                      "none", "seconds"]},
                    "startValue": NUMBER,
                    "endValue": NUMBER,
                    "events": {
                        "items": {
                            "required": ["type", "at", "frame"],
                            "properties": {"type": {"enum": ["O", "C"]}, "at": NUMBER,
                                           "frame": {"type": "integer", "minimum": 0}},
                        }
                    },
                },
            }
        },
    },
}  # fmt: skip
"""What speedscope takes of evented profiles, in our words."""


def test_speedscope_adds_up_to_the_same_stacks(tree: FlameTree) -> None:
    """Replayed as speedscope does: what lies between two events belongs to the open frames."""
    out = io.StringIO()
    write_speedscope(tree, "run", out)
    document = json.loads(out.getvalue())
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(SPEEDSCOPE).validate(document)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    [profile] = document["profiles"]
    assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
    assert (profile["startValue"], profile["endValue"]) == (0, 100)
    frames = document["shared"]["frames"]
    assert {"name": "load", "file": "/home/me/x.py", "line": 7} in frames
    stack: list[str] = []
    spent: dict[str, int] = {}
    before = 0
    for event in profile["events"]:
        assert event["at"] >= before
        if event["at"] > before:
            spent[";".join(stack)] = spent.get(";".join(stack), 0) + event["at"] - before
        before = event["at"]
        name = frames[event["frame"]]["name"]
        if event["type"] == "O":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert spent == {"main": 10, "main;step": 5, "main;step;kernel;a<&?": 55, "main;load": 30}


def test_the_picture_is_wide_as_it_costs(tree: FlameTree) -> None:
    out = io.StringIO()
    write_svg(tree, "run <1>", out)
    picture = ElementTree.fromstring(out.getvalue())
    widths = {
        group.findtext(f"{SVG}title", ""): float(group.find(f"{SVG}rect").get("width", "0"))  # type: ignore[union-attr]
        for group in picture.findall(f"{SVG}g")
    }
    assert widths == {
        "main: 100 ns, 100.0 %": near(1400, abs=1),
        "step: 60 ns, 60.0 %": near(840, abs=1),
        "kernel;a<&?: 55 ns, 55.0 %": near(770, abs=1),
        "load (x.py:7): 30 ns, 30.0 %": near(420, abs=1),
    }
    assert picture.findtext(f"{SVG}title") == "run <1> · GPU time, top-down · 100 ns"


def test_nothing_measured_is_said() -> None:
    empty = CostTree(replace(costs().table, values={}), {})
    drawn = flame_tree(empty.top_down())
    assert folded(drawn) == {}
    out = io.StringIO()
    write_svg(drawn, "run", out)
    assert "Nothing was measured" in out.getvalue()
