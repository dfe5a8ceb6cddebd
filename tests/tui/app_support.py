"""Driving the whole application in tests: open a trace, wait until nothing moves, press keys."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from dctx.tui.app import DctxApp, StartApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading

LOAD_TIMEOUT_S = 60.0

AppPilot = Pilot[None]


def demo_app(path: Path | None = None, **options: bool | str) -> DctxApp:
    """The application on a trace (the demo by default), already being opened."""
    loading = Loading(path or demo_trace())
    loading.start()
    return DctxApp(loading, **options)  # type: ignore[arg-type]


def app_of(pilot: AppPilot) -> DctxApp:
    app = pilot.app
    assert isinstance(app, DctxApp)
    return app


async def settle(pilot: AppPilot) -> None:
    """Wait until the trace is open and every question is answered and shown."""
    app = app_of(pilot)
    waited_s = 0.0
    while app.loading is not None and not app.load_state.ended and waited_s < LOAD_TIMEOUT_S:
        await pilot.pause(0.02)
        waited_s += 0.02
    for _ in range(2):  # an answer may lead to the next question, after a short rest
        await pilot.pause(0.07)
        await app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
        await pilot.pause()


@asynccontextmanager
async def opened(
    path: Path | None = None, size: tuple[int, int] = (160, 45)
) -> AsyncGenerator[AppPilot, None]:
    """The application on a trace, loaded and at rest."""
    async with demo_app(path).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


@asynccontextmanager
async def started(size: tuple[int, int] = (80, 24)) -> AsyncGenerator[AppPilot, None]:
    """The application without a trace."""
    async with StartApp().run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


async def press(pilot: AppPilot, *keys: str) -> None:
    """Press keys one by one, each at rest before the next."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)
