"""Text columns made from Python strings, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.native import TextColumn


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"))))
def test_round_trip(texts: list[str | None]) -> None:
    column = TextColumn.from_list(texts)
    assert len(column) == len(texts)
    assert [column[row] for row in range(len(texts))] == texts
    assert column.null_count == texts.count(None)


def test_rows_outside() -> None:
    column = TextColumn.from_list(["a", "b"])
    assert column[-1] == "b"
    for row in (2, -3):
        with pytest.raises(IndexError):
            column[row]
