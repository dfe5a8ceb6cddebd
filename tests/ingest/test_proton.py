"""Proton profiles: exclusive costs on contexts, sums over subtrees, no events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from dctx.queries.kernels import top_kernels
from dctx.queries.metric import Metric
from dctx.queries.overview import overview
from dctx.queries.paths import CallTree
from dctx.queries.trace import Trace
from dctx.reports.overview import overview_text
from tests.scan.test_document_reader import packed


def node(name: str, *children: Any, **metrics: Any) -> dict[str, Any]:
    return {
        "children": list(children),
        "frame": {"name": name, "type": "function"},
        "metrics": {key.replace("_ns", " (ns)"): value for key, value in metrics.items()},
    }


def kernel(name: str, time: int, count: int, device: str = "0", **more: Any) -> dict[str, Any]:
    return node(name, time_ns=time, count=count, device_id=device, device_type="CUDA", **more)


PROFILE: list[Any] = [
    node(
        "ROOT",
        node(
            "/src/train.py:12@step",
            node("scope 1", kernel("gemm", 100, 4), kernel("one", 7, 1), flops8=5.0, bytes=1000),
            kernel("gemm", 50, 1, "1", num_samples=9),
        ),
        node("cpu", cpu_time_ns=33, loss=0.5, **{"width (pty)": 3}),
        time_ns=0,
        count=0,
    ),
    {
        "CUDA": {
            "0": {
                "arch": "90",
                "num_sms": 132,
                "clock_rate": 1980000,
                "memory_clock_rate": 2619000,
                "bus_width": 6144,
            }
        }
    },
]


TABLES = (
    *("path_node", "path_metric", "path_total", "path_value", "profile_context", "op_stat"),
    "device",
)


def written(tmp_path: Path, data: bytes, name: str = "p.hatchet") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def tables(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that a store of a profile holds, but the facts of the file."""
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        found = {
            table: cursor.execute(f"SELECT * FROM {table} ORDER BY ALL").fetchall()
            for table in TABLES
        }
        found["paths"] = cursor.execute(
            "SELECT name, layer, file, line, gpu_ns, kernels, host_ns FROM paths ORDER BY id"
        ).fetchall()
    store.close()
    return found


def test_json_and_msgpack_give_the_same_store(tmp_path: Path) -> None:
    by_text = tables(written(tmp_path, json.dumps(PROFILE).encode()))
    by_pack = tables(written(tmp_path, packed_small(PROFILE), "p.msgpack"))
    by_text["paths"][0] = by_pack["paths"][0] = ()  # named after the file
    assert by_text == by_pack


def packed_small(value: Any) -> bytes:
    """In msgpack, the outermost forms as Proton writes them: an array of 2, a map of 3."""
    first, second = value
    inner = packed(first)
    return b"\x92\x83" + inner[3:] + packed(second)


def test_costs_are_exclusive_and_sums_inclusive(tmp_path: Path) -> None:
    found = tables(written(tmp_path, json.dumps(PROFILE).encode()))
    assert [row[:4] for row in found["paths"][1:]] == [
        ("step", "python", "/src/train.py", 12),
        ("scope 1", "annotation", None, None),
        ("gemm", "kernel", None, None),
        ("one", "kernel", None, None),
        ("gemm", "kernel", None, None),
        ("cpu", "annotation", None, None),
    ]
    assert [row[4] for row in found["paths"]] == [157, 157, 107, 100, 7, 50, None]
    assert [row[5] for row in found["paths"]] == [6, 6, 5, 4, 1, 1, None]
    assert found["paths"][6][6] == 33
    assert found["device"][0][4] == "CUDA sm_90"
    assert "CUDA GPU 1 (model not recorded)" in [row[4] for row in found["device"]]


