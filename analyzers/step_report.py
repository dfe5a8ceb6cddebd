"""Everything about the steps of a trace over one window: verdict, costs, idle time, its causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..native import trim_memory
from .errors import RequestError
from .gaps import Gaps, gaps
from .host_overhead import analyze, fill
from .idle_blame import idle_blame
from .judging import Judged, judge_trace, judged
from .step_profile import step_profile
from .step_selection import Selection, narrowed, rows_of, span_ns
from .steps import Steps

if TYPE_CHECKING:
    from ..queries.trace import Trace
    from .config import HostConfig


@dataclass(frozen=True, slots=True)
class StepReport:
    """What the Steps view shows."""

    judged: Judged
    gaps: Gaps | None
    """None: no kernel ran."""
    selection: Selection | None = None
    """The steps that it is about; None: all of the window."""
    process: int | None = None
    """The process that it is about; None: all of them."""

    @property
    def steps(self) -> Steps:
        """All steps of the trace, or of the process."""
        return self.judged.result.steps

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of the steps that it is about: the selected ones, else those of the window."""
        if self.selection is not None:
            return rows_of(self.steps, self.selection)
        return self.judged.result.step_rows

    @property
    def divisor(self) -> int:
        """Iterations that the idle time is spread over; 0 where steps do not fill the window."""
        result = self.judged.result
        return fill(self.steps, self.rows, result.window)


def judged_steps(
    trace: Trace, config: HostConfig, window: str, known: StepReport | None = None
) -> StepReport:
    """Judge a window. `known`: a report over another window of the same trace, whose steps are the
    same. NotReadyError while events are being loaded, RequestError for a window that cannot be
    had."""
    profile = None if known is None else known.judged.profile
    answer = judge_trace(trace, config, window=window, profile=profile)
    trim_memory()
    return StepReport(answer, gaps(answer.result))


def process_steps(trace: Trace, whole: StepReport, window: str, process: int) -> StepReport:
    """The same of one process alone; `whole`: a report of all processes."""
    config = whole.judged.result.config
    result = analyze(trace, config, window=window, steps=whole.steps, process=process)
    answer = judged(result, idle_blame(result), step_profile(trace, result.steps))
    return StepReport(answer, gaps(result), process=process)


def selected_steps(trace: Trace, whole: StepReport, selection: Selection) -> StepReport:
    """The same over some steps of the processes of `whole`: from their first start to the start of
    the step after them. What a step costs is of the selected steps alone."""
    steps, config = whole.steps, whole.judged.result.config
    span = span_ns(steps, selection)
    if span is None:
        raise RequestError("there is no such step.")
    start, end = span
    window = f"{start / 1e9!r}:{end / 1e9!r}"
    result = analyze(trace, config, window=window, steps=steps, process=whole.process)
    profile = step_profile(trace, narrowed(steps, selection))
    answer = judged(result, idle_blame(result), profile)
    return StepReport(answer, gaps(result), selection, whole.process)
