"""Statuses of operations, and the tests behind them, on tables computed by hand."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from dctx.analyzers.change import CompareLimits, Status, change
from dctx.analyzers.regression import TableChange, compare_tables
from dctx.analyzers.step_table import Series, StepTable
from dctx.ingest.model import Layer
from tests.near import near

LIMITS = CompareLimits()
FLOOR_NS = 5_000.0
N = 12


def series(*ranks: Sequence[int]) -> Series:
    return Series(tuple(np.array(values, np.int64) for values in ranks))


def table(rows: Mapping[str, Sequence[Sequence[int]]], *, other: bool = False) -> StepTable:
    """One row a name: the total of each step (ns), by rank."""
    ranks = len(next(iter(rows.values())))
    values = {
        name: [np.array(steps, np.int64) for steps in by_rank] for name, by_rank in rows.items()
    }
    total = np.array([[steps.sum() for steps in by_rank] for by_rank in values.values()])
    square = np.array(
        [[np.square(steps.astype(float)).sum() for steps in r] for r in values.values()]
    )
    first = next(iter(values.values()))
    return StepTable(
        names=tuple(rows),
        layer=np.full(len(rows), Layer.ANNOTATION, np.uint8),
        other_thread=np.full(len(rows), other),
        is_step=np.zeros(len(rows), np.bool_),
        node=np.arange(len(rows), dtype=np.int32),
        parents=(None,) * len(rows),
        steps=np.array([len(first[rank]) for rank in range(ranks)], np.int64),
        calls=np.ones_like(total),
        total_ns=total,
        total_square=square,
        self_ns=total,
        self_in_step_ns=total,
        total_in_step_ns=total,
    )


def compared(old: StepTable, new: StepTable) -> TableChange:
    rows = [np.arange(len(t)) for t in (old, new)]
    return compare_tables(old, rows[0], new, rows[1], FLOOR_NS, LIMITS)


def status(old: Sequence[int], new: Sequence[int]) -> tuple[Status, str]:
    """Of one operation on one rank."""
    result = compared(table({"op": [old]}), table({"op": [new]}))
    return result.status[0], result.mark(0)


def steady(ns: int, n: int = N) -> list[int]:
    return [ns] * n


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (100_000, 151_000, (Status.REGRESSION, "")),
        (100_000, 150_000, (Status.UNCHANGED, "+")),  # exactly 50 % is not beyond it
        (100_000, 69_000, (Status.IMPROVED, "")),
        (100_000, 70_000, (Status.UNCHANGED, "-")),
        (100_000, 100_000, (Status.UNCHANGED, "")),
        (4_000, 8_999, (Status.UNCHANGED, "")),  # more than doubled, below the floor
        (4_000, 9_000, (Status.REGRESSION, "")),
        (100_000, 104_999, (Status.UNCHANGED, "")),
    ],
)
def test_percent_and_floor(old: int, new: int, expected: tuple[Status, str]) -> None:
    assert status(steady(old), steady(new)) == expected


def test_a_change_within_the_variation_of_the_steps_is_none() -> None:
    """Twelve values of 0 and 400: s = 208.9, 3 standard errors of the difference are 255.8."""
    wild = [0, 400_000] * (N // 2)
    much = [value + 250_000 for value in wild]
    more = [value + 260_000 for value in wild]
    assert status(wild, much) == (Status.UNCHANGED, "")
    assert status(wild, more) == (Status.REGRESSION, "")
    noise = compared(table({"op": [wild]}), table({"op": [much]})).noise_ns[0]
    variance = N * 200_000**2 / (N - 1)
    assert noise == near(3 * math.sqrt(2 * variance / N))


def test_too_few_steps_show_no_change() -> None:
    assert status(steady(100_000, 9), steady(900_000, 9)) == (Status.UNCHANGED, "")
    assert status(steady(100_000, 10), steady(900_000, 10)) == (Status.REGRESSION, "")


def test_new_and_removed_need_the_floor() -> None:
    old = table({"kept": [steady(10_000)], "gone": [steady(6_000)], "small": [steady(4_000)]})
    new = table({"kept": [steady(10_000)], "fresh": [steady(5_000)], "tiny": [steady(4_999)]})
    result = compared(old, new)
    found = dict(zip(result.names, result.status, strict=True))
    assert found == {
        "gone": Status.REMOVED,
        "fresh": Status.NEW,
        "tiny": Status.UNCHANGED,
        "small": Status.UNCHANGED,
        "kept": Status.UNCHANGED,
    }
    assert list(result.names) == ["gone", "fresh", "tiny", "small", "kept"]  # by size of change
    fresh = result.names.index("fresh")
    assert result.delta_percent(fresh) is None
    assert (result.baseline_row[fresh], result.target_row[fresh]) == (-1, 1)


def test_ranks_that_disagree_are_told() -> None:
    old = table({"op": [steady(100_000), steady(100_000)]})
    apart = table({"op": [steady(200_000), steady(20_000)]})
    alike = table({"op": [steady(200_000), steady(97_000)]})  # -3 µs is below the floor
    assert compared(old, apart).status == (Status.RANK_DEPENDENT,)
    assert compared(old, alike).status == (Status.UNCHANGED,)
    assert compared(old, alike).mark(0) == "+"


def test_a_mean_is_over_ranks_however_many_steps_each_has() -> None:
    result = compared(
        table({"op": [steady(10_000, 10), steady(40_000, 30)]}), table({"op": [steady(25_000, 10)]})
    )
    assert result.baseline_ns[0] == 25_000
    assert result.delta_ns[0] == 0


def test_threads_are_rows_of_their_own() -> None:
    old = table({"op": [steady(50_000)]})
    new = table({"op": [steady(50_000)]}, other=True)
    result = compared(old, new)
    assert sorted(zip(result.other_thread.tolist(), result.status, strict=True)) == [
        (False, Status.REMOVED),
        (True, Status.NEW),
    ]


def test_times_need_two_percent_and_the_noise_test() -> None:
    base = series(steady(1_000_000))
    for target, significant in ((1_020_000, False), (1_021_000, True), (979_000, True)):
        found = change(base, series(steady(target)), LIMITS)
        assert found is not None
        assert found.significant is significant
        assert found.delta == target - 1_000_000
    assert change(base, series([]), LIMITS) is None
    few = change(series(steady(1_000_000, 5)), series(steady(2_000_000, 5)), LIMITS)
    assert few is not None
    assert (few.noise, few.significant) == (None, False)


def test_quantiles_are_those_of_the_sorted_values() -> None:
    values = series([5, 1, 9], [3, 7, 11])
    assert values.p50_ns == 7  # sorted[⌊0.5 * 6⌋]
    assert values.quantile_ns(0.9) == 11
    assert series([]).p50_ns is None


def test_statistics_agree_with_numpy() -> None:
    random = np.random.default_rng(7)
    ranks = [random.integers(0, 10**9, n) for n in (50, 80)]
    found = Series(tuple(ranks)).samples
    both = np.concatenate(ranks)
    assert found.variance[0] == near(both.var(ddof=1))
    assert found.mean[0] == near(np.mean([r.mean() for r in ranks]))
    assert found.rank_variance[0] == near([r.var(ddof=1) for r in ranks])
