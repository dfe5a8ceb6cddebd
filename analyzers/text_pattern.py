"""A regular expression of the user, found in the texts of ranges in linear time.

The texts are matched by the database's engine (RE2), which does not backtrack: no pattern, however
unlucky, makes the search longer than the texts are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..queries.ranges import PatternError, told_by
from ..queries.trace import Trace
from .errors import RequestError
from .markers import StepText, read_number

GROUPS = ("step", "ctx", "gen")
_MOST_GROUPS = 9
"""Of the engine: a group further right cannot be read."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """What to look for, and which of its groups are read."""

    text: str
    what: str
    """Whose texts it finds, for messages."""
    groups: tuple[int, ...]
    """Place of the groups `step`, `ctx` and `gen`; 0 for one that it has not."""

    def said(self, trace: Trace) -> dict[int, StepText]:
        """What the texts say in which it is found, by string id. A group that is no number says
        nothing. RequestError where it needs what a search in linear time cannot do."""
        try:
            rows = told_by(trace, self.text, self.groups)
        except PatternError as error:
            raise RequestError(
                f"the {self.what} pattern {self.text!r} cannot be used ({error}). Look-around and "
                "back references are left out, so that no search takes long (RE2 syntax)."
            ) from error
        return {
            name: StepText(
                *(read_number(t) if g else -1 for t, g in zip(told, self.groups, strict=True))
            )
            for name, told in rows
        }


def text_pattern(pattern: str | None, what: str) -> TextPattern | None:
    """The pattern of the user; RequestError when it is none."""
    if pattern is None:
        return None
    if not pattern:
        raise RequestError(
            f"the {what} pattern is empty, and would be found in every text. Leave it out, or name "
            r"the texts, as in `my_step (?P<step>\d+)`."
        )
    try:
        index = re.compile(pattern).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        raise RequestError(
            f"the {what} pattern {pattern!r} is no regular expression ({error}). "
            r"Write it as in `my_step (?P<step>\d+)`."
        ) from error
    groups = tuple(index.get(name, 0) for name in GROUPS)
    if max(groups) > _MOST_GROUPS:
        raise RequestError(
            f"the {what} pattern {pattern!r} has more than {_MOST_GROUPS} groups before the last "
            "one that is read: write (?:...) where nothing is read."
        )
    return TextPattern(pattern, what, groups)