def test_what_an_aggregate_does_not_tell_is_not_known(tmp_path: Path) -> None:
    store = open_trace(written(tmp_path, json.dumps(PROFILE).encode()), cache=False)
    trace = Trace(store)
    heavy = top_kernels(trace, 5)
    assert [(op.name, op.count, op.sum_ns) for op in heavy] == [("gemm", 5, 150), ("one", 1, 7)]
    assert (heavy[1].min_ns, heavy[1].max_ns, heavy[1].stddev_ns) == (7, 7, 0.0)
    tree = CallTree.load(trace)
    assert tree.value(0, Metric.GPU) == 157
    assert tree.value(0, Metric.BYTES) == 1000
    seen = overview(trace)
    text = overview_text(seen)
    store.close()
    assert "An aggregated profile" in text
    assert "No GPU work was recorded" not in text
    assert seen.capture.facts["capability.events"].startswith("aggregated profile, no timeline")
    assert seen.capture.facts["capability.python_frames"] == ""


def test_other_metrics_are_kept_and_named(tmp_path: Path) -> None:
    store = open_trace(written(tmp_path, json.dumps(PROFILE).encode()), cache=False)
    with store.cursor() as cursor:
        found = cursor.execute(
            "SELECT text, value, property FROM path_value JOIN string ON id = name ORDER BY 1"
        ).fetchall()
        [(note,)] = cursor.execute("SELECT text FROM note").fetchall()
    store.close()
    assert found == [
        ("flops8", 5.0, False),
        ("loss", 0.5, False),
        ("num_samples", 9.0, False),
        ("width (pty)", 3.0, True),
    ]
    assert "flops8, loss, num_samples, width (pty)" in note


def test_a_cut_profile_keeps_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps(PROFILE).encode()
    path = written(tmp_path, whole[: whole.index(b'"one"') + 8])
    found = tables(path)
    assert ("gemm", 100) in [(row[0], row[4]) for row in found["paths"]]
    with pytest.raises(TraceError, match="no context"):
        tables(written(tmp_path, b'[null,{"frame":{"name":"x"},"metrics":{}}]', "odd.hatchet"))


def test_damage_in_the_middle_tells_its_place_and_how_much_is_lost(tmp_path: Path) -> None:
    whole = json.dumps(PROFILE).encode()
    at = whole.index(b'"one"')
    path = written(tmp_path, whole[:at] + b"\0\0" + whole[at + 2 :])
    assert ("gemm", 100) in [(row[0], row[4]) for row in tables(path)["paths"]]
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        notes = str(cursor.execute("SELECT text FROM note").fetchall())
    store.close()
    lost = len(whole) - at
    assert f"damaged at byte {at:,} (something that is no JSON); the {lost:,} bytes" in notes


def test_siblings_of_one_name_are_one_call_path_and_keep_their_own_values(tmp_path: Path) -> None:
    twice = [node("s", kernel("k", 10 * n, n), x=float(n), **{"p (pty)": n}) for n in (1, 2)]
    found = tables(written(tmp_path, json.dumps([node("ROOT", *twice), {}]).encode()))
    assert [row[0] for row in found["paths"][1:]] == ["s", "k"]
    assert [row[4] for row in found["paths"][1:]] == [30, 30]
    assert [row[5] for row in found["paths"][1:]] == [3, 3]
    # Of values without a column each sibling's is kept: which can be added depends on their name.
    assert sorted(row[1:2] + row[4:] for row in found["path_value"]) == [
        (1, 1.0, False),
        (1, 1.0, True),
        (3, 2.0, False),
        (3, 2.0, True),
    ]
    # id, parent, node, device, calls, host_ns, gpu_ops, kernels, gpu_ns, bytes
    none, contexts = (None,) * 6, found["profile_context"]
    assert contexts == [
        (0, None, 0, None, *none),
        (1, 0, 1, None, *none),
        (2, 1, 2, 0, None, None, 1, 1, 10, None),
        (3, 0, 1, None, *none),
        (4, 3, 2, 0, None, None, 2, 2, 20, None),
    ]
    assert sum(row[8] for row in contexts if row[2] == 2) == found["paths"][2][4]


def test_a_very_deep_profile(tmp_path: Path) -> None:
    deepest = json.dumps(kernel("k", 5, 1))
    text = "".join(f'{{"frame":{{"name":"f{i}"}},"metrics":{{}},"children":[' for i in range(5000))
    path = written(tmp_path, f"[{text}{deepest}{']}' * 5000},{{}}]".encode())
    assert tables(path)["path_total"][0][7] == 5


def test_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(PROFILE).encode())
    before = path.read_bytes()
    open_trace(path).close()
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["p.hatchet"]
