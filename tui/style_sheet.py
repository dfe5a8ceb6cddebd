"""Style sheets that are parsed once for each theme."""

from typing import Any

from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

SOURCES = 256
"""More than there are sheets: one for each kind of widget that was ever shown."""

Parsed = LRUCache[tuple[Any, ...], list[RuleSet]]

_parsed: dict[frozenset[tuple[str, str]], Parsed] = {}
"""By the variables of a theme."""


class ParsedOnce(Stylesheet):
    """Textual parses all sheets anew, twice, for each screen that is shown for the first time: more
    work than the screen itself. The rules depend on nothing but the text and the variables."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._choose_cache()

    def set_variables(self, variables: dict[str, str]) -> None:
        """Other values have a cache of their own; the same ones change nothing."""
        if variables != self._variables:
            # Textual clears the cache that it finds.
            self._parse_cache = LRUCache(1)
            super().set_variables(variables)
            self._choose_cache()

    def _choose_cache(self) -> None:
        key = frozenset(self._variables.items())
        self._parse_cache = _parsed.setdefault(key, LRUCache(SOURCES))

    def reparse(self) -> None:
        """What the cache holds was parsed with the present variables. An error leaves the rules as
        they were, as in Textual."""
        self.parse()
