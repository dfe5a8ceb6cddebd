"""Recorded ROCm and Proton files against values that were computed apart from this code."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.registry import open_trace

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
EXPECTED = TRACES / "expected" / "independent"
PROFILES = sorted((TRACES / "proton").glob("*.hatchet"))

pytestmark = pytest.mark.skipif(not PROFILES, reason="DCTX_TRACES names no folder with traces")


def opened(name: str, *questions: str) -> tuple[dict[str, Any], list[list[tuple[Any, ...]]]]:
    """What is expected of a file, and the answers of its store; the file stays as it is."""
    path = TRACES / name
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        answers = [cursor.execute(question).fetchall() for question in questions]
    store.close()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    return json.loads((EXPECTED / f"{name}.json").read_text()), answers


def union_ns(spans: list[tuple[Any, ...]]) -> int:
    total, reached = 0, -(2**63)
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


SPANS = "SELECT start_ns, start_ns + dur_ns FROM gpu_op"
BY_NAME = (
    "SELECT s.text, count(*), sum(o.dur_ns) FROM gpu_op o JOIN string s ON s.id = o.name GROUP BY 1"
)
PATHS = (
    "SELECT (SELECT sum(dur_ns) FROM gpu_op), (SELECT sum(gpu_ns) FROM path_metric),"
    " (SELECT sum(gpu_ns) FROM path_total WHERE node = 0)"
)


def test_rocpd() -> None:
    expected, [counts, spans, names, linked, paths] = opened(
        "rocm/mi300x-qwen.rocpd.db",
        "SELECT k.name, count(*), sum(dur_ns) FROM gpu_op JOIN gpu_kind_name k ON k.code = kind"
        " GROUP BY 1",
        SPANS,
        BY_NAME,
        "SELECT count(launch) FROM gpu_op WHERE kind = 0",
        PATHS,
    )
    by_kind = {name: (count, total) for name, count, total in counts}
    assert by_kind["kernel"] == (expected["dispatches"], expected["kernel_sum_ns"])
    assert by_kind["memcpy"][0] == expected["memory_copies"]
    assert union_ns(spans) == expected["gpu_busy_ns"]
    assert max(e for _, e in spans) - min(s for s, _ in spans) == expected["gpu_span_ns"]
    assert linked == [(expected["dispatches_with_region"],)]
    by_name = {name: (count, total) for name, count, total in names}
    for kernel in expected["top_kernels"]:
        assert by_name[kernel["name"]] == (kernel["count"], kernel["sum_ns"])
    assert len(set(paths[0])) == 1


def test_rpd() -> None:
    expected, [rows, spans, names, linked, paths, counters] = opened(
        "rocm/matmul.rpd",
        "SELECT key, value FROM trace WHERE key LIKE 'rows.%'",
        SPANS,
        BY_NAME,
        "SELECT count(launch) FROM gpu_op",
        PATHS,
        "SELECT count(*) FROM counter",
    )
    counted = {key.removeprefix("rows."): int(value) for key, value in rows}
    assert {table: counted[table] for table in expected["rows"]} == expected["rows"]
    gpu = expected["gpu"]["2"]
    assert len(spans) == gpu["ops"]
    assert paths == [(gpu["sum_ns"],) * 3]
    assert union_ns(spans) == gpu["busy_ns"]
    assert max(e for _, e in spans) - min(s for s, _ in spans) == gpu["span_ns"]
    by_name = {name: (count, total) for name, count, total in names}
    ours = {"CopyHostToDevice": "memcpy HtoD", "CopyDeviceToHost": "memcpy DtoH"}
    for op in expected["top_ops"]:
        name = ours.get(op["name"], op["name"])
        assert by_name["memset" if name == "FillBuffer" else name] == (op["count"], op["sum_ns"])
    assert linked == [(expected["rows"]["rocpd_api_ops"],)]
    assert counters == [(expected["rows"]["rocpd_monitor"],)]


def test_rocprofv3() -> None:
    expected, [spans, names, paths, devices] = opened(
        "rocm/mi300x-rocprofv3-results.json.gz",
        SPANS,
        BY_NAME,
        PATHS,
        "SELECT count(*) FROM device",
    )
    assert len(spans) == expected["kernel_dispatches"]
    assert paths == [(expected["sum_ns"],) * 3]
    assert union_ns(spans) == expected["busy_ns"]
    assert max(e for _, e in spans) - min(s for s, _ in spans) == expected["first_to_last_ns"]
    assert devices == [(expected["agents_used"],)]
    by_name: dict[str, list[int]] = {}
    for name, count, total in names:  # the reference cuts names
        sums = by_name.setdefault(name[:200], [0, 0])
        sums[0] += count
        sums[1] += total
    for kernel in expected["top_kernels"]:
        count, total = by_name[kernel["name"]]
        assert (count, total) == (kernel["count"], kernel["sum_ns"])


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_proton(path: Path) -> None:
    expected, [typed, others, nodes, devices] = opened(
        f"proton/{path.name}",
        "SELECT sum(gpu_ns), sum(kernels), sum(host_ns), sum(bytes) FROM path_metric",
        "SELECT text, sum(value) FROM path_value JOIN string ON id = name GROUP BY 1",
        "SELECT value FROM trace WHERE key = 'rows.node'",
        "SELECT name, sm_count, clock_hz, bandwidth_bytes_per_s FROM device",
    )
    whole = expected["inclusive_root"]
    assert typed == [
        tuple(whole.get(key) for key in ("time (ns)", "count", "cpu_time (ns)", "bytes"))
    ]
    other = {
        key: value
        for key, value in whole.items()
        if key not in ("time (ns)", "count", "cpu_time (ns)", "bytes")
    }
    assert dict(others) == other
    assert nodes == [(str(expected["nodes"]),)]
    listed = [gpu for kind in expected["devices"].values() for gpu in kind.values()]
    assert sorted((sms, hz) for _, sms, hz, _ in devices) == sorted(
        (gpu["num_sms"], gpu["clock_rate"] * 1000) for gpu in listed
    )
