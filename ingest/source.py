"""What a file says about itself before its events are read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Format and versions as the file states them; empty when it does not."""

    format: str
    producer: str
    producer_version: str
    schema_version: str
    tables: tuple[str, ...]
