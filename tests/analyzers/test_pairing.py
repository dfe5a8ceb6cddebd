"""Two traces brought to equal work, and what they say. Times in µs."""

from pathlib import Path

import pytest

from dctx.analyzers.conclusion import Outcome
from dctx.analyzers.pairing import Compared, compare_traces
from dctx.analyzers.steps import StepOptions
from tests.analyzers.workload import Workload, opened
from tests.near import near


def serving(
    path: Path,
    *,
    step: float = 1_000,
    gap: float = 1_000,
    steps: int = 40,
    generation: int = 8,
    kernels: int = 2,
    kernel: float = 50,
    kernel_name: str = "gemm",
    ops: dict[str, float] | None = None,
) -> Path:
    """Decode steps of one rank; every third one is 10 longer, so that there is some variation."""
    work = Workload(path)
    at = 10_000.0
    for i in range(steps):
        long = step + (10 if i % 3 == 0 else 0)
        work.range(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, {generation} gen reqs",
                   at, at + long)  # fmt: skip
        for k in range(kernels):
            begin = at + 20 * k
            work.kernel(begin + 5, begin + 5 + kernel, launch=(begin + 1, begin + 3),
                        name=kernel_name, stream=7 + k)  # fmt: skip
        begin = at + long + 1
        for name, length in (ops or {}).items():
            work.range(name, begin, begin + length)
            begin += length + 1
        at += long + gap
    work.export.close()
    return path


def compared(base: Path, target: Path, options: StepOptions | None = None) -> Compared:
    with opened(base) as old, opened(target) as new:
        return compare_traces(old, new, options)


def outcome(result: Compared) -> Outcome:
    assert result.conclusion is not None, result.not_comparable
    return result.conclusion.outcome


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return serving(tmp_path / "base.sqlite")


@pytest.mark.parametrize(
    ("step", "gap", "expected", "share"),
    [
        (1_000, 1_400, Outcome.GAP, 1.0),
        (1_155, 1_245, Outcome.GAP, 0.6125),
        (1_200, 1_200, Outcome.BOTH, 0.5),
        (1_245, 1_155, Outcome.STEP, 0.3875),
        (1_500, 900, Outcome.STEP, -0.25),
        (1_000, 1_035, Outcome.UNCHANGED, None),  # 1.7 %
        (1_000, 800, Outcome.IMPROVED, None),
    ],
)
def test_where_the_time_went(
    base: Path, tmp_path: Path, step: float, gap: float, expected: Outcome, share: float | None
) -> None:
    result = compared(base, serving(tmp_path / "target.sqlite", step=step, gap=gap))
    assert outcome(result) is expected
    assert result.conclusion is not None
    assert result.conclusion.gap_share == (None if share is None else near(share))
    assert result.conclusion.gpu_unchanged is True
    assert result.conclusion.regressed == (share is not None)


def test_offsetting_changes_are_listed_though_the_time_is_the_same(tmp_path: Path) -> None:
    base = serving(tmp_path / "base.sqlite", ops={"_update_requests": 100, "_schedule": 400})
    target = serving(tmp_path / "target.sqlite", ops={"_update_requests": 400, "_schedule": 100})
    result = compared(base, target)
    assert outcome(result) is Outcome.UNCHANGED
    assert result.conclusion is not None
    assert result.conclusion.sentences[1] == (
        "Changes that offset each other: _schedule -300.0 µs, _update_requests +300.0 µs."
    )


def test_gpu_work_that_moved_between_kernels_is_a_change(base: Path, tmp_path: Path) -> None:
    target = serving(tmp_path / "t.sqlite", step=1_300, kernel_name="other_gemm")
    result = compared(base, target)
    assert outcome(result) is Outcome.STEP
    assert result.conclusion is not None
    assert result.conclusion.gpu_unchanged is False
    assert result.conclusion.sentences[1] == (
        "Kernels changed, kernel time +0.0 µs (+0.0 %): gemm -100.0 µs, other_gemm +100.0 µs."
    )


