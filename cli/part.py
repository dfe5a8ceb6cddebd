"""Options that limit a report to a part of the trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from .host import requests

if TYPE_CHECKING:
    from ..queries.scope import TimeScope
    from ..queries.trace import Trace

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Part:
    """At most one is given."""

    span: str | None
    step: int | None
    annotation: str | None

    @property
    def given(self) -> bool:
        return (self.span, self.step, self.annotation) != (None, None, None)

    def scope(self, trace: Trace) -> TimeScope | None:
        """None: all of the trace. UserError for a part that is not there. Reads events."""
        if not self.given:
            return None
        from ..analyzers.report_range import annotation_scope, span_scope, step_scope

        with requests():
            if self.span is not None:
                return span_scope(trace, self.span)
            if self.step is not None:
                return step_scope(trace, self.step)
            return annotation_scope(trace, self.annotation or "")


_OPTIONS = (
    click.option("--range", "span", metavar="A:B", help="Only this span, in seconds of the trace."),
    click.option(
        "--step", type=click.IntRange(min=0), metavar="N", help="Only the step of this number."
    ),
    click.option(
        "--annotation",
        metavar="REGEX",
        help="Only ranges (NVTX, record_function) with this in their text.",
    ),
)


def part_options(function: F) -> F:
    """Options of which the command gets one argument, `part`."""

    @wraps(function)
    def with_part(
        *args: Any, span: str | None, step: int | None, annotation: str | None, **values: Any
    ) -> Any:
        part = Part(span, step, annotation)
        if sum(one is not None for one in (span, step, annotation)) > 1:
            raise click.UsageError("Name one of --range, --step and --annotation.")
        return function(*args, part=part, **values)

    wrapped: Any = with_part
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return cast("F", wrapped)
