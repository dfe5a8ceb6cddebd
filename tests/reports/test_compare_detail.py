"""The detail of a row of two traces as text: where both stand in the program."""

from __future__ import annotations

import os
from pathlib import Path

from dctx.analyzers.compare_detail import PairDetail, SourcePlace
from dctx.queries.metric import Metric
from dctx.reports.compare_detail import detail_text


def detail(base: SourcePlace | None, target: SourcePlace | None) -> PairDetail:
    return PairDetail(
        steps=None,
        no_steps=None,
        histogram=None,
        kernels=(),
        changes=(),
        sources=(base, target),
        paths=(("step",), ("step",)),
    )


def heading(base: SourcePlace | None, target: SourcePlace | None, *, swapped: bool = False) -> str:
    return detail_text(detail(base, target), Metric.GPU, "GPU time", swapped=swapped).heading


def test_sources_of_both_with_their_lines(tmp_path: Path) -> None:
    old, new = tmp_path / "v1.py", tmp_path / "v2.py"
    old.write_text("def step():\n    run()\n")
    new.write_text("# note\ndef step():\n    sync()\n    run()\n")
    os.utime(new, ns=(2_000, 2_000))
    base, target = SourcePlace("step", str(old), 1, None), SourcePlace("step", str(new), 2, 1_000)
    of_base = f"source, base: {old}:1 step\n> 1  def step():\n  2      run()"
    of_target = (
        f"source, target: {new}:2 step (written after the recording)\n"
        "  1  # note\n> 2  def step():\n  3      sync()\n  4      run()"
    )
    assert heading(base, target) == f"step\n{of_base}\n{of_target}"
    # Swapped, the target stands in the base's place.
    turned = heading(base, target, swapped=True)
    assert turned.index(str(new)) < turned.index(str(old))


def test_one_place_is_told_once_and_a_missing_file_with_its_reason(tmp_path: Path) -> None:
    place = SourcePlace("forward", str(tmp_path / "model.py"), 7, None)
    assert heading(place, place) == f"step\nsource: {place.file}:7 forward (not on this machine)"
    assert heading(None, place).endswith(
        f"source, target: {place.file}:7 forward (not on this machine)"
    )
    unknown = SourcePlace("forward", "model.py", None, None)
    assert "model.py forward (the line was not recorded)" in heading(unknown, None)
    assert heading(None, None) == "step"
