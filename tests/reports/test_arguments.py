"""What operators were called with, as people read it."""

import pytest

from dctx.queries.operators import Arguments
from dctx.reports.arguments import arguments_text


@pytest.mark.parametrize(
    ("shapes", "types", "strides", "concrete", "wanted"),
    [
        ("[[2,3],[]]", '["float","Scalar"]', None, '["","0.5"]', "f32[2,3], 0.5"),
        ("[[2,3]]", '["c10::Half"]', "[[3,1]]", None, "f16[2,3]"),
        ("[[2,3]]", '["c10::Half"]', "[[1,2]]", None, "f16[2,3] strides (1,2)"),
        ("[[],[]]", '["float","long int"]', None, None, "f32[], i64[]"),
        ("[[[2],[3,4]],[]]", '["TensorList","Scalar"]', None, None, "TensorList[[2], [3,4]]"),
        ("[[8,4],[4,4],[]]", "[]", None, None, "[8,4], [4,4]"),
        ("[[],[],[5]]", '["","Scalar","my_type"]', None, '["","False",""]', "-, False, my_type[5]"),
        ("[[2", '["float"]', None, None, '[[2 ["float"]'),
        ('{"a":1}', None, None, None, '{"a":1}'),
        (None, None, None, None, ""),
        ('[["x"]]', '["float"]', None, None, "f32[?]"),
    ],
)
def test_text(
    shapes: str | None,
    types: str | None,
    strides: str | None,
    concrete: str | None,
    wanted: str,
) -> None:
    assert arguments_text(Arguments(shapes, types, strides, concrete, 1, 0, 0)) == wanted
