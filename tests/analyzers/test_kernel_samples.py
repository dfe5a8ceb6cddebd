"""Samples of a kernel from a trace and from Nsight Compute: one model, whose parts sum to it."""

from __future__ import annotations

from pathlib import Path

from dctx.analyzers.kernel_samples import hot_lines, hot_places, of_ncu, of_trace
from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.queries.stalls import StallRow
from dctx.reports.source_map import SourceMap
from dctx.reports.stall_text import samples_sentence, stall_text


def row(
    offset: int, line: int | None, reason: str | None, samples: int, not_issued: int | None = None
) -> StallRow:
    file = None if line is None else "/src/k.py"
    return StallRow(
        "cubin 1f", "body", offset, None, file, line, reason, samples, not_issued, spread=False
    )


ROWS = [
    row(0, 7, "long_scoreboard", 60, 50),
    row(0, 7, "selected", 10, 0),
    row(16, 8, "barrier", 25, 20),
    row(32, 8, "long_scoreboard", 15, 5),
    row(48, None, "selected", 10, 0),
]


def test_places_and_lines_sum_to_the_kernel() -> None:
    samples = of_trace(ROWS)
    assert samples is not None
    assert (samples.total, samples.waiting, samples.not_issued) == (120, 100, 75)
    assert samples.stalls == {"long_scoreboard": 75, "selected": 20, "barrier": 25}
    assert sum(sum(place.stalls.values()) for place in samples.places) == samples.total
    assert sum(place.waiting for place in samples.places) == samples.waiting
    hot = hot_places(samples)
    assert [(one.place.at, one.share, one.reason) for one in hot] == [
        ("0x0", 0.60, "long_scoreboard"),
        ("0x10", 0.25, "barrier"),
        ("0x20", 0.15, "long_scoreboard"),
    ]
    lines = hot_lines(samples)
    assert [(one.place.line, one.share, one.reason) for one in lines] == [
        (7, 0.6, "long_scoreboard"),
        (8, 0.4, "barrier"),
    ]
    assert [one.place.line for one in hot_lines(samples, most=1)] == [7]
    assert samples_sentence(samples) == (
        "120 samples, 16.7 % of them issue an instruction. The others wait, as shares of these. "
        "In 62.5 % of all, the scheduler issued nothing, of any warp."
    )


def test_samples_without_reasons_tell_where_not_why() -> None:
    samples = of_trace([row(0, 7, None, 30), row(16, 8, None, 10)])
    assert samples is not None
    assert (samples.total, samples.waiting, samples.stalls) == (40, 40, {})
    assert [(one.share, one.reason) for one in hot_lines(samples)] == [(0.75, ""), (0.25, "")]
    text = " ".join(" ".join(stall_text(samples, 80, SourceMap())).split())
    assert "40 samples without reasons: they tell where the kernel spends its time" in text
    assert "75.0 % n/a k.py:7 (not on this machine)" in text
    assert of_trace([]) is None


def test_one_row_without_a_count_of_idle_schedulers_leaves_it_unknown() -> None:
    samples = of_trace([*ROWS, row(64, None, "wait", 1)])
    assert samples is not None
    assert samples.not_issued is None


def test_samples_of_nsight_compute() -> None:
    lines = [
        NcuLine("0x10", "LDG", {"long_scoreboard": 6, "selected": 4}, 5, "/a.cu", 3, "x = *p;"),
        NcuLine("0x20", "FADD", {"wait": 2}, 1),
    ]
    samples = of_ncu(NcuKernel("k", lines=lines))
    assert samples is not None
    assert (samples.total, samples.not_issued) == (12, 6)
    [line] = hot_lines(samples)
    assert (line.place.file, line.place.line, line.share) == ("/a.cu", 3, 0.75)
    text = " ".join(" ".join(stall_text(samples, 80, SourceMap())).split())
    assert "a.cu:3 x = *p;" in text  # the report brings the source along
    assert of_ncu(NcuKernel("k", metrics={"gpu__time_duration.sum": 7.0})) is None


def test_source_lines_come_from_where_the_sources_are_here(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("\n" * 6 + "    y = load(x)\n", encoding="utf-8")
    samples = of_trace(ROWS)
    assert samples is not None
    here = SourceMap((("/src", str(tmp_path)),))
    text = " ".join(" ".join(stall_text(samples, 100, here)).split())
    assert "k.py:7 y = load(x)" in text
    assert "k.py:8 (no line 8 in the file on this machine)" in text
