"""Directories that tests share, and what holds for all of them."""

import gc
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test is about the speed of the machine that it runs on.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# A shell makes what it starts in the background deaf to Ctrl+C, and so all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was imported stays: looking through all of it for garbage, again and again, took a third
    of the time of a test of the application. The application does the same for itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A cache for traces that many tests open and none changes: each is imported once in a run,
    whichever of the parallel workers needs it first. A user's processes share theirs as well."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "shared-cache"
