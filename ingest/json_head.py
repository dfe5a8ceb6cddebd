"""A look at the beginning of a JSON text: the keys on top and the first events, never the rest.

Only structure counts. `traceEvents` inside a string or a nested object is not the key, so the text
is walked, leniently: writers leave quotes in names unescaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

EVENTS_KEY: Final = "traceEvents"
_MOST_EVENTS: Final = 256
"""As many events tell whose they are."""
_NOWHERE: Final = -2

# A quote ends a string only before what may follow one; a lone quote begins one that is cut.
_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:(?:\\.|"(?!\s*(?:[,:}\]]|\Z)))[^"\\]*)*"|["{}\[\]:,]', re.DOTALL
)
_BLANK: Final = b" \t\r\n"


@dataclass(slots=True)
class JsonHead:
    """What the beginning of a JSON text shows."""

    top: str
    """`{` or `[`."""
    values: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Text of each value of a top-level object; empty for one that is cut, and for the events."""
    in_events: bool = False
    """An array of events was reached: the value of `traceEvents`, or the top-level array."""
    events: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """Its first elements that are objects and parse."""
    elements: int = 0
    """Elements of it that are objects, whole or not."""
    others: int = 0
    """Elements of it that are arrays."""
    first_keys: set[str] = field(default_factory=set[str])
    """Keys of its first element that has any, also when that is cut."""
    complete: bool = False
    """The top-level value ends within the text."""
    more: bool = False
    """Another top-level object follows: JSON lines, or texts one after the other."""


def look(text: bytes) -> JsonHead:
    """Walk the text, which begins with a brace or bracket, until it ends or shows enough."""
    return _Walk(text).run()


class _Walk:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._head = JsonHead(top=chr(text[0]))
        self._depth = 0
        self._events_depth = 1 if text[:1] == b"[" else _NOWHERE
        """Depth inside the array of events."""
        self._key = ""
        self._value_at = -1
        self._element_at = -1
        self._keys_done = False

    def run(self) -> JsonHead:
        head = self._head
        head.in_events = head.top == "["
        string = b""
        for match in _TOKEN.finditer(self._text):
            token = match[0]
            sign = token[:1]
            if sign == b'"':
                if len(token) == 1:
                    break  # cut
                string = token
            elif sign == b":":
                self._name(string, match.end())
            elif sign in b"{[":
                self._open(sign, match.start())
            elif sign == b",":
                self._separate(match.start())
            elif self._close(match.start()) or len(head.events) >= _MOST_EVENTS:
                break
        return head

    def _name(self, string: bytes, end: int) -> None:
        """The key `string` was read."""
        if self._depth == 1 and self._head.top == "{":
            self._key = _text(string)
            self._value_at = end
            self._head.values.setdefault(self._key, b"")
        elif self._depth == self._events_depth + 1 and not self._keys_done:
            self._head.first_keys.add(_text(string))

    def _open(self, sign: bytes, at: int) -> None:
        head = self._head
        if self._depth == self._events_depth:
            if sign == b"{":
                self._element_at = at
                head.elements += 1
            else:
                head.others += 1
        elif self._depth == 1 and sign == b"[" and self._is_events():
            self._events_depth = 2
            self._value_at = -1
            head.in_events = True
        self._depth += 1

    def _is_events(self) -> bool:
        return self._key == EVENTS_KEY and self._value_at >= 0 and not self._head.in_events

    def _separate(self, at: int) -> None:
        if self._depth == 1 and self._head.top == "{":
            self._end_value(at)

    def _close(self, at: int) -> bool:
        """True when the top-level value ends here."""
        self._depth -= 1
        if self._depth == self._events_depth and self._element_at >= 0:
            self._end_element(at + 1)
        elif self._depth <= 0:
            self._end_value(at)
            self._head.complete = True
            self._head.more = self._text[at + 1 :].lstrip(_BLANK)[:1] == b"{"
            return True
        return False

    def _end_value(self, at: int) -> None:
        if self._value_at >= 0:
            self._head.values[self._key] = self._text[self._value_at : at].strip(_BLANK)
            self._value_at = -1

    def _end_element(self, end: int) -> None:
        self._keys_done = bool(self._head.first_keys)
        try:
            value = json.loads(self._text[self._element_at : end].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            pass  # the scanner is more patient
        else:
            self._head.events.append(value)
        self._element_at = -1


def _text(token: bytes) -> str:
    return token[1:-1].decode("utf-8", "replace")
