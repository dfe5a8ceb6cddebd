"""Following a recording while its program runs: the views show what each snapshot adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from textual import on

from .app import DctxApp, Loaded
from .key_model import View
from .loading import Loading
from .views import TRACE_VIEWS

FOLLOWING: Final[tuple[View, ...]] = ("overview", "paths")
"""Views that keep their place when the trace grows. The others are made anew when one goes there;
while one of them is looked at, the trace stays as it is."""
LOOK_EVERY_S: Final = 1.0
LIVE, ENDED = "live", "recording ended"


class FollowApp(DctxApp):
    """One recording, read anew whenever its file has changed."""

    def __init__(self, loading: Loading | None = None, **options: Any) -> None:
        super().__init__(loading, **options)
        if loading is None or not isinstance(loading.trace, Path):
            raise ValueError("one recording is followed")
        self._path = loading.trace
        self._stamp = _stamp(self._path)
        self._next: Loading | None = None
        self._before: Loading | None = None
        """Questions about it may still be running: it is closed with the next change."""
        self.following = LIVE

    def on_mount(self) -> None:
        self.set_interval(LOOK_EVERY_S, self.look)

    def look(self) -> None:
        """Begin to read the file anew when it has changed and the view can take it."""
        busy = self._next is not None or not self.load_state.ended
        if busy or self.current_mode not in FOLLOWING or len(self.screen_stack) > 1:
            return
        stamp = _stamp(self._path)
        if stamp is None or stamp == self._stamp:
            return
        self._stamp = stamp
        if self.load_state.error is not None:
            self.open(self._path)
            return
        following = self._next = Loading(self._path, cache=False, patterns=self.patterns)
        self._watch(following)
        following.first_screen.set()
        following.start()

    @on(Loaded)
    def _next_loaded(self, message: Loaded) -> None:
        if message.loading is self.loading:
            self._say_whether_it_ended()
        if message.loading is not self._next or not message.state.ended:
            return
        following, self._next = message.loading, None
        if not message.state.complete:
            following.discard()
            self._stamp = None  # looked at again
            return
        if self._before is not None:
            self._before.discard()
        self._before, self.loading = self.loading, following
        self.load_state = message.state
        self._say_whether_it_ended()
        for info in TRACE_VIEWS:
            if info.view not in FOLLOWING:
                self.remove_mode(info.view)
                self.add_mode(info.view, info.make)
        self.load_changed.publish(message.state)

    def _say_whether_it_ended(self) -> None:
        overview = self.load_state.overview
        ended = overview is not None and overview.capture.facts.get("recording.complete") == "1"
        self.following = ENDED if ended else LIVE

    def on_unmount(self) -> None:
        for loading in (self._next, self._before):
            if loading is not None:
                loading.listen(None)
                loading.cancel()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Changes when the file does; None while there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
