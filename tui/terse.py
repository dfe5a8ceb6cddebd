"""The same picture in fewer bytes.

Textual writes every run of cells with all of its colours and attributes, and resets them after it.
Over SSH that is most of what a key costs. Here a run says only what differs from the one before.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

_RENDITION = re.compile(r"\x1b\[([\d;]*)m")
_MOVE = re.compile(r"\n?(\x1b\[\d+;\d+H)")
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
"""What ends an attribute, as far as every terminal knows it."""
_SEEN_ON_BLANKS = frozenset(("4", "7", "9", "21", "51", "52", "53"))
"""Attributes that show where there is nothing but background."""
_ATTRIBUTES = frozenset((*"123456789", "21", "51", "52", "53"))
_KEPT = 4096
"""Pairs of renditions that are remembered: a screen has some hundred."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Colours and attributes as parameters of SGR; empty colours are the terminal's own."""

    attributes: frozenset[str] = frozenset()
    foreground: str = ""
    background: str = ""

    @property
    def codes(self) -> str:
        return ";".join(
            filter(None, (*sorted(self.attributes, key=int), self.foreground, self.background))
        )


def terse(data: str) -> str:
    """What draws the same as `data`, with fewer bytes. Both begin and end with the same colours and
    attributes; at the beginning these are the terminal's own."""
    parts = _RENDITION.split(data)
    if len(parts) < 4:
        return data
    wanted = now = ""
    out: list[str] = []
    for at, part in enumerate(parts):
        if at % 2:
            wanted = _after(wanted, part)
        elif part:
            move = _MOVE.fullmatch(part) if part[0] in "\n\x1b" else None
            if move is not None:  # to a place: the new line before it is one more byte
                out.append(move[1])
                continue
            then = _on_blanks(now, wanted) if part.isspace() and part.isprintable() else wanted
            if then != now:
                out.append(_change(now, then))
                now = then
            out.append(part)
    if now != wanted:
        out.append(_change(now, wanted))
    return "".join(out)


def _after(before: str, codes: str) -> str:
    """Parameters that hold after more of them."""
    if codes.strip("0;") == "":
        return ""
    return f"{before};{codes}" if before else codes


@lru_cache(_KEPT)
def _look(codes: str) -> _Look | None:
    """None: there is a parameter that this does not know."""
    look = _Look()
    left = codes.split(";") if codes else []
    while left:
        code = left.pop(0)
        if code in _ATTRIBUTES:
            look = replace(look, attributes=look.attributes | {code})
            continue
        if not code.isdigit():
            return None
        number = int(code)
        if number in (38, 48):
            count = {"5": 2, "2": 4}.get(left[0] if left else "", 0)
            if not count or len(left) < count:
                return None
            code = ";".join((code, *left[:count]))
            del left[:count]
        if number == 38 or 30 <= number <= 37 or 90 <= number <= 97:
            look = replace(look, foreground=code)
        elif number == 48 or 40 <= number <= 47 or 100 <= number <= 107:
            look = replace(look, background=code)
        elif number == 39:
            look = replace(look, foreground="")
        elif number == 49:
            look = replace(look, background="")
        else:
            return None
    return look


@lru_cache(_KEPT)
def _on_blanks(now: str, wanted: str) -> str:
    """What has to hold for blanks: of colours they show the background alone."""
    one, other = _look(now), _look(wanted)
    if one is None or other is None or (one.attributes | other.attributes) & _SEEN_ON_BLANKS:
        return wanted
    return now if one.background == other.background else replace(
        one, background=other.background
    ).codes  # fmt: skip


@lru_cache(_KEPT)
def _change(now: str, wanted: str) -> str:
    """The shorter of what begins anew and of what tells the differences."""
    anew = f"\x1b[0;{wanted}m" if now and wanted else f"\x1b[{wanted}m"
    one, other = _look(now), _look(wanted)
    if one is None or other is None:
        return anew
    ended = one.attributes - other.attributes
    if not ended <= _OFF.keys():
        return anew
    off = {_OFF[code] for code in ended}
    begun = {a for a in other.attributes if a not in one.attributes or _OFF.get(a) in off}
    parts = [*sorted(off), *sorted(begun, key=int)]
    if one.foreground != other.foreground:
        parts.append(other.foreground or "39")
    if one.background != other.background:
        parts.append(other.background or "49")
    differences = f"\x1b[{';'.join(parts)}m" if parts else ""
    return min(anew, differences, key=len)
