"""The checks for a machine with a GPU, as far as they go without one."""

import json
import sys
from pathlib import Path

import pytest

from dctx.native.monitor.gpu_check.__main__ import gpu_files, main, run_item
from dctx.native.monitor.gpu_check.items import ITEMS, TOTAL_S, Item

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")


def test_the_limits_fit_into_nine_minutes() -> None:
    assert [item.number for item in ITEMS] == list(range(1, 14))
    assert TOTAL_S == 9 * 60
    assert sum(item.limit_s for item in ITEMS if item.number <= 6) < TOTAL_S


@pytest.mark.skipif(gpu_files(), reason="this machine has a GPU")
def test_without_a_gpu_each_check_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path / "out")]) == 1
    found = json.loads((tmp_path / "out" / "results.json").read_text())["items"]
    assert [(row["item"], row["state"], row["reason"]) for row in found] == [
        (number, "skipped", "no GPU") for number in range(1, 14)
    ]
    assert capsys.readouterr().out.count("skipped: no GPU") == 13
    assert main(["--out", str(tmp_path / "out"), "--items", "4, 6"]) == 1
    found = json.loads((tmp_path / "out" / "results.json").read_text())["items"]
    assert [row["item"] for row in found] == [4, 6]


def test_a_check_that_fails_or_takes_too_long_says_so(tmp_path: Path) -> None:
    unknown = run_item(Item(99, "none", 20, "machine"), tmp_path, 60)
    assert unknown["state"] == "failed"
    assert "StopIteration" in unknown["reason"]
    late = run_item(ITEMS[0], tmp_path, 0.0)
    assert (late["state"], late["reason"]) == ("timed out", "not ready after 0 s")
