"""Statements by name from the `.sql` files: `kernels.top` is the block named top of kernels.sql."""

from functools import cache
from importlib.resources import files


@cache
def blocks(subject: str) -> dict[str, str]:
    """Text by name, in the order of the file. Not to be changed."""
    text = (files("dctx.queries") / "sql" / f"{subject}.sql").read_text(encoding="utf-8")
    blocks: dict[str, str] = {}
    for block in text.split("-- name: ")[1:]:
        head, _, body = block.partition("\n")
        blocks[head.strip()] = body.strip().rstrip(";")
    return blocks


def statement(name: str) -> str:
    """The SQL text of `subject.name`; KeyError when there is none."""
    subject, _, block = name.partition(".")
    return blocks(subject)[block]
