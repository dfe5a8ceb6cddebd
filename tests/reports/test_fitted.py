"""Sheets in a terminal: what is shown where not all columns fit."""

import pytest

from dctx.reports.fitted import fitted, importance, short_list
from dctx.reports.sheets import Column, Sheet

SHEET = Sheet(
    "GEMM",
    [
        Column("name", ["aten::mm", "mylib::a_very_long_name_of_an_operator_that_goes_on"]),
        Column("thread_name", ["main thread 1", "main thread 1"]),
        Column("Kernel Time (µs)_mean", [1.5, 2.0], "µs"),
        Column("Kernel Time (µs)_std", [0.25, None], "µs"),
        Column("Kernel Time (µs)_sum", [123456.789, 2.0], "µs"),
        Column("name_count", [1000, 1]),
        Column("Percentage (%)", [99.99, 0.01], "%"),
    ],
)


def lines(width: int) -> list[str]:
    return list(fitted(SHEET, list(SHEET.rows()), width))


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_longer_and_no_figure_is_cut(width: int) -> None:
    text = lines(width)
    assert max(map(len, text)) <= width
    assert any("123456.789" in line for line in text)
    assert any(line.startswith("aten::mm") for line in text)


def test_what_finds_no_room_is_named_and_the_order_stays() -> None:
    assert lines(60) == [
        "                         Kernel Time              Percentage",
        "name                        (µs)_sum  name_count         (%)",
        "───────────────────────  ───────────  ──────────  ──────────",
        "aten::mm                  123456.789        1000       99.99",
        "mylib::a_ve…hat_goes_on        2.000           1        0.01",
        "",
        "3 more columns (--wide, or a file): thread_name, Kernel Time",
        "  (µs)_{mean,std}",
    ]


def test_a_wide_terminal_shows_all_columns() -> None:
    assert not any("more columns" in line for line in lines(200))


def test_a_figure_is_shown_in_one_unit() -> None:
    names = ["total_direct_kernel_time_sum", "total_direct_kernel_time_ms"]
    columns = [Column("name", ["a"]), Column(names[0], [12.0], "µs"), Column(names[1], [0.012])]
    text = list(fitted(Sheet("ops_summary", columns), [("a", 12.0, 0.012)], 200))
    assert any("0.012" in line for line in text)
    assert text[-1] == f"1 more column (--wide, or a file): {names[0]}"


def test_columns_that_matter_come_first() -> None:
    names = ["Percentage (%)", "name_count", "op category", "TFLOPS/s_agg", "TB/s_mean", "depth"]
    assert [importance(name) for name in names] == [0, 1, 2, 3, 4, 5]
    assert importance("TB/s_std") == importance("process_name") == 6


def test_statistics_of_one_figure_are_named_together() -> None:
    names = ["UID", "TB/s_mean", "TB/s_max", "op category", "x_std", "call_stack"]
    assert short_list(names) == ["UID", "TB/s_{mean,max}", "op category", "x_std", "call_stack"]


def test_sentences_go_on_in_the_next_line() -> None:
    sheet = Sheet(
        "data_quality", [Column("check", ["a"]), Column("explanation", ["one two " * 20])]
    )
    text = list(fitted(sheet, list(sheet.rows()), 40))
    assert " ".join(" ".join(text[2:]).split()) == "a " + ("one two " * 20).strip()


def test_what_all_synthetic_operators_end_with_tells_none_apart() -> None:
    names = [f"unlinked->{end}_of_a_long_name (Synthetic Op)" for end in ("add", "mul")]
    sheet = Sheet("ops_summary", [Column("name", names), Column("Count", [1, 2])])
    shown = [line.split()[-2] for line in fitted(sheet, list(sheet.rows()), 30)][-2:]
    assert [name[-8:] for name in shown] == ["ong_name", "ong_name"]


def test_kernels_are_told_apart_by_what_they_compute() -> None:
    names = [
        f"{before}void at::native::elementwise_kernel<4, at::native::{what}Functor<float> >(int, X)"
        for before in ("", "unlinked->")
        for what in ("Add", "Mul")
    ]
    sheet = Sheet("kernel_summary", [Column("Kernel name", names)])
    text = list(fitted(sheet, list(sheet.rows()), 42))[-4:]
    assert text[:2] == ["elementwise_kernel<AddFunctor>", "elementwise_kernel<MulFunctor>"]
    assert text[2:] == [f"unlinked->{label}" for label in text[:2]]
