"""`dctx info --json` on recorded traces against values made by an independent reader."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

ROOT = os.environ.get("DCTX_TRACES", "")
NAMES = sorted(path.name for path in (Path(ROOT) / "nsys").glob("*.sqlite")) if ROOT else []
if not NAMES:
    pytest.skip("DCTX_TRACES does not lead to recorded traces", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("lasting_traces")


def _load(root: str, name: str) -> Any:
    path = Path(root) / "expected" / "independent" / "nsys" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _parts(recorded: Any) -> list[dict[str, int]]:
    return [recorded] if isinstance(recorded, dict) else recorded


@pytest.mark.parametrize("name", NAMES)
def test_info_equals_the_reference(name: str, run: Callable[..., Result]) -> None:
    expected = _load(ROOT, name)
    result = run("info", Path(ROOT) / "nsys" / name, "--json")
    assert result.exit_code == 0, result.output
    info = json.loads(result.stdout)

    rows = {table: item["rows"] for table, item in info["tables"].items()}
    assert {table: rows.get(table) for table in expected["rows"]} == expected["rows"]

    kernels = expected.get("kernels", {"devices": {}, "top": []})
    devices = [
        (d["kernel_count"], d["kernel_sum_ns"], d["busy_ns"], d["kernel_window_ns"])
        for d in info["devices"]
        if d["kernel_count"]
    ]
    assert devices == [
        (d["count"], d["sum_ns"], d["busy_ns"], d["window_ns"])
        for _, d in sorted(kernels["devices"].items())
    ]
    assert [(k["name"], k["count"], k["sum_ns"]) for k in info["top_kernels"]] == [
        (k["short_name"], k["count"], k["sum_ns"]) for k in kernels["top"]
    ]

    for kind in ("memcpy", "memset"):
        parts = _parts(expected.get(kind, []))
        found = info["gpu_operations"].get(kind, {"count": 0, "sum_ns": 0, "bytes": None})
        for key in ("count", "sum_ns", "bytes"):
            if all(key in part for part in parts):
                assert (found[key] or 0) == sum(part[key] for part in parts), (kind, key)
    if "sync" in expected:
        sync = info["gpu_operations"]["sync"]
        assert (sync["count"], sync["sum_ns"]) == (
            expected["sync"]["count"],
            expected["sync"]["sum_ns"],
        )

    if "nvtx" in expected:
        ranges, nvtx = info["annotations"], expected["nvtx"]
        closed = ranges["push_pop"] + ranges["start_end"] - ranges["open"]
        assert closed == nvtx["closed_ranges"]
        assert ranges["push_pop"] == nvtx["by_event_type"].get("59", 0)
        assert ranges["distinct_texts"] == nvtx["distinct_texts"]
        assert ranges["threads"] == nvtx["threads"]
        assert [(t["text"], t["count"], t["sum_ns"]) for t in ranges["top"]] == [
            (t["text"], t["count"], t["sum_ns"]) for t in nvtx["top_by_total"]
        ]
