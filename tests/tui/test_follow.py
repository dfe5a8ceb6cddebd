"""Following a recording: the views show what each snapshot adds, and keep their place."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dctx.native import Recorder, monitor
from dctx.tui.follow import FollowApp
from dctx.tui.loading import Loading
from dctx.tui.screens.paths_tree import PathsTree
from dctx.tui.widgets.title_bar import TitleBar
from tests.tui.app_support import press, settle, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux")


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Path]:
    """A recording with the scope `first`, that is still being written."""
    path = tmp_path / "live.dctxrec"
    monitor.init(monitor.Source.SCOPE)
    Recorder.start(str(path), "{}", interval_ns=10**12)
    call("first")
    assert Recorder.snapshot()
    yield path
    Recorder.stop()
    monitor.finalize()


def call(name: str) -> None:
    with monitor.scope(name):
        pass


async def followed(pilot: Pilot[None], app: FollowApp, seen: Callable[[], bool]) -> None:
    """Until the screen shows what was added."""

    def looked() -> bool:
        app.look()
        return seen()

    await until(pilot, looked)
    await settle(pilot)


def rows(app: FollowApp) -> list[str]:
    screen = app.view_shown
    assert isinstance(screen, PathsTree)
    lines = [screen.table.line(row) for row in range(screen.table.row_count)]
    return [line.label for line in lines if line is not None]


def status(app: FollowApp) -> str:
    return app.screen.query_one(TitleBar).status


def row(app: FollowApp) -> str:
    screen = app.view_shown
    assert isinstance(screen, PathsTree)
    line = screen.table.cursor_line
    assert line is not None
    return line.label


async def test_the_tree_grows_under_the_cursor(growing: Path) -> None:
    loading = Loading(growing, cache=False)
    loading.start()
    app = FollowApp(loading, cache=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert status(app) == "live"
        await press(pilot, "2", "end")
        assert rows(app)[-1] == row(app) == "first"
        app.look()  # nothing has changed
        await settle(pilot)
        assert app.loading is loading

        call("another")
        call("last")
        assert Recorder.snapshot()
        await followed(pilot, app, lambda: "last" in rows(app))
        assert sorted(rows(app)[-3:]) == ["another", "first", "last"]
        assert row(app) == "first"

        await press(pilot, "3")  # a view that does not follow: the trace stays as it is
        Recorder.stop()
        shown = app.loading
        app.look()
        await settle(pilot)
        assert app.loading is shown
        await press(pilot, "1")
        await followed(pilot, app, lambda: status(app) == "recording ended")
        assert status(app) == "recording ended"
