"""The open trace, and the answers already asked of it."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..ingest.selection import Asked, select
from ..queries.trace import Trace
from .loading import WINDOWS, StepPatterns

if TYPE_CHECKING:  # the store brings DuckDB: not needed to draw the first screen
    from ..analyzers.collective_report import CollectiveReport
    from ..analyzers.config import HostConfig
    from ..analyzers.extension import Extension
    from ..analyzers.kernel_roofline import RooflinePoint
    from ..analyzers.op_report import OpReport
    from ..analyzers.step_report import StepReport
    from ..analyzers.step_selection import Selection
    from ..analyzers.tracks.timeline import Timeline
    from ..ingest.ncu import NcuKernel
    from ..ingest.store import Store
    from ..queries.kernels import OpSelection
    from ..queries.paths import CallTree
    from ..queries.ranks import Rank
    from ..queries.scope import TimeScope
    from ..reports.own_files import OwnFiles
    from ..reports.step_panels import StepPanels
    from ..reports.verdict_card import CardFinding, VerdictCard


MOST_EVENTS = 4_000_000
"""Up to so many events findings are asked as soon as a trace is open: two seconds, 400 MB."""


class Session:
    """One trace while it is open. Its methods may query: call them in workers."""

    def __init__(self, asked: Asked, store: "Store", patterns: StepPatterns | None = None) -> None:
        selection = select(asked)
        self.path = selection.path
        self.trace = Trace(store)
        self._files = selection.files
        self._ranks: list[Rank] | None = None
        self._patterns = patterns or StepPatterns()
        self._trees: dict[tuple[int | None, TimeScope | None], CallTree] = {}
        self._reports: dict[tuple[str, int | None, Selection | None], StepReport] = {}
        """By window, process and selection."""
        self._judging = threading.Lock()
        self._work: tuple[Extension | None, OpReport] | None = None
        self._collectives: CollectiveReport | None = None
        self._reporting = threading.Lock()
        self._timeline: Timeline | None = None
        self._drawing = threading.Lock()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the trace and its store: nothing may be written over them."""
        store = self.trace.store.path
        return self._files if store is None else (*self._files, store)

    def close(self) -> None:
        """Give the store back; waits for questions that are being answered."""
        self.trace.store.close()

    def tree(self, device: int | None, scope: "TimeScope | None" = None) -> "CallTree":
        """The call-path tree over one device, or all, in the whole trace or a scope; read once."""
        tree = self._trees.get((device, scope))
        if tree is None:
            if scope is None:
                from ..queries.paths import CallTree

                tree = CallTree.load(self.trace, device)
            else:
                from ..queries.scope import scoped_tree

                tree = scoped_tree(self.trace, scope, device)
                self._trees = {key: t for key, t in self._trees.items() if key[1] in (None, scope)}
            self._trees[device, scope] = tree
        return tree

    def ranks(self) -> "list[Rank]":
        """The ranks of a trace of several processes, else none; found once. Reads events."""
        from ..queries.lanes import processes
        from ..queries.ranks import ranks

        if self._ranks is None:
            several = len(processes(self.trace)) > 1
            self._ranks = ranks(self.trace, self.tree(None)) if several else []
        return self._ranks

    def report(
        self, window: str, rank: "Rank | None" = None, selection: "Selection | None" = None
    ) -> "StepReport":
        """Verdict, steps and idle time over a window of the trace, or over some steps of it, of
        one rank or all; found once. Reads events. RequestError for a window that cannot be had."""
        from ..analyzers.step_report import judged_steps, process_steps, selected_steps

        with self._judging:
            whole = self._reports.get((window, None, None))
            if whole is None:
                known = next(
                    (r for key, r in self._reports.items() if key[1:] == (None, None)), None
                )
                whole = judged_steps(self.trace, self.config(), window, known)
                self._reports[window, None, None] = whole
            process = None if rank is None else rank.process
            if process is not None:
                own = self._reports.get((window, process, None))
                if own is None:
                    own = process_steps(self.trace, whole, window, process)
                    self._reports[window, process, None] = own
                whole = own
            if selection is None:
                return whole
            part = self._reports.get((window, process, selection))
            if part is None:
                part = selected_steps(self.trace, whole, selection)
                kept = {key: r for key, r in self._reports.items() if key[2] in (None, selection)}
                self._reports = {**kept, (window, process, selection): part}
            return part

    def windows(self, rank: "Rank | None") -> tuple[str, ...]:
        """The windows that can be judged, of one rank or all: without the steady state once it is
        known that no step is steady."""
        process = None if rank is None else rank.process
        reports = tuple(self._reports.items())  # a worker may add to them
        whole = [r for (_, of, chosen), r in reports if of == process and chosen is None]
        without = bool(whole) and not len(whole[0].steps.steady)
        return tuple(window for window in WINDOWS if window != "steady" or not without)

    def card(
        self, window: str, rank: "Rank | None" = None, selection: "Selection | None" = None
    ) -> "VerdictCard":
        """What the Overview says about a window, or some steps, of one rank or all. As `report`."""
        from ..reports.verdict_summary import verdict_card

        judged = self.report(window, rank, selection).judged
        return verdict_card(self.trace, judged, None if rank is None else rank.nodes)

    def step_panels(
        self, window: str, rank: "Rank | None" = None, selection: "Selection | None" = None
    ) -> "StepPanels":
        """What the Steps view shows. As `report`."""
        from ..reports.step_panels import step_panels

        everyone = self.report(window).steps
        report = self.report(window, rank, selection)
        return step_panels(self.trace, report, everyone, None if rank is None else rank.nodes)

    def findings(
        self, files: "OwnFiles", measured: "Sequence[NcuKernel]" = ()
    ) -> "tuple[CardFinding, ...]":
        """What the analyzers find in the whole trace, most to gain first; of a trace with too many
        events to ask unasked, how to ask. measured: what Nsight Compute profiled. Reads events."""
        from ..analyzers.prescribe.facts import Facts
        from ..analyzers.prescribe.table import prescriptions
        from ..queries.findings import event_count
        from ..reports.verdict_card import NOT_ASKED, CardFinding, Lead
        from ..reports.verdict_summary import card_findings

        events = event_count(self.trace)
        if events > MOST_EVENTS:
            text = f"What else is slow is not listed by itself with {events:,} events."
            ask = f"dctx report {self.path} --findings."
            return (CardFinding(NOT_ASKED, 1, -1.0, text, ask, Lead("paths")),)
        known = self._work
        report = known[1] if known is not None and known[0] is files.extension else None
        facts = Facts(self.trace, report, files.architecture, files.rules, measured)
        found = prescriptions(facts, self.config().findings, files.all_analyzers())
        return card_findings(self.trace, found)

    def op_report(self, files: "OwnFiles") -> "OpReport":
        """All GPU work by operators, under the user's models and categories; read once."""
        from ..analyzers.op_report import op_report
        from ..analyzers.report_rules import DCTX

        with self._reporting:
            if self._work is None or self._work[0] is not files.extension:
                self._work = files.extension, op_report(self.trace, files.rules(DCTX))
            return self._work[1]

    def roofline(self, files: "OwnFiles", of: "OpSelection") -> "RooflinePoint | str":
        """Where a kernel stands on the roofline, or why that is not known. Reads all events, where
        they are not too many."""
        from ..analyzers.kernel_roofline import roofline_point
        from ..queries.findings import event_count
        from ..queries.kernel_panel import launch_ids

        events = event_count(self.trace)
        if self._work is None and events > MOST_EVENTS:
            return f"not worked out by itself with {events:,} events (dctx kernel does)"
        return roofline_point(self.op_report(files), files.architecture, launch_ids(self.trace, of))

    def collectives(self, files: "OwnFiles | None") -> "CollectiveReport":
        """The collectives of all ranks, under the user's names of kernels; read once."""
        from ..analyzers.collective_report import collective_report
        from ..analyzers.report_rules import DCTX

        with self._reporting:
            if self._collectives is None:
                rules = DCTX if files is None else files.rules(DCTX)
                self._collectives = collective_report(self.trace, rules)
            return self._collectives

    def timeline(self) -> "Timeline":
        """The events over time; what was read of them stays. Reads events."""
        from ..analyzers.tracks.timeline import Timeline

        with self._drawing:
            if self._timeline is None:
                self._timeline = Timeline(self.trace)
            return self._timeline

    def timeline_steps(self) -> "Timeline":
        """The timeline with the lanes of its steps; without them where none can be found, which
        the Steps view tells. Reads events."""
        from ..analyzers.steps import find_steps

        timeline = self.timeline()
        known = self._reports.get(("auto", None, None))
        with suppress(Exception):  # the other lanes do not depend on them
            steps = find_steps(self.trace, self.config().steps) if known is None else known.steps
            timeline.set_steps(steps)
        return timeline

    def config(self) -> "HostConfig":
        """What analyses of the trace go by: the defaults, and what the user says about steps."""
        from dataclasses import replace

        from ..analyzers.config import default_config

        config, asked = default_config(), self._patterns
        steps = config.steps
        if asked.step_regex is not None:
            steps = replace(steps, step_regex=asked.step_regex)
        if asked.prep_regex is not None:
            steps = replace(steps, prep_regex=asked.prep_regex)
        return replace(config, steps=steps)
