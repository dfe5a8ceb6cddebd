"""Name keys against regular expressions, and interned strings."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dctx.native import StringPool, TextColumn, name_key

WORDS = ("layer", "block", "iter", "step", "batch", "expert", "rank")
AFTER_WORD = "|".join(f"(?<={word})" for word in WORDS)
PIECES = st.sampled_from(
    [*WORDS, "Block", "sm", "fp", "0x", "0X", "x", "f", "_", ".", " ", "#", "::", "é", "層", "\0"]
) | st.integers(0, 300).map(str)
NAMES = st.lists(PIECES, max_size=12).map("".join)


def naive_key(text: str) -> str:
    text = re.sub(r"(?<![A-Za-z0-9])0[xX][0-9a-fA-F]+", "#", text)
    text = re.sub(rf"(?i:{AFTER_WORD})[0-9]+", "#", text)
    text = re.sub(r"(?<![A-Za-z0-9])[0-9]+", "#", text)
    return re.sub("#+", "#", text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("aten::mul, op_id = 990726", "aten::mul, op_id = #"),
        ("ptr=0x7ffe12ab34", "ptr=#"),
        ("layer12/attention", "layer#/attention"),
        ("DecoderLayer3", "DecoderLayer#"),
        ("sm90_xmma_gemm_bf16", "sm90_xmma_gemm_bf16"),
        ("fp8 step 7 of 10", "fp8 step # of #"),
        ("[1, 32, 4096]", "[#, #, #]"),
        ("#12", "#"),
    ],
)
def test_name_key_of_known_names(text: str, key: str) -> None:
    assert name_key(text) == key


@given(NAMES)
@example("0x12g 0xg layer0x5 a0x12")
def test_name_key_equals_the_rules(text: str) -> None:
    key = name_key(text)
    assert key == naive_key(text)
    assert name_key(key) == key


@given(st.lists(st.none() | st.text(max_size=4)), st.data())
def test_pool_ids_are_in_order_of_first_use(texts: list[str | None], data: st.DataObject) -> None:
    pool = StringPool()
    ids: dict[str, int] = {}
    expected = [-1 if text is None else ids.setdefault(text, len(ids)) for text in texts]
    column = TextColumn.from_list(texts)
    assert pool.intern_column(column).tolist() == expected
    assert [pool[i] for i in range(len(pool))] == list(ids)
    assert [pool.intern(text) for text in ids] == list(ids.values())
    rows = data.draw(st.lists(st.integers(-3, len(texts) - 1)))
    found = pool.intern_rows(column, np.array(rows, np.int64))
    assert found.tolist() == [expected[row] if row >= 0 else -1 for row in rows]


def test_pool_makes_the_keys_of_its_texts() -> None:
    pool = StringPool()
    ids = pool.intern_column(TextColumn.from_list(["step 1", "step 2", None, "forward"]))
    keys = pool.name_keys(ids)
    assert [pool[key] if key >= 0 else None for key in keys.tolist()] == [
        "step #",
        "step #",
        None,
        "forward",
    ]
    assert len(pool) == 4
    with pytest.raises(IndexError):
        pool[4]
