"""The checks for a machine with a GPU, as far as they go without one."""

import importlib
import importlib.util
import json
import math
import sys
import time
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


WITH_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


@WITH_TORCH
def test_each_model_is_trained_and_measured_on_the_cpu(tmp_path: Path) -> None:
    """No mistake in them waits for the machine with the GPU."""
    package = "dctx.native.monitor.gpu_check"
    models, train, measure = (
        importlib.import_module(f"{package}.{name}") for name in ("models", "train", "measure")
    )
    importlib.import_module("torch").set_num_threads(1)
    for name in models.NAMES:
        train.stepper(name, "cpu", small=True)()
    blocks = measure.Blocks("mlp", "cpu", 1, small=True)
    found = measure.measured(blocks, tmp_path, 1, time.monotonic())
    assert found["modes"].keys() == measure.MODES.keys()
    assert found["events"] > 100
    for mode in found["modes"].values():
        assert mode["rounds"] == 1
        assert math.isfinite(mode["ratio"])
    assert len(list(tmp_path.glob("*.dctxrec"))) == len(measure.MODES)


def test_programs_for_the_gpu_are_programs() -> None:
    texts = [
        (name, text)
        for module in ("machine", "programs", "samples", "work")
        for name, text in vars(
            importlib.import_module(f"dctx.native.monitor.gpu_check.{module}")
        ).items()
        if isinstance(text, str) and "\nimport " in text
    ]
    assert len(texts) >= 7
    for name, text in texts:
        compile(text, name, "exec")
