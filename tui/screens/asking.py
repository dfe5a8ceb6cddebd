"""A screen that asks the trace in workers, and is told the answers as messages."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from textual import getters, on
from textual.message import Message
from textual.screen import Screen

from ...ingest.errors import TraceError
from ..app import DctxApp

T = TypeVar("T")


class Answer(Message):
    """A worker has found something; `show` puts it on the screen."""

    def __init__(self, group: str, number: int, show: Callable[[], None]) -> None:
        super().__init__()
        self.group = group
        self.number = number
        self.show = show


def failed(error: Exception) -> str:
    """An analysis that broke, as a sentence: the trace can still be looked at."""
    return f"the analysis failed ({type(error).__name__}: {error}). That is a fault of dctx."


class AskingScreen(Screen[None], inherit_bindings=False):
    """Only the `show` callbacks touch widgets."""

    app = getters.app(DctxApp)
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        # With the classes of the present size: each later change styles every widget anew.
        super().__init__(classes=self.app.size_classes())
        self._asked: dict[str, int] = {}
        self._rows_asked: set[str] = set()

    def ask(
        self,
        group: str,
        question: Callable[[], T],
        show: Callable[[T], None],
        *,
        rows: bool = False,
    ) -> None:
        """Run `question` on a thread; then `show` its answer, unless `group` has asked anew.

        rows: the answer replaces what the keys act on; they wait for it."""
        number = self._asked[group] = self._asked.get(group, 0) + 1
        if rows:
            self._rows_asked.add(group)

        def work() -> None:
            try:
                answer = question()
            except TraceError as error:
                self.post_message(Answer(group, number, partial(self.app.fail, error)))
                return
            except Exception:
                if worker.is_cancelled:  # the trace was closed under an outdated question
                    return
                raise
            self.post_message(Answer(group, number, partial(show, answer)))

        # Known to `work`: the event loop starts the thread after this.
        worker = self.run_worker(work, group=group, exclusive=True, thread=True)

    def forget(self, group: str) -> None:
        """Whatever `group` asked, its answer is not wanted any more."""
        self._asked[group] = self._asked.get(group, 0) + 1
        # Textual leaves the type of the workers' results open.
        self.workers.cancel_group(self, group)  # pyright: ignore[reportUnknownMemberType]
        self._answered(group)

    @property
    def awaits_rows(self) -> bool:
        """Other rows are on their way."""
        return bool(self._rows_asked)

    def rows_answered(self) -> None:
        """All rows that were asked for are there."""

    def _answered(self, group: str) -> None:
        if group in self._rows_asked:
            self._rows_asked.discard(group)
            if not self._rows_asked:
                self.rows_answered()

    def back_quits(self) -> bool:
        """Whether there is no step back from here: for the footer."""
        return not self.app.back_leads

    @on(Answer)
    def _show_answer(self, message: Answer) -> None:
        if self._asked[message.group] == message.number:
            message.show()
            # What was shown may have asked once more.
            if self._asked[message.group] == message.number:
                self._answered(message.group)
