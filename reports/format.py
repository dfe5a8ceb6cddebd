"""Numbers as people read them: the one place that turns them into text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

from ..analyzers.quantities import change_percent as rounded_change
from ..ingest.progress import BytesRead, Done
from ..queries.metric import Metric

NA = "n/a"
"""What stands for a value the trace does not tell."""

MOST_LISTED = 64
"""Of what there can be thousands of (GPUs, tables), so many are written out."""

_READABLE = 10
"""A name cut to fewer characters says nothing."""

_TIME_UNITS = ((1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s"))
_SIZE_UNITS = ((1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB"))
_COUNT_UNITS = ((1, ""), (1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G"))

T = TypeVar("T")


@lru_cache(4096)
def clean(text: str) -> str:
    """The text on one line, without what could move the cursor, change the state of the terminal
    or the direction of writing. As many characters as before.

    Every text that comes from a trace goes through here on its way to a terminal.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "?"
        for character in text
    )


def clean_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(clean, text.split("\n")))


def duration(ns: float | None) -> str:
    """`1.23 µs`: three significant digits."""
    return NA if ns is None else _scaled(ns, _TIME_UNITS)


def span(start_ns: int, end_ns: int) -> str:
    """`12.300-14.960 s`, with more decimals where the span is short."""
    decimals = 3 if end_ns - start_ns >= 100_000_000 else 6
    return f"{start_ns / 1e9:.{decimals}f}-{end_ns / 1e9:.{decimals}f} s"


def count(number: int | None) -> str:
    """`1,234,567`: every digit."""
    return NA if number is None else f"{number:,}"


def count_short(number: int | None) -> str:
    """`1.23 M`: three significant digits, exact below a thousand."""
    return NA if number is None else _scaled(number, _COUNT_UNITS).rstrip()


def size(size_bytes: int | None) -> str:
    """`1.23 MiB`: three significant digits."""
    return NA if size_bytes is None else _scaled(size_bytes, _SIZE_UNITS)


def share(part: float | None) -> str:
    """`41.3 %` of a fraction."""
    return NA if part is None else f"{part * 100:.1f} %"


def progress(done: Done) -> str:
    """` 41 %`; or `1.23 MiB, 4.56 MiB/s` where nobody knows how much there is."""
    if isinstance(done, BytesRead):
        rate = done.bytes_per_s
        return size(done.bytes) + ("" if rate is None else f", {size(round(rate))}/s")
    return f"{min(max(done, 0.0), 1.0) * 100:3.0f} %"


def number(value: float | None, decimals: int = 1, *, sign: bool = False) -> str:
    """`1,234.5`, with `sign` always with its sign."""
    return NA if value is None else f"{value:{'+' if sign else ''},.{decimals}f}"


def evidence_number(value: float | None) -> str:
    """One decimal; of what is that little, as many as tell that it is not nothing: `0.03`."""
    for decimals in range(1, 5):
        text = number(value, decimals)
        if not value or text.strip("-0.,"):
            return text
    return "<0.0001" if value and value > 0 else ">-0.0001"


def change_percent(value: float | None, decimals: int = 1) -> str:
    """`+19.9` of a change in percent; `-100.0` only where all is gone."""
    return NA if value is None else number(rounded_change(value, decimals), decimals, sign=True)


