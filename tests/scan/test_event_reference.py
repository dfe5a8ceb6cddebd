"""Real traces: counts as counted independently, and as Python's json module sees the file."""

import json
import os
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scan.trace_json import Scanned, scan

TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
NULL = np.iinfo(np.int64).min
FOLDERS = ("torch", "torch-edge", "multirank")
FILES = sorted(path for folder in FOLDERS for path in (TRACES / folder).rglob("*.json*"))
INDEPENDENT = TRACES / "expected" / "independent"
WITH_COUNTS = [
    path for path in FILES if (INDEPENDENT / f"{path.relative_to(TRACES)}.json").exists()
]

pytestmark = pytest.mark.skipif(not FILES, reason="DCTX_TRACES names no folder with traces")


def text_of(path: Path) -> bytes:
    """What can be inflated, of all members."""
    rest = path.read_bytes()
    out = b""
    while rest[:2] == b"\x1f\x8b":
        member = zlib.decompressobj(31)
        out += member.decompress(rest)
        rest = member.unused_data
    return out or rest


def name_of(path: Path) -> str:
    return str(path.relative_to(TRACES))


def gpu_events(found: Scanned) -> int:
    return found.scan.rows("gpu")


@pytest.mark.parametrize("path", WITH_COUNTS, ids=name_of)
def test_counts_of_an_independent_reader(path: Path) -> None:
    expected = json.loads((INDEPENDENT / f"{name_of(path)}.json").read_text())
    found = scan(text_of(path)).scan
    assert found.events == expected["events"]
    assert found.phases == expected["by_phase"]
    categories = {name or "(none)": count for name, count in found.categories.items()}
    assert categories == expected["by_category"]
    # Accelerators of other kinds are not counted there.
    calls = found.rows("launch") - found.categories.get("mtia_runtime", 0)
    operations = found.rows("gpu") - found.categories.get("mtia_ccp_events", 0)
    assert calls == expected.get("runtime_calls", calls)
    assert operations == expected.get("gpu_events", operations)
    if operations < found.rows("gpu"):
        return
    gpu, launch = found.take("gpu"), found.take("launch")
    launched = (gpu["corr"] != NULL) & np.isin(gpu["corr"], launch["corr"])
    linked = launched & (gpu["flags"] & 16 != 0)
    assert int(launched.sum()) == expected.get("gpu_events_with_launch", int(launched.sum()))
    assert int(linked.sum()) == expected.get(
        "gpu_events_with_launch_and_ac2g_flow", int(linked.sum())
    )


@pytest.mark.parametrize("path", sorted((TRACES / "torch-edge").glob("*.json*")), ids=name_of)
def test_damaged_and_odd_files(path: Path) -> None:
    expected = json.loads((TRACES / "expected" / "edge.json").read_text()).get(path.name)
    if expected is None:
        pytest.skip("nothing is stated about this file")
    found = scan(text_of(path))
    assert found.scan.events == expected["events"]
    assert found.scan.phases.get("X", 0) == expected["x_events"]
    assert gpu_events(found) == expected["gpu_events"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_same_as_the_json_module(path: Path) -> None:
    data = text_of(path)
    try:
        content: Any = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        pytest.skip("no sound JSON")
    listed: Any = content.get("traceEvents", []) if hasattr(content, "get") else content
    events: list[Any] = [event for event in listed if hasattr(event, "get") and event]
    found = scan(data, [777_777] * 1_000)
    assert found.scan.events == len(events)
    assert found.scan.phases == Counter(str(event.get("ph", "")) for event in events)
    assert found.scan.categories == Counter(str(event.get("cat", "")) for event in events)
    if hasattr(content, "items"):
        metadata = {key: json.loads(text or "") for key, text in found.scan.metadata.items()}
        assert metadata == {key: value for key, value in content.items() if key != "traceEvents"}