def test_more_launches_for_the_same_gpu_time(base: Path, tmp_path: Path) -> None:
    target = serving(tmp_path / "t.sqlite", kernels=4, kernel=26)
    [finding] = compared(base, target).findings
    assert finding.id == "launch-count"
    assert finding.sentence == (
        "2.0 → 4.0 launched kernels per step (2.0 x) while the kernel time per step stayed within "
        "10 %; launching takes +4.0 µs per step."
    )
    slower = serving(tmp_path / "slower.sqlite", kernels=4, kernel=50)
    assert compared(base, slower).findings == ()  # twice the GPU time: more work, not less fusion


def test_request_handling_that_doubled(tmp_path: Path) -> None:
    base = serving(tmp_path / "base.sqlite", ops={"_fetch_new_requests": 40})
    target = serving(tmp_path / "target.sqlite", ops={"_fetch_new_requests": 80})
    [finding] = compared(base, target).findings
    assert finding.id == "request-management"
    less = serving(tmp_path / "less.sqlite", ops={"_fetch_new_requests": 79})
    assert compared(base, less).findings == ()


def test_small_new_ranges_are_no_bookkeeping(base: Path, tmp_path: Path) -> None:
    target = serving(tmp_path / "target.sqlite", ops={"audit": 50, "count": 49})
    [finding] = compared(base, target).findings
    assert finding.id == "new-bookkeeping"
    assert [e.name for e in finding.evidence] == ["audit"]


def test_a_pair_without_a_difference_says_so(base: Path, tmp_path: Path) -> None:
    result = compared(base, serving(tmp_path / "same.sqlite"))
    assert outcome(result) is Outcome.UNCHANGED
    assert result.conclusion is not None
    assert len(result.conclusion.sentences) == 1
    assert (result.findings, result.cautions, result.generation) == ((), (), 8)


def test_different_work_is_not_compared(base: Path, tmp_path: Path) -> None:
    result = compared(base, serving(tmp_path / "other.sqlite", generation=16))
    assert result.comparison is None
    assert result.conclusion is None
    assert result.not_comparable == (
        "the steady steps of the two traces do different work: no number of generation requests "
        "has 5 steps in both (base: 40 steps with 8; target: 40 steps with 16)"
    )


def test_few_common_steps_are_a_caution(base: Path, tmp_path: Path) -> None:
    result = compared(base, serving(tmp_path / "short.sqlite", steps=12))
    assert result.comparison is not None
    assert result.cautions == (
        "only 12 steps with 8 generation requests are in both traces; 20 would be sure",
    )


def test_without_steps_there_is_no_comparison(base: Path, tmp_path: Path) -> None:
    work = Workload(tmp_path / "none.sqlite")
    work.kernel(10, 20, launch=(1, 2))
    work.export.close()
    result = compared(base, work.path)
    assert result.comparison is None
    assert result.not_comparable is not None
    assert result.not_comparable.startswith("no steps were found in the target: ")


def test_without_calls_and_kernels_times_are_still_compared(tmp_path: Path) -> None:
    before, after = (
        serving(tmp_path / f"{gap}.sqlite", gap=gap, kernels=0, ops={"poll": gap / 2})
        for gap in (600, 1_200)
    )
    result = compared(before, after)
    assert outcome(result) is Outcome.GAP
    assert result.comparison is not None
    assert result.comparison.kernels is None
    assert result.comparison.operations is not None
    assert result.comparison.baseline.gpu_missing == "no GPU work was recorded in the steps"
    assert result.conclusion is not None
    assert result.conclusion.gpu_unchanged is None


def test_a_different_number_of_ranks_is_a_caution(base: Path, tmp_path: Path) -> None:
    work = Workload(tmp_path / "two.sqlite")
    for i in range(40):
        for pid in (1, 2):
            at = 10_000 + 2_000 * i
            work.range(f"[Executor] _forward_step {i + 100}: 0 ctx reqs, 8 gen reqs",
                       at, at + 1_000, pid=pid)  # fmt: skip
    work.export.close()
    result = compared(base, work.path)
    assert result.cautions == ("the base has 1 rank, the target 2: their work may differ",)
