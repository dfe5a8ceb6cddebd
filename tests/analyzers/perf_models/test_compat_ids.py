"""Differences from TraceLens can be taken out one by one."""

from pathlib import Path
from typing import Any

import pytest

from dctx.analyzers.compat_ids import COMPAT_IDS, UnknownIdError, cleared
from dctx.analyzers.report_rules import DCTX, TRACELENS, tracelens
from tests.analyzers.perf_models.calls import FLOAT, perf, scalar, tensor


def test_ids_are_taken_out() -> None:
    assert cleared("tracelens") == frozenset()
    assert cleared("tracelens,-D21, -D1") == {"D21", "D1"}
    assert tracelens(frozenset(COMPAT_IDS)).compat == frozenset()
    rules = tracelens(frozenset({"D1", "D11"}))
    assert (rules.linked_only, rules.by_thread, rules.few_patterns) == (False, False, True)
    assert TRACELENS.compat == frozenset(COMPAT_IDS)
    assert DCTX.compat == frozenset()


@pytest.mark.parametrize("text", ["tracelens,D21", "tracelens,-D12", "tracelens,", "other", ""])
def test_what_is_no_id_is_told(text: str) -> None:
    with pytest.raises(UnknownIdError):
        cleared(text)


@pytest.mark.parametrize(
    ("what", "name", "arguments", "theirs", "right"),
    [
        # Softmax and masks aside, two bytes an element: q, k, v and the result of 8 x 4 each.
        ("D21", "aten::_scaled_dot_product_flash_attention",
         [tensor(1, 1, 8, 4, dtype=FLOAT)] * 3 + [scalar(0.0), scalar(False)], 256, 512),
        # 4 x 6 elements reduced along the last dimension leave 4, not 1.
        ("D20", "aten::sum", [tensor(4, 6, dtype=FLOAT), scalar([1])], 4 * 25, 4 * 28),
        # An addend of (2, 3), not of 3: A 2 x 5, B 5 x 3, the result 2 x 3.
        ("D27", "aten::addmm", [tensor(2, 3, dtype=FLOAT), tensor(2, 5, dtype=FLOAT),
                                tensor(5, 3, dtype=FLOAT)], 4 * 34, 4 * 37),
        # 4 x 4 in, two channels of it out, a weight of 2, and its bias.
        ("D14", "aten::convolution",
         [tensor(1, 1, 4, 4, dtype=FLOAT), tensor(2, 1, 1, 1, dtype=FLOAT), tensor(2, dtype=FLOAT)],
         4 * (16 + 2 + 32), 4 * (16 + 2 + 32 + 2)),
    ],
)  # fmt: skip
def test_each_holds_by_itself(
    what: str, name: str, arguments: list[Any], theirs: float, right: float
) -> None:
    assert perf(name, *arguments, compat=frozenset({what})).bytes == theirs
    others = frozenset(COMPAT_IDS) - {what}
    assert perf(name, *arguments).bytes == right
    assert perf(name, *arguments, compat=others).bytes == right


def test_the_documentation_lists_them() -> None:
    text = (Path(__file__).parents[3] / "docs" / "report.md").read_text(encoding="utf-8")
    for name, what in COMPAT_IDS.items():
        assert f"| {name} | {what} |" in text
