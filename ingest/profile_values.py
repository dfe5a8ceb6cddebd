"""Metrics of contexts in the table path_value that analyses look for, by name."""

from typing import Final

RAN_ONCE: Final = "ran once ns"
"""The part of a context's own host time that the program spent once: imports, set-up, first calls
(see recording.once)."""
