"""Changes as cells of a table."""

import pytest

from dctx.reports.compare_cells import percent_cell


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (0.0, "0 %"),
        (75.14, "+75.1 %"),
        (-99.99, "-99.9 %"),
        (-100.0, "-100.0 %"),
        (999.94, "+999.9 %"),
        (1825.3, "+1,825 %"),
        (99_998.0, "+99,998 %"),
        (123_400.0, "x1,235"),
        (89_999_900.0, "x900,000"),
        (5e12, "x5e+10"),
    ],
)
def test_percentages_fit_their_column(percent: float, text: str) -> None:
    assert percent_cell(percent) == text
    assert len(text) <= 9
