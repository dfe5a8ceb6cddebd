"""Numbers as text."""

import pytest

from dctx.analyzers.quantities import percent
from dctx.queries.metric import Metric
from dctx.reports import format as fmt


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "n/a"),
        (0, "0 ns"),
        (999, "999 ns"),
        (999.6, "1.00 µs"),
        (1_000, "1.00 µs"),
        (9_994, "9.99 µs"),
        (9_995, "10.0 µs"),
        (99_949, "99.9 µs"),
        (99_950, "100 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (12_345_678, "12.3 ms"),
        (14_200_000_000, "14.2 s"),
        (2_000_000_000_000, "2000 s"),
        (-1_500, "-1.50 µs"),
        (0.25, "0.25 ns"),
    ],
)
def test_duration(ns: float | None, text: str) -> None:
    assert fmt.duration(ns) == text


def test_counts() -> None:
    assert fmt.count(1_310_000) == "1,310,000"
    assert fmt.count_short(1_310_000) == "1.31 M"
    assert fmt.count_short(999) == "999"
    assert (fmt.count(None), fmt.count_short(None)) == ("n/a", "n/a")


def test_sizes() -> None:
    assert fmt.size(0) == "0 B"
    assert fmt.size(98_304) == "96.0 KiB"
    assert fmt.size(1023 * 1024) == "1.00 MiB"  # four digits would not be read at a glance
    assert fmt.size(None) == "n/a"


def test_share() -> None:
    assert fmt.share(0.4127) == "41.3 %"
    assert fmt.share(None) == "n/a"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "just now"), (60, "1 minute ago"), (7_300, "2 hours ago"), (172_800, "2 days ago")],
)
def test_age(seconds: float, text: str) -> None:
    assert fmt.age(seconds) == text


def test_utc_time() -> None:
    assert fmt.utc_time(1_700_000_000_999_999_999) == "2023-11-14 22:13:20 UTC"
    assert fmt.utc_time(None) == "n/a"


def test_dim3() -> None:
    assert fmt.dim3((64, 1, 1)) == "(64, 1, 1)"
    assert fmt.dim3(None) == "n/a"


def test_the_middle_gives_way() -> None:
    assert fmt.shorten_middle("flash_fwd_kernel", 16) == "flash_fwd_kernel"
    assert fmt.shorten_middle("flash_fwd_kernel", 9) == "flas…rnel"
    assert fmt.shorten_middle("flash_fwd_kernel", 8) == "flas…nel"
    assert fmt.shorten_middle("flash", 1) == "…"
    assert fmt.shorten_middle("flash", 0) == ""


def test_paths_keep_their_inner_end() -> None:
    names = ("thread", "forward", "launch")
    assert fmt.path(names, 40) == "thread > forward > launch"
    assert fmt.path(names, 20) == "… > forward > launch"
    assert fmt.path(names, 19) == "… > launch"
    assert fmt.path(names, 5) == "la…ch"
    assert fmt.path(("x" * 20, "launch"), 20) == "xxxxx…xxxxx > launch"
    assert fmt.path(("process", "x" * 20, "launch"), 24) == "… > xxxxx…xxxxx > launch"
    assert fmt.path((), 5) == ""
    assert fmt.path(names, 40, keep_first=True) == "thread > forward > launch"
    assert fmt.path(names, 24, keep_first=True) == "thread > … > launch"
    assert all(len(fmt.path(names, width)) <= width for width in range(1, 40))


def test_bar() -> None:
    assert fmt.bar(0.5, 4) == "██  "
    assert fmt.bar(0.33, 4) == "█▍  "
    assert fmt.bar(1.5, 4) == "████"
    assert fmt.bar(-1, 4) == "    "


@pytest.mark.parametrize(
    ("metric", "largest", "unit", "value", "text"),
    [
        (Metric.GPU, 9_999, "ns", 1_234, "1234"),
        (Metric.GPU_SELF, 10_000, "µs", 1_234, "1.23"),
        (Metric.HOST, 14_200_000, "ms", 1_234_567, "1.235"),
        (Metric.MEAN, 20_000_000_000, "s", 14_200_000_000, "14.200"),
        (Metric.BYTES, 40_000, "KiB", 1_536, "1.5"),
        (Metric.CALLS, 1_000_000, "", 42, "42"),
        (Metric.GPU, None, "ns", 0, "0"),
    ],
)
def test_a_column_has_one_unit(
    metric: Metric, largest: float | None, unit: str, value: float, text: str
) -> None:
    column = fmt.column_for(metric, largest)
    assert (column.unit, column.text(value)) == (unit, text)
    assert column.text(None) == ""
    assert column.text(None, missing="n/a") == "n/a"


def test_a_list_that_is_too_long_to_read_ends_with_a_count() -> None:
    few = range(fmt.MOST_LISTED)
    assert fmt.limited(few, "GPUs", "dctx info --json") == (few, [])
    listed, more = fmt.limited(range(40_000), "GPUs", "dctx info --json")
    assert list(listed) == list(few)
    assert more == ["and 39,936 more GPUs: see dctx info --json"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (None, "n/a"),
        (-100.0, "-100.0"),
        (-99.98, "-99.9"),  # something is left
        (-99.999999, "-99.9"),
        (-99.94, "-99.9"),
        (-120.0, "-120.0"),
        (19.95, "+19.9"),
        (642.857, "+642.9"),
        (1349.04, "+1,349.0"),
    ],
)
def test_a_change_is_a_hundred_percent_only_where_all_is_gone(
    change: float | None, text: str
) -> None:
    assert fmt.change_percent(change) == text


def test_a_change_in_a_sentence_too() -> None:
    assert fmt.change_percent(-99.9999, 2) == "-99.99"
    assert percent(-99.98) == "-99.9 %"
    assert percent(-99.98, sign=False) == "99.9 %"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0.0, "0.0"),
        (12.34, "12.3"),
        (1234.5, "1,234.5"),
        (0.06, "0.1"),
        (0.04, "0.04"),
        (-0.004, "-0.004"),
        (0.00003, "<0.0001"),
        (-0.00003, ">-0.0001"),
    ],
)
def test_evidence_is_not_nothing_where_it_is_little(value: float | None, text: str) -> None:
    assert fmt.evidence_number(value) == text
