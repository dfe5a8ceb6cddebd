"""Where an export of a view may be written: never over the trace, whatever it is called."""

import os
from pathlib import Path

import pytest

from dctx.tui.export import TargetCheck


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_bytes(b"trace")
    return path


@pytest.mark.parametrize("name", ["trace.csv", "./trace.csv", "soft.csv", "hard.csv"])
def test_the_trace_is_never_overwritten(trace: Path, name: str) -> None:
    (trace.parent / "soft.csv").symlink_to(trace)
    os.link(trace, trace.parent / "hard.csv")
    check = TargetCheck(trace.parent, protected=(trace, trace.parent / "gone.dctx"))
    assert "trace itself" in check(name)
    assert "trace itself" in check(name)  # not even when it is confirmed


def test_another_file_is_overwritten_once_confirmed(trace: Path) -> None:
    (trace.parent / "other.csv").write_text("old")
    check = TargetCheck(trace.parent, protected=(trace,))
    assert "exists" in check("other.csv")
    assert check("other.csv") == ""
    assert check("new.csv") == ""