def age(seconds: float) -> str:
    """`3 minutes ago`."""
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        number = int(seconds // length)
        if number >= 1:
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    return "just now"


def utc_time(utc_ns: int | None) -> str:
    """`2025-03-01 12:34:56 UTC`."""
    if utc_ns is None:
        return NA
    return datetime.fromtimestamp(utc_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def dim3(size3: tuple[int, int, int] | None) -> str:
    """`(64, 1, 1)` of a grid or block."""
    return NA if size3 is None else f"({size3[0]}, {size3[1]}, {size3[2]})"


def shorten_middle(text: str, width: int) -> str:
    """At most `width` characters: the middle gives way, both ends tell names apart."""
    if len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    left = width // 2
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


def path(names: Sequence[str], width: int, *, keep_first: bool = False) -> str:
    """`… > step > cudaLaunchKernel`: as many of the innermost names as fit.

    The outermost shown name may be shortened. `keep_first` starts with the outermost name of all,
    where that tells paths apart.
    """
    if keep_first and len(names) > 1 and len(" > ".join(names)) > width:
        first = shorten_middle(names[0], width // 3)
        return f"{first} > {path(names[1:], width - len(first) - 3)}"
    text = ""
    for i, name in enumerate(reversed(names)):
        tail = f" > {text}" if text else ""
        room = width - len(tail) - (0 if i == len(names) - 1 else 4)
        if i == 0 and len(name) > room:
            return shorten_middle(name, width)
        if len(name) > room:
            cut = shorten_middle(name, room) if room >= _READABLE else ""
            more = "… > " if cut and i < len(names) - 1 else ""
            return f"{more}{cut or '…'}{tail}"
        text = name + tail
    return text


def limited(items: Sequence[T], what: str, all_of_them: str) -> tuple[Sequence[T], list[str]]:
    """The first items of a list that a person can still read, and a line that counts the others:
    `and 32,702 more GPUs: see dctx info --json`."""
    more = len(items) - MOST_LISTED
    if more <= 0:
        return items, []
    return items[:MOST_LISTED], [f"and {count(more)} more {what}: see {all_of_them}"]


def bar(part: float, width: int) -> str:
    """`███▌` of a fraction, in eighths of a character, padded to the width."""
    whole, eighths = divmod(round(max(0.0, min(part, 1.0)) * width * 8), 8)
    return ("█" * whole + " ▏▎▍▌▋▊▉"[eighths]).ljust(width)[:width]


@dataclass(frozen=True, slots=True)
class Column:
    """How all figures of one column are written: one unit, one number of decimals."""

    unit: str
    """For the heading; empty for plain numbers."""
    divisor: int
    decimals: int

    def text(self, value: float | None, missing: str = "") -> str:
        """The figure without its unit; `missing` where there is none."""
        return missing if value is None else f"{value / self.divisor:.{self.decimals}f}"


def time_column(largest_ns: float | None) -> Column:
    """Unit for a column of durations, by the largest."""
    largest = largest_ns or 0
    if largest < 10_000:
        return Column("ns", 1, 0)
    if largest < 10_000_000:
        return Column("µs", 1_000, 2)
    if largest < 10_000_000_000:
        return Column("ms", 1_000_000, 3)
    return Column("s", 1_000_000_000, 3)


def size_column(largest_bytes: float | None) -> Column:
    """Unit for a column of sizes, by the largest."""
    largest = largest_bytes or 0
    divisor, unit = next((u for u in reversed(_SIZE_UNITS) if largest >= u[0] * 10), _SIZE_UNITS[0])
    return Column(unit, divisor, 0 if divisor == 1 else 1)


def column_for(metric: Metric, largest: float | None) -> Column:
    """Unit for a column of the call-path tree, by its largest value."""
    if metric in TIMES:
        return time_column(largest)
    return size_column(largest) if metric is Metric.BYTES else Column("", 1, 0)


TIMES = frozenset({Metric.GPU, Metric.GPU_SELF, Metric.MEAN, Metric.HOST, Metric.HOST_SELF})


def _scaled(value: float, units: Sequence[tuple[int, str]]) -> str:
    """Three significant digits in the unit that keeps the figure under a thousand."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    for i, (divisor, unit) in enumerate(units):
        figure = value / divisor
        if i == 0 and value == int(value):
            text = str(int(value))
        else:
            text = f"{figure:.{0 if figure >= 99.95 else 1 if figure >= 9.995 else 2}f}"
        limit = units[i + 1][0] / divisor if i + 1 < len(units) else None
        if limit is None or float(text) < min(limit, 1000):
            return f"{sign}{text} {unit}"
    raise AssertionError("the last unit has no limit")
