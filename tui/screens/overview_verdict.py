"""The part of the Overview that asks for the verdict and shows it: card, steps, findings."""

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.widgets import Static

from ...reports import format as fmt
from ...reports.verdict_card import NOT_ASKED, CardFinding, Lead, VerdictCard
from ..loading import FIRST_WINDOW
from ..widgets.fit import wrap
from ..widgets.row_list import Row, RowList, Tone
from ..widgets.step_strip import Bars, StepStrip
from ..widgets.verdict_view import VerdictView
from .asking import failed
from .view import ViewScreen

if TYPE_CHECKING:
    from ...analyzers.step_selection import Selection
    from ...queries.ranks import Rank
    from ..session import Session

    Question = tuple[str, Rank | None, Selection | None]
    """Window, rank and steps that are judged."""

TITLE = "Does the host hold the GPUs up?"
COMPUTING = "Is the GPU waiting for the host? Judging … (esc stops)"
STOPPED = "Stopped. w judges again."
READING = "Is the GPU waiting for the host? Judged as soon as the events are read."
STILL_JUDGING = "Still judging: the card leads on when its answer is there."

_WEIGHTS = {1: "  i ", 2: "  ! ", 3: " !! "}


def _not_asked(sentence: str, remedy: str) -> CardFinding:
    """What stood in the way of findings; asked again the next time."""
    return CardFinding(NOT_ASKED, 1, -1.0, sentence, remedy, Lead("paths"))


