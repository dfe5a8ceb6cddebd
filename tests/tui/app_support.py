"""Driving the whole application in tests: open a trace, wait until nothing moves, press keys."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot
from textual.timer import Timer

from dctx.tui.app import CompareApp, DctxApp, StartApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading

LOAD_TIMEOUT_S = 120.0
REST_S = 0.07
SOON_S = 0.5
"""Longer than any delay of the application before it asks what it shows."""

AppPilot = Pilot[None]


def demo_app(path: Path | None = None, **options: bool | str) -> DctxApp:
    """The application on a trace (the demo by default), already being opened."""
    loading = Loading(path or demo_trace())
    loading.start()
    return DctxApp(loading, **options)  # type: ignore[arg-type]


def compare_app(
    base: Path | None = None, target: Path | None = None, **options: bool | str
) -> DctxApp:
    """The application on two traces (the demo pair by default), both already being opened."""
    loading, other = Loading(target or demo_trace()), Loading(base or demo_base())
    for one in (loading, other):
        one.first_screen.set()
        one.start()
    return CompareApp(loading, base=other, **options)  # type: ignore[arg-type]


def demo_base() -> Path:
    """The version before the one of the demo trace."""
    return demo_trace().with_name("llama-1b-v1.1.sqlite")


def app_of(pilot: AppPilot) -> DctxApp:
    app = pilot.app
    assert isinstance(app, DctxApp)
    return app


async def until(pilot: AppPilot, seen: Callable[[], bool]) -> None:
    """Wait for a state that the application reaches by itself, perhaps not by being at rest."""
    end = monotonic() + LOAD_TIMEOUT_S
    while not seen():
        assert monotonic() < end, "it does not come"
        await pilot.pause(0.02)


async def settle(pilot: AppPilot) -> None:
    """Wait until the trace is open and every question is answered and shown."""
    app = app_of(pilot)
    end = monotonic() + LOAD_TIMEOUT_S
    while monotonic() < end and (
        (app.loading is not None and not app.load_state.ended)
        or (app.base is not None and not app.base_state.ended)
    ):
        await pilot.pause(0.02)
    # An answer may lead to the next question: all must be at rest for a while.
    calm, enough = 0, 2 if app.base is None else 4
    while calm < enough and monotonic() < end:
        await pilot.pause(REST_S)
        await pilot.pause()
        calm = 0 if _works(app) else calm + 1


def _works(app: DctxApp) -> bool:
    """A question is being asked, or waits for a short time to pass."""
    if any(not worker.is_finished for worker in app.workers):
        return True
    nodes = [app, *(node for screen in app.screen_stack for node in screen.walk_children())]
    timers = (
        timer
        for node in (*nodes, *app.screen_stack)
        for timer in node._timers  # pyright: ignore[reportPrivateUsage]
    )
    return any(map(_waits, timers))


def _waits(timer: Timer) -> bool:
    """It will do something once and soon: what blinks or warns of slowness is not waited for."""
    # Textual leaves the type of the task open.
    task = timer._task  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportUnknownVariableType]
    soon = timer._repeat == 0 and timer._interval <= SOON_S  # pyright: ignore[reportPrivateUsage]
    return soon and task is not None and not task.done()


@asynccontextmanager
async def opened(
    path: Path | None = None, size: tuple[int, int] = (160, 45)
) -> AsyncGenerator[AppPilot, None]:
    """The application on a trace, loaded and at rest."""
    async with demo_app(path).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


@asynccontextmanager
async def comparing(
    base: Path | None = None, target: Path | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncGenerator[AppPilot, None]:
    """The application on two traces, compared and at rest."""
    async with compare_app(base, target).run_test(size=size) as pilot:
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
