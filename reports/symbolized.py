"""What `dctx symbolize` did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzers.quantities import plural
from . import format as fmt

if TYPE_CHECKING:
    from ..analyzers.recording_names import NamedFunctions

_SHOWN = 8


def symbolized_text(place: str, named: NamedFunctions) -> str:
    """How many functions have names now, and which libraries have none for the rest."""
    lines = [
        f"{place}: {plural(len(named.found), 'function')} named, {named.known:,} had a name before"
    ]
    left = sorted(named.left.items(), key=lambda item: (-item[1], item[0]))
    if left:
        lines.append(
            f"Without a name: {plural(sum(named.left.values()), 'place')}. Their libraries are not "
            "here with the build id that was recorded, or are stripped:"
        )
        lines += [f"  {count:>7,}  {library or '(no library)'}" for library, count in left[:_SHOWN]]
        if len(left) > _SHOWN:
            lines.append(f"  … and {len(left) - _SHOWN:,} more")
    return "".join(fmt.clean(line) + "\n" for line in lines)