class VerdictPart(ViewScreen):
    """A screen with a `VerdictView`, the strip of steps below it, and a list of findings."""

    def __init__(self) -> None:
        super().__init__()
        self._judging = False
        self._judged: Question | None = None
        """What the card that is shown is about."""
        self._findings: tuple[CardFinding, ...] = ()
        """Of the verdict."""
        self._prescribed: tuple[CardFinding, ...] | None = None
        """Of the analyzers, about the whole trace; None: not asked yet."""

    @property
    def _question(self) -> "Question":
        """What is to be judged now."""
        return self.app.window, self.app.rank, self.app.selection

    @property
    def _is_first(self) -> bool:
        """Nothing was chosen yet: what is remembered from the last time holds."""
        return self._question == (FIRST_WINDOW, None, None)

    def card_known(self, card: VerdictCard) -> None:
        """The verdict of the last time."""
        if self._judged is None and self._is_first:
            self._show_card(self._question, card)

    def findings_known(self, findings: tuple[CardFinding, ...]) -> None:
        """Those of the last time, which the command line may change."""
        if self._as_before and self._prescribed is None:
            self._show_prescribed(findings)

    @property
    def _as_before(self) -> bool:
        """Nothing on the command line adds to what analyzers find."""
        return self.app.own_files is None and not self.app.measured

    def events_loaded(self, session: "Session") -> None:
        if self._judged != self._question and not self._judging:
            self.judge()
        else:
            self._prescribe()

    def _prescribe(self) -> None:
        """Ask what the analyzers find, once: after the verdict, which is waited for."""
        session, given, measured = self.session, self.app.own_files, self.app.measured
        loading = self.app.loading if self._as_before else None
        if session is None or not session.trace.events_ready or self._prescribed is not None:
            return

        def find() -> tuple[CardFinding, ...]:
            from ...reports.own_files import usable_files

            try:
                files, why = usable_files(given)
                found = session.findings(files, measured)
            except Exception as error:  # the other views do not depend on it
                return (_not_asked(failed(error), "dctx verdict tells the rest."),)
            if why:
                found = (*found, _not_asked(f"{why[0].upper()}{why[1:]}", "Mend the file."))
            if loading is not None and all(one.id != NOT_ASKED for one in found):
                loading.remember_findings(found)
            return found

        self._prescribed = ()
        self.ask("findings", find, self._show_prescribed)

    def _show_prescribed(self, found: tuple[CardFinding, ...]) -> None:
        self._prescribed = found
        self._fill_findings()

    def judge(self) -> None:
        """Ask for the verdict about what is looked at; the view goes on meanwhile."""
        session, loading, question = self.session, self.app.loading, self._question
        if session is None or not session.trace.events_ready:
            return
        first = self._is_first
        self._judging = True
        self.query_one("#verdict").border_title = self._title()
        self.query_one(VerdictView).say(COMPUTING)

        def judge() -> VerdictCard | str:
            from ...analyzers.errors import RequestError

            try:
                card = session.card(*question)
            except RequestError as error:
                return str(error)
            except Exception as error:  # the other views do not depend on it
                return failed(error)
            if loading is not None and first:
                loading.remember_card(card)
            return card

        self.ask("verdict", judge, lambda answer: self._show_answer_of(question, answer))

    def _title(self) -> Content:
        """With the ranks and steps that the answer is about, where it is not about all."""
        rank, scope = self.app.rank, None if self.app.selection is None else self.app.scope
        parts = [part for part in (rank and rank.label, scope and scope.label) if part]
        return Content(fmt.clean(f"{TITLE} Only {', '.join(parts)}" if parts else TITLE))

    def _show_answer_of(self, question: "Question", answer: VerdictCard | str) -> None:
        if not isinstance(answer, str):
            self._show_card(question, answer)
            return
        self._judging, self._judged = False, question
        self.query_one(VerdictView).say(f"n/a over the window {question[0]}: {answer}")
        self._findings = ()
        self._fill_findings()
        self._prescribe()

    def _show_card(self, question: "Question", card: VerdictCard) -> None:
        self._judging, self._judged = False, question
        self.query_one("#verdict").border_title = self._title()
        self.query_one(VerdictView).show(card)
        self._findings = card.findings
        self._fill_findings()
        strip = self.query_one("#strip", StepStrip)
        box = self.query_one("#strip-box")
        box.display = card.steps is not None
        if card.steps is not None:
            box.border_title = Content(fmt.clean(card.steps.title))
            strip.show([Bars("", card.steps.walls_ns)])
            self.query_one("#strip-caption", Static).update(fmt.clean(card.steps.caption))
        self._prescribe()

    def _fill_findings(self) -> None:
        """Sentences folded to the width, each line of one leading to the same place."""
        rows: list[Row] = []
        width = max(20, self.size.width - 8)
        for finding in self._listed():
            tone: Tone = "warning" if finding.weight > 1 else "normal"
            first, *rest = wrap(finding.sentence, width)
            rows.append(Row(first, _WEIGHTS[finding.weight], target=finding.lead, tone=tone))
            rows += [Row(text, "    ", target=finding.lead, tone=tone) for text in rest]
            rows += [
                Row(text, "    ", target=finding.lead, tone="dim")
                for text in wrap(f"Try: {finding.remedy}", width)
            ]
        panel = self.query_one("#findings", RowList)
        panel.border_title = "Findings"
        panel.display = bool(rows)
        panel.set_rows(rows)

    def _listed(self) -> tuple[CardFinding, ...]:
        """One list; of a rank or of some steps only the verdict tells."""
        _, rank, selection = self._question
        if not self._prescribed or rank is not None or selection is not None:
            return self._findings
        from ...reports.verdict_summary import merged_findings

        return merged_findings(self._findings, self._prescribed)

    def on_resize(self, event: events.Resize) -> None:
        if self._findings or self._prescribed:
            self._fill_findings()

    def cancel(self) -> bool:
        """Stop judging."""
        if not self._judging:
            return False
        self._judging = False
        self.forget("verdict")
        self.query_one(VerdictView).say(STOPPED)
        return True

    def action_next_window(self) -> None:
        """Judge the next window, or the same one again when that was stopped."""
        if self._judged != self._question and not self._judging:
            self.judge()
        elif self.session is not None:
            self.app.next_window(self.session.windows(self.app.rank))
