"""Driving the whole application in tests: open a trace, wait until nothing moves, press keys."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from dctx.tui.app import CompareApp, DctxApp, StartApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading

LOAD_TIMEOUT_S = 60.0

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


async def settle(pilot: AppPilot) -> None:
    """Wait until the trace is open and every question is answered and shown."""
    app = app_of(pilot)
    waited_s = 0.0
    while app.loading is not None and not app.load_state.ended and waited_s < LOAD_TIMEOUT_S:
        await pilot.pause(0.02)
        waited_s += 0.02
    while app.base is not None and not app.base_state.ended and waited_s < LOAD_TIMEOUT_S:
        await pilot.pause(0.02)
        waited_s += 0.02
    for _ in range(
        2 if app.base is None else 4
    ):  # an answer may lead to the next question, after a short rest
        await pilot.pause(0.07)
        with suppress(WorkerCancelled):  # asked anew meanwhile
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
